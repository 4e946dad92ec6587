// TLS: who is trusted, which files are used, and what is said about what fails.

#include <redlock/client.hpp>

#include "integration/documented_user.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/contains.hpp"
#include "support/needs.hpp"
#include "support/needs_tls.hpp"
#include "support/posix.hpp"
#include "support/printing.hpp"
#include "support/tls_files.hpp"

namespace tls_tests {

using namespace redlock;
using namespace redlock::test;
using namespace redlock::test::documented_user;
using namespace std::chrono_literals;

namespace {

bool server_speaks_tls()
{
    // A server without TLS does not know the directive; one with TLS ends because it has no port.
    return std::system("printf 'tls-port 0\\nport 0\\n' | redis-server - | grep -q 'Bad directive'"
           ) != 0;
}

boost::test_tools::assertion_result tls_is_built_in(boost::unit_test::test_unit_id id)
{
    return needed(id, server_speaks_tls(), "a redis-server with TLS");
}

/// A server with TLS, and what a client needs to know of it.
struct tls_fixture
{
    /// @param name What the certificate of the server is for.
    explicit tls_fixture(const std::string& name = "IP:127.0.0.1", bool wants_certificate = false)
        : identity(files.issue({.name = "node", .alt_names = name})),
          server({
              .extra = {"--tls-auth-clients", wants_certificate ? "yes" : "no"},
              .tls = redis_tls{identity.certificate, identity.key, files.authority()},
          })
    {
    }

    [[nodiscard]] client_config config(const std::string& host = "127.0.0.1") const
    {
        client_config result = config_for({server.url()});
        result.nodes[0].host = host;
        result.nodes[0].tls->ca_file = files.authority();
        return result;
    }

    tls_files files;
    tls_identity identity;
    redis_server server;
};

/// Lets the only node of a client come to a state. @return Why it is in it.
std::string reason_for(node_state state, const client_config& config)
{
    loop context;
    client_runner locks(context, config);

    BOOST_TEST_REQUIRE(locks.reaches(0, state));
    const auto [ec, held] = outcome_of(context, locks->async_try_acquire(resource, 10s));

    BOOST_TEST(bool(held) == (state == node_state::ready));
    return locks.status(0).because;
}

/** Whether an alert of the only node, which refuses our certificate, is told as the reason.

    Not at each attempt: such a server ends the connection at once, and our first write may find it
    reset before the alert is read.
*/
bool tells_alert(const std::string& alert, const client_config& config)
{
    loop context;
    client_runner locks(context, config);

    return run_until(context, [&] {
        const node_status node = locks.status(0);
        return node.state == node_state::down && contains(node.because, alert);
    });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(
    test_tls,
    *boost::unit_test::precondition(needs("redis-server")) *
        boost::unit_test::precondition(needs("openssl")) *
        boost::unit_test::precondition(needs_tls) * boost::unit_test::precondition(tls_is_built_in)
)

BOOST_AUTO_TEST_CASE(everything_works_over_tls_with_the_documented_user)
{
    tls_fixture f;
    set_user(f.server, least_privilege);
    client_config config = f.config();
    config.key_prefix = prefix;
    config.nodes[0].username = "locks";
    config.nodes[0].password = password;
    std::string why;

    BOOST_TEST(all_works(f.server, config, why));

    BOOST_TEST(why == "release: released");
}

BOOST_AUTO_TEST_CASE(five_nodes_with_tls_are_a_quorum_like_any_other)
{
    const tls_files files;
    redis_servers servers(
        5,
        {
            .tls = redis_tls{files.server().certificate, files.server().key, files.authority()},
        }
    );
    loop context;
    client_config config = config_for(servers);
    for (node_config& node : config.nodes)
    {
        node.tls->ca_file = files.authority();
        node.tls->cert_file = files.client().certificate;
        node.tls->key_file = files.client().key;
    }
    client_runner locks(context, config);
    locks.wait_for_all_nodes();

    servers[0].kill();
    servers[1].pause();
    lease held = run(context, locks->async_acquire(resource, 10s));
    run(context, held.async_extend(20s));

    BOOST_TEST(run(context, held.async_release()) == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(a_name_is_checked_against_the_certificate)
{
    tls_fixture f("DNS:localhost");

    BOOST_TEST(reason_for(node_state::ready, f.config("localhost")).empty());
    BOOST_TEST(
        contains(reason_for(node_state::down, f.config("127.0.0.1")), "certificate verify failed")
    );
}

BOOST_AUTO_TEST_CASE(an_address_is_checked_against_the_certificate)
{
    tls_fixture f("IP:127.0.0.1");

    BOOST_TEST(reason_for(node_state::ready, f.config("127.0.0.1")).empty());
    BOOST_TEST(
        contains(reason_for(node_state::down, f.config("localhost")), "certificate verify failed")
    );
}

BOOST_AUTO_TEST_CASE(a_server_of_an_unknown_authority_is_refused_unless_verification_is_off)
{
    tls_fixture f;
    const tls_files stranger;
    client_config config = f.config();

    config.nodes[0].tls->ca_file = stranger.authority();
    BOOST_TEST(contains(reason_for(node_state::down, config), "certificate verify failed"));
    // The system's authorities do not know it either.
    config.nodes[0].tls->ca_file.clear();
    BOOST_TEST(contains(reason_for(node_state::down, config), "certificate verify failed"));

    config.nodes[0].tls->verify = false;
    BOOST_TEST(reason_for(node_state::ready, config).empty());
}

BOOST_AUTO_TEST_CASE(a_url_asks_for_verification)
{
    const tls_fixture f;

    BOOST_TEST(contains(
        reason_for(node_state::down, config_for({f.server.url()})), "certificate verify failed"
    ));
}

BOOST_AUTO_TEST_CASE(a_server_that_asks_for_a_certificate_gets_ours)
{
    tls_fixture f("IP:127.0.0.1", true);
    const tls_files stranger;
    client_config config = f.config();

    BOOST_TEST(tells_alert("certificate required", config));

    config.nodes[0].tls->cert_file = stranger.client().certificate;
    config.nodes[0].tls->key_file = stranger.client().key;
    BOOST_TEST(tells_alert("unknown ca", config));

    config.nodes[0].tls->cert_file = f.files.client().certificate;
    config.nodes[0].tls->key_file = f.files.client().key;
    BOOST_TEST(reason_for(node_state::ready, config).empty());
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_used_are_named)
{
    tls_fixture f;
    const auto with = [&](const std::filesystem::path& ca,
                          const std::filesystem::path& cert,
                          const std::filesystem::path& key) {
        client_config config = f.config();
        config.nodes[0].tls = tls_config{.ca_file = ca, .cert_file = cert, .key_file = key};
        return reason_for(node_state::rejected, config);
    };
    const auto& [certificate, key] = f.files.client();

    BOOST_TEST(contains(with("/nowhere/ca.pem", "", ""), "'/nowhere/ca.pem'"));
    BOOST_TEST(contains(with("/nowhere/ca.pem", "", ""), "o such file"));
    BOOST_TEST(contains(with(key, "", ""), "'" + key.native() + "'"));
    BOOST_TEST(contains(with(f.files.authority(), "/nowhere/c.pem", key), "'/nowhere/c.pem'"));
    BOOST_TEST(contains(with(f.files.authority(), certificate, "/nowhere/k.pem"), "/nowhere/k.pem")
    );
    BOOST_TEST(contains(with(f.files.authority(), certificate, f.identity.key), "mismatch"));
}

BOOST_AUTO_TEST_CASE(a_server_that_speaks_plain_text_is_down)
{
    redis_server server;
    const tls_files files;
    client_config config = config_for({server.url()});
    config.nodes[0].tls.emplace().ca_file = files.authority();

    BOOST_TEST(contains(reason_for(node_state::down, config), "use redis:// in its URL"));
}

BOOST_AUTO_TEST_CASE(a_server_that_wants_tls_and_gets_plain_text_is_down)
{
    const tls_fixture f;
    client_config config = f.config();
    config.nodes[0].tls.reset();

    BOOST_TEST(contains(reason_for(node_state::down, config), "use rediss:// in its URL"));
}

BOOST_AUTO_TEST_CASE(a_certificate_that_is_refused_is_no_sign_of_plain_text)
{
    const tls_fixture f;
    client_config config = f.config();
    config.nodes[0].tls = tls_config{};

    BOOST_TEST(!contains(reason_for(node_state::down, config), "in its URL"));
}

BOOST_AUTO_TEST_CASE(a_password_that_is_refused_over_tls_is_not_shown)
{
    tls_fixture f;
    f.server.command({"CONFIG", "SET", "requirepass", "another"});
    client_config config = f.config();
    config.nodes[0].password = password;
    std::string lines;
    config.log = [&lines](log_level, std::string_view line) { lines += line; };

    const std::string because = reason_for(node_state::rejected, config);

    BOOST_TEST(contains(because, "WRONGPASS"));
    BOOST_TEST(contains(lines, because));
    BOOST_TEST(!contains(lines, "s3cret"));
}

namespace {

/// Makes `fd` another name of the standard input, and undoes that.
class input_from
{
public:
    explicit input_from(int fd) : before_(::dup(STDIN_FILENO))
    {
        ::dup2(fd, STDIN_FILENO);
        std::clearerr(stdin);  // It may have come to an end, and then would not be read any more.
    }
    input_from(const input_from&) = delete;
    input_from& operator=(const input_from&) = delete;
    ~input_from() { ::dup2(before_.get(), STDIN_FILENO); }

private:
    descriptor before_;
};

/// Sets a variable of the environment, and undoes that.
class environment
{
public:
    environment(const char* name, const std::string& value) : name_(name)
    {
        ::setenv(name, value.c_str(), 1);
    }
    environment(const environment&) = delete;
    environment& operator=(const environment&) = delete;
    ~environment() { ::unsetenv(name_); }

private:
    const char* name_;
};

/// A server that wants a certificate, and a client that has one with an encrypted key.
struct encrypted_key_fixture : tls_fixture
{
    encrypted_key_fixture() : tls_fixture("IP:127.0.0.1", true) {}

    [[nodiscard]] client_config with_key(const std::filesystem::path& key, std::string secret) const
    {
        client_config result = config();
        result.nodes[0].tls->cert_file = files.client().certificate;
        result.nodes[0].tls->key_file = key;
        result.nodes[0].tls->key_password = std::move(secret);
        return result;
    }
};

/// Whether the only node comes to a state for a reason, perhaps after others.
bool comes_to(loop& context, client_runner& locks, node_state state, const std::string& because)
{
    return run_until(context, [&] {
        const node_status node = locks.status(0);
        return node.state == state && contains(node.because, because);
    });
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_encrypted_key_needs_its_password)
{
    const encrypted_key_fixture f;
    using form = tls_files::key_form;

    for (const auto each : {form::pkcs8, form::traditional})
    {
        const auto key = f.files.encrypted(f.files.client(), password, each);
        const auto without = reason_for(node_state::rejected, f.with_key(key, ""));
        const auto wrong = reason_for(node_state::rejected, f.with_key(key, "secret"));

        BOOST_TEST(
            without == "tls.key_file '" + key.native() +
                           "': the key is encrypted, and tls.key_password is not set"
        );
        BOOST_TEST(contains(wrong, "'" + key.native() + "'"));
        BOOST_TEST(contains(wrong, "tls.key_password is not the password of this key"));
        BOOST_TEST(reason_for(node_state::ready, f.with_key(key, password)).empty());
    }
}

BOOST_AUTO_TEST_CASE(the_password_of_another_key_is_not_blamed_for_the_wrong_certificate)
{
    const encrypted_key_fixture f;
    const auto key = f.files.encrypted(f.identity, password);

    const auto why = reason_for(node_state::rejected, f.with_key(key, password));

    BOOST_TEST(contains(why, "mismatch"));
    BOOST_TEST(contains(why, "not the key of tls.cert_file"));
    BOOST_TEST(!contains(why, "password"));
}

// OpenSSL asks the terminal for a password, and takes a line of the input where there is none.
BOOST_AUTO_TEST_CASE(the_input_of_the_program_is_left_alone)
{
    const encrypted_key_fixture f;
    const auto key = f.files.encrypted(f.files.client(), password);
    const std::string line = std::string(password) + "\n";
    std::array<int, 2> ends{};
    BOOST_REQUIRE(::pipe(ends.data()) == 0);
    const descriptor output(ends[0]);
    const descriptor input(ends[1]);
    BOOST_REQUIRE(::write(input.get(), line.data(), line.size()) == ssize_t(line.size()));

    {
        const input_from pipe(output.get());
        for (const std::filesystem::path& file : {key, std::filesystem::path("/dev/stdin")})
            (void)reason_for(node_state::rejected, f.with_key(file, ""));
    }

    int left = 0;
    ::ioctl(output.get(), FIONREAD, &left);
    BOOST_TEST(left == int(line.size()));
}

BOOST_AUTO_TEST_CASE(a_file_for_tls_has_to_be_a_regular_one)
{
    const tls_fixture f;
    const auto pipe = f.files.folder() / "pipe";
    const auto link = f.files.folder() / "link";
    BOOST_REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    std::filesystem::create_symlink(pipe, link);
    const auto& [certificate, key] = f.files.client();

    for (const std::filesystem::path& file : {pipe, link, f.files.folder(), {"/dev/null"}})
    {
        for (const auto& tls :
             {tls_config{.ca_file = file},
              tls_config{.ca_file = f.files.authority(), .cert_file = file, .key_file = key},
              tls_config{.ca_file = f.files.authority(), .cert_file = certificate, .key_file = file}
             })
        {
            client_config config = f.config();
            config.nodes[0].tls = tls;
            const auto why = reason_for(node_state::rejected, config);

            BOOST_TEST(contains(why, "'" + file.native() + "': must be a regular file"));
        }
    }
    const environment chosen("SSL_CERT_FILE", pipe);
    client_config config = f.config();
    config.nodes[0].tls->ca_file.clear();
    BOOST_TEST(contains(reason_for(node_state::rejected, config), "SSL_CERT_FILE"));
}

// So no handler has to.
BOOST_AUTO_TEST_CASE(the_files_for_tls_are_read_by_the_constructor)
{
    tls_fixture f("IP:127.0.0.1", true);
    client_config config = f.config();
    config.nodes[0].tls->cert_file = f.files.client().certificate;
    config.nodes[0].tls->key_file = f.files.client().key;
    loop context;
    client_runner locks(context, config);

    std::filesystem::remove(f.files.authority());
    std::filesystem::remove(f.files.client().certificate);
    std::filesystem::remove(f.files.client().key);

    BOOST_TEST(locks.reaches(1));
    f.server.command({"CLIENT", "KILL", "TYPE", "normal"});
    BOOST_TEST(comes_to(context, locks, node_state::rejected, "authority.crt': No such file"));
}

BOOST_AUTO_TEST_CASE(renewed_files_are_used_without_a_restart)
{
    tls_fixture f;
    const tls_files stranger;
    const auto file = f.files.folder() / "ca.pem";
    std::filesystem::copy(stranger.authority(), file);
    client_config config = f.config();
    config.nodes[0].tls->ca_file = file;
    loop context;
    client_runner locks(context, config);
    BOOST_TEST(comes_to(context, locks, node_state::down, "is not in tls.ca_file"));

    std::filesystem::copy(
        f.files.authority(), file, std::filesystem::copy_options::overwrite_existing
    );
    BOOST_TEST(locks.reaches(1));

    // The first connection afterwards notices the change, and a later one is told what was read.
    std::ofstream(file) << "half of a cert";
    BOOST_TEST(run_until(context, [&] {
        if (locks.status(0).state == node_state::ready)
            f.server.command({"CLIENT", "KILL", "TYPE", "normal"});
        return locks.status(0).state == node_state::rejected;
    }));
    BOOST_TEST(contains(locks.status(0).because, "'" + file.native() + "'"));

    std::filesystem::rename(f.files.authority(), file);
    BOOST_TEST(locks.reaches(1));
}

BOOST_AUTO_TEST_CASE(a_certificate_that_is_refused_is_shown_with_the_reason)
{
    const tls_fixture other("DNS:localhost, DNS:node.example");
    const std::string wrong_host = reason_for(node_state::down, other.config("127.0.0.1"));
    BOOST_TEST(contains(
        wrong_host,
        "asked for '127.0.0.1', found the certificate of 'CN=node' "
        "(DNS:localhost, DNS:node.example): it is for another host"
    ));

    client_config config = other.config("localhost");
    const tls_files stranger;
    config.nodes[0].tls->ca_file = stranger.authority();
    BOOST_TEST(contains(
        reason_for(node_state::down, config),
        "asked for 'localhost', found the certificate of 'CN=node' "
        "(DNS:localhost, DNS:node.example): its authority 'CN=redlock test authority' is not in "
        "tls.ca_file '" +
            stranger.authority().native() + "'"
    ));
    config.nodes[0].tls->ca_file.clear();
    BOOST_TEST(contains(
        reason_for(node_state::down, config),
        "is not in the system's authorities; name it in tls.ca_file"
    ));
}

BOOST_AUTO_TEST_CASE(a_certificate_that_has_expired_is_shown_with_its_end)
{
    const tls_files files;
    const auto old =
        files.issue({.name = "old", .alt_names = "IP:127.0.0.1, DNS:localhost", .days = 0});
    redis_server server({
        .extra = {"--tls-auth-clients", "no"},
        .tls = redis_tls{old.certificate, old.key, files.authority()},
    });
    client_config config = config_for({server.url()});
    config.nodes[0].tls->ca_file = files.authority();

    const std::string why = reason_for(node_state::down, config);

    BOOST_TEST(contains(why, "asked for '127.0.0.1', found the certificate of 'CN=old' (IP"));
    BOOST_TEST(contains(why, "): 'CN=old' expired on "));
    BOOST_TEST(contains(why, " GMT"));
}

BOOST_AUTO_TEST_CASE(a_url_can_name_the_authorities)
{
    const tls_fixture f;
    const std::string url = f.server.url() + "?ca=" + f.files.authority().native();

    BOOST_TEST(reason_for(node_state::ready, config_for({url})).empty());
}

BOOST_AUTO_TEST_CASE(the_environment_names_the_default_authorities)
{
    const tls_fixture f;
    const environment chosen("SSL_CERT_FILE", f.files.authority());

    BOOST_TEST(reason_for(node_state::ready, config_for({f.server.url()})).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tls_tests
