#include "node/vetting/vetting.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

BOOST_AUTO_TEST_SUITE(test_vetting)

using namespace redlock;
using namespace redlock::detail;

namespace {

std::string shown(const std::string& error, const std::string& password)
{
    node_config node;
    node.username = "locks";
    node.password = password;
    return without_login(error, node);
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_arguments_of_an_unknown_command_are_not_shown)
{
    const std::string error =
        "ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'locks' 's3c";

    BOOST_TEST(shown(error, "s3cret") == "ERR unknown command 'HELLO'");
}

BOOST_AUTO_TEST_CASE(words_that_hold_the_password_are_not_shown)
{
    const std::string said = shown("ERR cannot parse 'HELLO 3 AUTH locks s3cret'", "s3cret");

    BOOST_TEST(said == "the server's message isn't shown because it contains the password");
}

BOOST_AUTO_TEST_CASE(words_that_were_cut_within_the_password_are_not_shown)
{
    const std::string refused = "the server's message isn't shown because it contains the password";

    BOOST_TEST(shown("ERR cannot parse 'HELLO 3 AUTH locks s3cr...", "s3cret") == refused);
    BOOST_TEST(shown("ERR cannot parse 'HELLO 3 AUTH locks...", "s3cret") != refused);
    BOOST_TEST(shown("ERR cannot parse 'HELLO 3 AUTH locks s3cr", "s3cret") != refused);
}

BOOST_AUTO_TEST_CASE(the_words_of_a_refused_login_are_shown_though_the_password_is_a_word_of_them)
{
    const std::string said = "WRONGPASS invalid username-password pair or user is disabled.";

    BOOST_TEST(shown(said, "password") == said);
}

BOOST_AUTO_TEST_CASE(words_without_a_login_are_shown)
{
    BOOST_TEST(shown("ERR DB index is out of range", "") == "ERR DB index is out of range");
}

BOOST_AUTO_TEST_SUITE_END()
