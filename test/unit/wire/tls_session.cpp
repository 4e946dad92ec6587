#include "wire/tls_session.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <vector>

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include "support/contains.hpp"

namespace tls_session_tests {

using namespace redlock;
using namespace redlock::test;

namespace {

struct session_fixture
{
    /// What a session to `host` sends for SNI, and what it wants the certificate to name.
    std::vector<std::string> names_for(const std::string& host)
    {
        node_config node;
        node.host = host;
        node.tls.emplace();
        detail::tls_session session(detail::tls_source(*node.tls).latest(), node);
        const std::unique_ptr<SSL, decltype(&::SSL_free)> made(
            ::SSL_new(session.context().native_handle()), ::SSL_free
        );

        BOOST_TEST_REQUIRE(session.set_host(*made));

        X509_VERIFY_PARAM* const expected = ::SSL_get0_param(made.get());
        const std::unique_ptr<char, void (*)(char*)> address(
            ::X509_VERIFY_PARAM_get1_ip_asc(expected), [](char* text) { OPENSSL_free(text); }
        );
        const auto text = [](const char* found) { return std::string(found ? found : ""); };
        return {
            text(::SSL_get_servername(made.get(), TLSEXT_NAMETYPE_host_name)),
            text(::X509_VERIFY_PARAM_get0_host(expected, 0)),
            text(address.get()),
        };
    }
};

node_config node_with(const tls_config& tls)
{
    node_config node;
    node.tls = tls;
    return node;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(test_tls_session, session_fixture)

BOOST_AUTO_TEST_CASE(a_name_is_sent_and_looked_for)
{
    const std::vector<std::string> expected{"a.example", "a.example", ""};

    BOOST_TEST(names_for("a.example") == expected);
}

BOOST_AUTO_TEST_CASE(an_absolute_name_is_the_name_without_its_dot)
{
    const std::vector<std::string> expected{"a.example", "a.example", ""};

    BOOST_TEST(names_for("a.example.") == expected);
}

BOOST_AUTO_TEST_CASE(a_dot_alone_does_not_turn_the_check_off)
{
    const std::vector<std::string> expected{".", ".", ""};

    BOOST_TEST(names_for(".") == expected);
}

BOOST_AUTO_TEST_CASE(an_address_is_looked_for_and_not_sent)
{
    const std::vector<std::string> v4{"", "", "10.0.0.7"};
    const std::vector<std::string> v6{"", "", "2001:DB8:0:0:0:0:0:7"};

    BOOST_TEST(names_for("10.0.0.7") == v4);
    BOOST_TEST(names_for("2001:db8::7") == v6);
    BOOST_TEST(names_for("fe80::1%1")[2] == "FE80:0:0:0:0:0:0:1");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(test_tls_source)

BOOST_AUTO_TEST_CASE(nodes_with_equal_settings_share_what_was_read)
{
    const tls_config one{.ca_file = "/nowhere/a.pem"};
    tls_config other = one;
    other.key_password = "another";

    const auto sources = detail::make_tls_sources(
        {node_with(one), node_config(), node_with(other), node_with(one), node_with(other)}
    );

    BOOST_TEST_REQUIRE(sources.size() == 5u);
    BOOST_TEST(!sources[1]);
    BOOST_TEST(sources[0] == sources[3]);
    BOOST_TEST(sources[2] == sources[4]);
    BOOST_TEST(sources[0] != sources[2]);
}

BOOST_AUTO_TEST_CASE(files_that_did_not_change_are_not_read_again)
{
    detail::tls_source source({.ca_file = "/nowhere/a.pem"});
    const auto before = source.latest();

    BOOST_TEST(before->failure.starts_with("tls.ca_file '/nowhere/a.pem': "));
    BOOST_TEST(source.latest() == before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tls_session_tests
