// The program, made of a library without TLS.

#include "tool/tool.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include "support/contains.hpp"

BOOST_AUTO_TEST_SUITE(test_tool_no_tls)

using namespace redlock::test;

BOOST_AUTO_TEST_CASE(a_node_that_wants_tls_is_refused_with_a_sentence)
{
    using arguments = std::vector<std::string>;
    for (const arguments& command : {arguments{"doctor"}, arguments{"show", "orders:42"}})
    {
        tool refused(command, {"REDLOCK_NODES=rediss://127.0.0.1:1"});
        BOOST_TEST(refused.ends_with(125));
        BOOST_TEST(contains(refused.output(), "this library was built without TLS"));
    }
}

BOOST_AUTO_TEST_SUITE_END()
