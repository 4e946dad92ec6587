// A user who may do nothing but what the library does.

#include <redlock/client.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/initialize.hpp>

#include "integration/documented_user.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/contains.hpp"
#include "support/needs.hpp"
#include "support/printing.hpp"

namespace acl_tests {

using namespace redlock;
using namespace redlock::test;
using namespace redlock::test::documented_user;
using namespace std::chrono_literals;
namespace asio = boost::asio;

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

}  // namespace acl_tests
