// TLS, and a user who may do nothing but what the library does.

#include <redlock/client.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/initialize.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/client_runner.hpp"
#include "support/contains.hpp"
#include "support/loop.hpp"
#include "support/needs.hpp"
#include "support/needs_tls.hpp"
#include "support/posix.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"
#include "support/tls_files.hpp"

namespace tls_acl_tests {

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

constexpr const char* prefix = "locks:";
constexpr const char* resource = "orders:42";
constexpr const char* password = "s3cret/@:%";

/// The line of docs/configuration.md, with our prefix and without the password.
const std::vector<std::string> least_privilege{
    "on",
    "resetkeys",
    "~locks:*",
    "resetchannels",
    "-@all",
    "+set",
    "+get",
    "+pttl",
    "+pexpire",
    "+del",
    "+eval",
    "+evalsha",
    "+script|load",
    "+info",
    "+role",
    "+mget",
};

/// What waiting in queues needs besides.
const std::vector<std::string> least_privilege_of_queues{
    "&redlock:*",
    "+subscribe",
    "+publish",
    "+client|tracking",
    "+client|caching",
    "+zadd",
    "+zrem",
    "+zrank",
    "+zrange",
    "+zpopmin",
    "+exists"
};

/// Makes the user of the tests, with these rules and nothing else.
void set_user(redis_server& server, const std::vector<std::string>& rules)
{
    std::vector<std::string> command{"ACL", "SETUSER", "locks", "reset"};
    command.push_back(std::string(">") + password);
    command.insert(command.end(), rules.begin(), rules.end());
    BOOST_TEST_REQUIRE(server.command(command) == "OK");
}

client_config as_user(const redis_server& server)
{
    client_config config = config_for({server.url()});
    config.key_prefix = prefix;
    config.nodes[0].username = "locks";
    config.nodes[0].password = password;
    return config;
}

client_config as_guarded_user(const redis_server& server)
{
    client_config config = as_user(server);
    config.mode = mode::guarded;
    config.ttl_max = 1h;
    return config;
}

std::vector<std::string> joined(std::vector<std::string> one, const std::vector<std::string>& other)
{
    one.insert(one.end(), other.begin(), other.end());
    return one;
}

/// What guarded mode needs.
std::vector<std::string> least_privilege_of_guarded()
{
    auto rules = joined(least_privilege, {"~redlock:*", "+time"});
    std::erase(rules, "+role");
    return rules;
}

/// Whether one client gets what another one gives back while it waits.
bool passes_on(loop& context, client_runner& first, client_runner& second)
{
    lease held = run(context, first->async_acquire(resource, {.ttl = 10s, .wait = 5s}));
    std::optional<error_code> outcome;
    second->async_acquire(
        resource,
        {.ttl = 10s, .wait = 5s},
        [&outcome](error_code ec, const lease&) { outcome = ec; }
    );
    const bool waits = run_until(context, [&] { return second->metrics().rounds > 0; });
    run(context, held.async_release());
    return waits && run_until(context, [&] { return outcome.has_value(); }) &&
           outcome == error_code();
}

/// Whether all operations work, including those after a SCRIPT FLUSH. If not, `why` says it.
bool all_works(redis_server& server, const client_config& config, std::string& why)
{
    loop context;
    client_runner locks(context, config);
    if (!run_until(context, [&] { return locks.status(0).state != node_state::connecting; }))
        return false;
    why = locks.status(0).because;
    if (locks.status(0).state != node_state::ready)
        return false;

    diagnostics report;
    auto [ec, held] = outcome_of(
        context, locks->async_acquire(resource, {.ttl = 1100ms, .wait = 0ms, .report = &report})
    );
    why = to_string(report);
    if (ec)
        return false;
    diagnostics denial;
    if (run(context, locks->async_try_acquire(resource, {.ttl = 10s, .report = &denial})))
        return false;
    why = to_string(denial);
    if (!denial.votes[0].held_for)
        return false;
    const auto [extended] = outcome_of(context, held.async_extend(60s));
    why = "extend: " + extended.message();
    if (extended)
        return false;
    server.command({"SCRIPT", "FLUSH"});
    const auto [extended_again] = outcome_of(context, held.async_extend(600s));
    why = "extend after SCRIPT FLUSH: " + extended_again.message();
    if (extended_again)
        return false;
    std::vector<lease> more;
    for (const char* const each : {"one", "another"})
        more.push_back(run(context, locks->async_acquire(each, {.ttl = 10s})));
    std::size_t released = 0;
    for (lease& each : more)
    {
        each.async_release([&released](error_code, release_outcome got) {
            released += got == release_outcome::released;
        });
    }
    why = "two releases in a turn";
    if (!run_until(context, [&] { return released == 2; }))
        return false;
    const auto outcome = run(context, held.async_release());
    why = std::string("release: ") + to_string(outcome);
    return outcome == release_outcome::released;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(
    test_acl,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

BOOST_AUTO_TEST_CASE(a_user_with_the_documented_permissions_can_do_everything)
{
    redis_server server;
    set_user(server, least_privilege);
    std::string why;

    BOOST_TEST(all_works(server, as_user(server), why));

    BOOST_TEST(why == "release: released");
    BOOST_TEST(server.command({"ACL", "LOG"}) == "(empty array)");
}

BOOST_AUTO_TEST_CASE(guarded_mode_needs_some_permissions_more)
{
    redis_server server;
    set_user(server, least_privilege_of_guarded());
    client_config config = as_guarded_user(server);
    config.waiting.queue = false;
    loop context;
    run(context, async_initialize_nodes(context, config));
    std::string why;

    BOOST_TEST(all_works(server, config, why));

    BOOST_TEST(why == "release: released");
    BOOST_TEST(server.command({"ACL", "LOG"}) == "(empty array)");
}

BOOST_AUTO_TEST_CASE(queues_need_some_permissions_more)
{
    redis_server server;
    set_user(server, joined(least_privilege_of_guarded(), least_privilege_of_queues));
    const client_config config = as_guarded_user(server);
    loop context;
    run(context, async_initialize_nodes(context, config));
    client_runner first(context, config);
    client_runner second(context, config);
    std::string why;

    BOOST_TEST(all_works(server, config, why));
    BOOST_TEST(passes_on(context, first, second));

    BOOST_TEST(why == "release: released");
    BOOST_TEST(first.status(0).polls.empty());
    BOOST_TEST(server.command({"ACL", "LOG"}) == "(empty array)");
}

BOOST_AUTO_TEST_CASE(without_the_permissions_of_queues_who_waits_polls)
{
    redis_server server;
    const auto guarded = least_privilege_of_guarded();
    for (const std::string& rule : least_privilege_of_queues)
    {
        BOOST_TEST_CONTEXT("without " << rule)
        {
            auto fewer = joined(guarded, least_privilege_of_queues);
            std::erase(fewer, rule);
            server.command({"FLUSHALL"});
            set_user(server, fewer);
            const client_config config = as_guarded_user(server);
            loop context;
            run(context, async_initialize_nodes(context, config));
            client_runner first(context, config);
            client_runner second(context, config);

            BOOST_TEST(passes_on(context, first, second));
            const bool asked_at_once = rule == "+subscribe" || rule == "+publish" ||
                                       rule == "+client|tracking" || rule.starts_with("&");
            if (asked_at_once)
                BOOST_TEST(contains(first.status(0).polls, "NOPERM"));
        }
    }
}

BOOST_AUTO_TEST_CASE(every_permission_of_the_documented_user_is_needed)
{
    redis_server server;
    for (const std::string& rule : least_privilege)
    {
        // What takes permissions away is not needed to work, and ROLE has a case of its own.
        // Without MGET several releases cost more.
        if (!rule.starts_with("+") || rule == "+role" || rule == "+mget")
            continue;
        BOOST_TEST_CONTEXT("without " << rule)
        {
            server.command({"FLUSHALL"});
            server.command({"SCRIPT", "FLUSH"});
            auto fewer = least_privilege;
            std::erase(fewer, rule);
            set_user(server, fewer);
            std::string why;

            BOOST_TEST(!all_works(server, as_user(server), why));
        }
    }
}

// A server that refuses a probe has answered it, so the connection is kept. But the refusal would
// be written to the ACL log.
BOOST_AUTO_TEST_CASE(an_idle_connection_needs_no_other_permission)
{
    for (const auto& [which, command] :
         {std::pair(mode::plain, "cmdstat_role:calls=2"), {mode::guarded, "cmdstat_get:calls=2"}})
    {
        redis_server server;
        const auto guarded = joined(least_privilege_of_guarded(), least_privilege_of_queues);
        set_user(server, guarded);
        client_config config = as_guarded_user(server);
        loop context;
        run(context, async_initialize_nodes(context, config));
        if (which == mode::plain)
            set_user(server, least_privilege);
        config.mode = which;
        client_runner locks(context, config);
        locks.wait_for_all_nodes();
        server.command({"CONFIG", "RESETSTAT"});

        const auto probed = [&] {
            return contains(server.command({"INFO", "commandstats"}), command);
        };
        BOOST_TEST(run_until(context, probed));
        BOOST_TEST(server.command({"ACL", "LOG"}) == "(empty array)");
        BOOST_TEST((locks.status(0).state == node_state::ready));
    }
}

BOOST_AUTO_TEST_CASE(another_database_needs_select)
{
    redis_server server;
    client_config config = as_user(server);
    config.nodes[0].database = 1;
    std::string why;

    set_user(server, least_privilege);
    BOOST_TEST(!all_works(server, config, why));
    BOOST_TEST(contains(why, "NOPERM"));

    auto more = least_privilege;
    more.push_back("+select");
    set_user(server, more);
    BOOST_TEST(all_works(server, config, why));
}

BOOST_AUTO_TEST_CASE(keys_outside_of_the_users_pattern_are_refused)
{
    redis_server server;
    set_user(server, least_privilege);
    client_config config = as_user(server);
    config.key_prefix = "other:";
    loop context;
    client_runner locks(context, config);

    const auto [ec, none] = outcome_of(context, locks->async_try_acquire(resource, 10s));

    BOOST_TEST(ec == error::node_rejected);
    BOOST_TEST(server.command({"DBSIZE"}) == "(integer) 0");
}

BOOST_AUTO_TEST_CASE(credentials_come_from_the_url_too)
{
    redis_server server;
    set_user(server, least_privilege);
    std::string url = server.url();
    url.insert(url.find("//") + 2, "locks:s3cret%2F%40%3A%25@");
    client_config config = config_for({url});
    config.key_prefix = prefix;
    std::string why;

    BOOST_TEST(config.nodes[0].password == password);
    BOOST_TEST(all_works(server, config, why));
}

BOOST_AUTO_TEST_CASE(a_password_without_a_user_is_that_of_the_default_user)
{
    redis_server server({.extra = {"--requirepass", password}});
    client_config config = config_for({server.url()});
    config.nodes[0].password = password;
    loop context;
    client_runner locks(context, config);

    BOOST_TEST(bool(run(context, locks->async_acquire(resource, 10s))));
}

BOOST_AUTO_TEST_CASE(a_corrected_password_lets_the_node_in)
{
    redis_server server;
    set_user(server, least_privilege);
    client_config config = as_user(server);
    config.nodes[0].password = "not yet";
    loop context;
    client_runner locks(context, config);
    BOOST_TEST(locks.reaches(0, node_state::rejected));

    server.command({"ACL", "SETUSER", "locks", ">not yet"});

    BOOST_TEST(locks.reaches(1));
}

BOOST_AUTO_TEST_CASE(a_password_is_never_shown)
{
    redis_server server;
    set_user(server, least_privilege);
    const loopback_port nobody;
    std::ostringstream words;
    for (const bool wrong : {false, true})
    {
        client_config config = as_user(server);
        if (wrong)
            config.nodes[0].password = std::string("wrong ") + password;
        config.nodes.push_back(config.nodes[0]);
        config.nodes.back().port = nobody.number();
        config.log = [&words](log_level, std::string_view line) { words << line << '\n'; };
        loop context;
        client_runner locks(context, config);
        BOOST_TEST(locks.reaches(0, wrong ? node_state::rejected : node_state::ready));
        BOOST_TEST(locks.reaches(1, node_state::down));
        diagnostics report;

        const auto [ec, none] = outcome_of(
            context, locks->async_try_acquire(resource, {.ttl = 10s, .report = &report})
        );

        BOOST_TEST(ec == condition::nodes_unavailable);
        words << report << ec.message() << '\n';
        for (const node_status& each : locks->nodes())
            words << each.node << ' ' << each.because << '\n';
    }

    BOOST_TEST(contains(words.str(), "WRONGPASS"));
    BOOST_TEST(contains(words.str(), "Connection refused"));
    BOOST_TEST(!contains(words.str(), "s3cret"));
}

// It quotes the arguments of a command that it does not know, as does a server before Redis 6.
BOOST_AUTO_TEST_CASE(a_password_is_not_shown_by_a_server_that_does_not_know_the_login)
{
    redis_server server({.extra = {"--rename-command", "HELLO", ""}});
    for (const std::string& secret : {std::string("s3cret"), std::string(200, 'p')})
    {
        client_config config = config_for({server.url()});
        config.nodes[0].username = "locks";
        config.nodes[0].password = secret;
        loop context;
        client_runner locks(context, config);
        BOOST_TEST(locks.reaches(0, node_state::rejected));

        const std::string because = locks.status(0).because;
        BOOST_TEST(contains(because, "unknown command"));
        BOOST_TEST(contains(because, "HELLO"));
        BOOST_TEST(!contains(because, secret.substr(0, 4)), because);
    }
}

BOOST_AUTO_TEST_CASE(a_password_is_rotated_without_a_restart_of_the_client)
{
    redis_server server;
    set_user(server, least_privilege);
    client_config config = as_user(server);
    std::string current = password;
    config.nodes[0].password = "of no use";
    config.nodes[0].ask_credentials = [&current](auto handler) {
        std::move(handler)(error_code(), credentials{"locks", current});
    };
    loop context;
    client_runner locks(context, config);
    locks.wait_for_all_nodes();

    server.command({"ACL", "SETUSER", "locks", ">another"});
    current = "another";
    server.command({"ACL", "SETUSER", "locks", std::string("<") + password});
    BOOST_TEST(locks.status(0).state == node_state::ready);
    server.command({"CLIENT", "KILL", "USER", "locks"});
    BOOST_TEST(locks.reaches(0, node_state::down));

    BOOST_TEST(locks.reaches(0, node_state::ready));
}

BOOST_AUTO_TEST_CASE(credentials_may_come_from_another_thread)
{
    redis_server server;
    set_user(server, least_privilege);
    client_config config = as_user(server);
    config.nodes[0].password = "of no use";
    std::jthread source;
    config.nodes[0].ask_credentials = [&source](auto handler) {
        source = std::jthread([answer = std::move(handler)]() mutable {
            std::move(answer)(error_code(), credentials{"locks", password});
        });
    };
    loop context;
    client_runner locks(context, config);

    BOOST_TEST(locks.reaches(1));
}

BOOST_AUTO_TEST_CASE(credentials_may_come_when_the_client_and_its_context_are_gone)
{
    redis_server server;
    client_config config = as_user(server);
    asio::any_completion_handler<void(error_code, credentials)> asked;
    config.nodes[0].ask_credentials = [&asked](auto handler) { asked = std::move(handler); };
    {
        loop context;
        client locks(context, config);
        locks.async_run([](error_code) {});
        BOOST_TEST(run_until(context, [&] { return !!asked; }));
    }

    std::move(asked)(error_code(), credentials{"locks", password});
}

BOOST_AUTO_TEST_CASE(a_source_of_credentials_that_fails_is_the_reason)
{
    redis_server server;
    client_config config = as_user(server);
    config.nodes[0].ask_credentials = [](auto handler) {
        std::move(handler)(asio::error::access_denied, credentials{});
    };
    loop context;
    client_runner locks(context, config);

    BOOST_TEST(locks.reaches(0, node_state::rejected));
    BOOST_TEST(
        locks.status(0).because ==
        "ask_credentials failed: " + error_code(asio::error::access_denied).message()
    );
}

BOOST_AUTO_TEST_CASE(fresh_nodes_are_initialized_with_credentials_that_are_asked_for)
{
    redis_server server;
    set_user(server, least_privilege_of_guarded());
    client_config config = as_guarded_user(server);
    config.nodes[0].password.clear();
    config.nodes[0].ask_credentials = [](auto handler) {
        std::move(handler)(error_code(), credentials{"locks", password});
    };
    loop context;

    run(context, async_initialize_nodes(context, config));
    client_runner locks(context, config);
    BOOST_TEST(locks.reaches(1));
}

BOOST_AUTO_TEST_SUITE_END()

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

}  // namespace tls_acl_tests
