// A library that was built without TLS.

#include <redlock/client.hpp>
#include <redlock/config.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>

#include "support/contains.hpp"

BOOST_AUTO_TEST_SUITE(test_no_tls)

using namespace redlock;
using redlock::test::contains;

BOOST_AUTO_TEST_CASE(a_node_that_wants_tls_is_refused_with_a_sentence)
{
    boost::asio::io_context context;
    client_config config;
    config.nodes = parse_nodes("redis://a.example:1,rediss://b.example:2");

    const auto says_why = [](const std::invalid_argument& refusal) {
        return contains(refusal.what(), "node 'b.example:2': this library was built without TLS");
    };
    BOOST_CHECK_EXCEPTION(client(context, config), std::invalid_argument, says_why);
}

BOOST_AUTO_TEST_CASE(other_nodes_are_as_always)
{
    boost::asio::io_context context;
    client_config config;
    config.nodes = parse_nodes("redis://a.example:1");

    BOOST_CHECK_NO_THROW(client(context, config));
}

BOOST_AUTO_TEST_SUITE_END()
