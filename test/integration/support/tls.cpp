// TLS files and servers of the integration tests, proven before anything is proven with them.

#include <boost/test/unit_test.hpp>

#include <string>

#include <stdio.h>

#include "support/contains.hpp"
#include "support/needed.hpp"
#include "support/needs.hpp"
#include "support/posix.hpp"
#include "support/redis_server.hpp"
#include "support/tls_files.hpp"

namespace tls_support_tests {

using namespace redlock::test;

namespace {

/// Runs a shell command and returns what it wrote.
std::string output_of(const std::string& command)
{
    FILE* const stream = ::popen((command + " 2>&1").c_str(), "r");
    std::string output;
    for (int c = ::fgetc(stream); c != EOF; c = ::fgetc(stream))
        output += static_cast<char>(c);
    ::pclose(stream);
    return output;
}

boost::test_tools::assertion_result tls_is_built_in(boost::unit_test::test_unit_id id)
{
    return needed(id, contains(output_of("redis-cli --help"), "--tls"), "a redis-cli with --tls");
}

struct tls_server
{
    tls_files files{};
    tls_files stranger{};
    redis_tls tls{files.server().certificate, files.server().key, files.authority()};
    redis_server server{{.tls = tls}};

    [[nodiscard]] std::string ping(const tls_files& trusted, const tls_identity& identity) const
    {
        return output_of(
            "redis-cli -p " + std::to_string(server.port()) + " --tls --cacert " +
            shell_word(trusted.authority().native()) + " --cert " +
            shell_word(identity.certificate.native()) + " --key " +
            shell_word(identity.key.native()) + " PING"
        );
    }
};

std::string verify(const tls_files& trusted, const std::string& check, const tls_identity& who)
{
    return output_of(
        "openssl verify -CAfile " + shell_word(trusted.authority().native()) + " " + check + " " +
        shell_word(who.certificate.native())
    );
}

}  // namespace

BOOST_AUTO_TEST_SUITE(
    test_support_tls,
    *boost::unit_test::precondition(needs("redis-server")) *
        boost::unit_test::precondition(needs("redis-cli")) *
        boost::unit_test::precondition(needs("openssl")) *
        boost::unit_test::precondition(tls_is_built_in)
)

BOOST_AUTO_TEST_CASE(a_tls_server_answers_a_client_with_a_certificate_of_its_authority)
{
    const tls_server at;

    BOOST_TEST(at.ping(at.files, at.files.client()) == "PONG\n");
    BOOST_TEST(at.server.url() == "rediss://127.0.0.1:" + std::to_string(at.server.port()));
}

BOOST_AUTO_TEST_CASE(a_tls_server_refuses_a_stranger_and_is_refused_by_who_trusts_another)
{
    const tls_server at;

    BOOST_TEST(at.ping(at.files, at.stranger.client()) != "PONG\n");
    BOOST_TEST(at.ping(at.stranger, at.files.client()) != "PONG\n");
}

BOOST_AUTO_TEST_CASE(a_tls_server_does_not_answer_in_plain_text)
{
    const tls_server at;

    BOOST_CHECK_THROW(resp_client(at.server.port()).command({"PING"}), std::system_error);
    BOOST_TEST(at.server.command({"PING"}) == "PONG");
}

BOOST_AUTO_TEST_CASE(a_certificate_names_the_host_it_was_issued_for)
{
    const tls_files files;
    const tls_identity elsewhere = files.issue({.name = "elsewhere", .alt_names = "DNS:b.test"});

    BOOST_TEST(verify(files, "-verify_ip 127.0.0.1", files.server()).ends_with(": OK\n"));
    BOOST_TEST(verify(files, "-verify_hostname localhost", files.server()).ends_with(": OK\n"));
    BOOST_TEST(verify(files, "-verify_hostname b.test", elsewhere).ends_with(": OK\n"));
    BOOST_TEST(!verify(files, "-verify_ip 127.0.0.1", elsewhere).ends_with(": OK\n"));
    BOOST_TEST(!verify(files, "-verify_hostname b.test", files.server()).ends_with(": OK\n"));
}

BOOST_AUTO_TEST_CASE(every_authority_is_a_stranger_to_the_others)
{
    const tls_files files;
    const tls_files stranger;

    BOOST_TEST(verify(files, "", files.client()).ends_with(": OK\n"));
    BOOST_TEST(!verify(files, "", stranger.client()).ends_with(": OK\n"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tls_support_tests
