// What becomes of an operation when some nodes answer it with an error: nine errors, three
// operations, on 1, quorum - 1, quorum and all of five nodes.
//
// Every cell that a server can be brought to is here. Where an error cannot come from a command,
// the case says what the server does instead: an out-of-memory server still extends and releases, a
// key of another type denies an acquisition, and a login is only checked on connecting. There it
// makes the node rejected, so that the cells of NOAUTH and WRONGPASS are those of a rejected node.

#include <redlock/client.hpp>
#include <redlock/diagnostics.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/socket.h>

#include "support/client_runner.hpp"
#include "support/eventually.hpp"
#include "support/loop.hpp"
#include "support/needs.hpp"
#include "support/posix.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"

BOOST_AUTO_TEST_SUITE(
    test_error_replies,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

constexpr std::size_t node_count = 5;
constexpr std::size_t quorum = 3;
constexpr milliseconds first_ttl = 60s;
constexpr milliseconds second_ttl = 600s;

// One for each operation.
const std::string acquired = "acquired";
const std::string extended = "extended";
const std::string released = "released";

/// A server, and a connection to it that was there before any password.
struct subject
{
    explicit subject(redis_server& of) : server(of), admin(of.client()) {}

    /// Sends a command and does not wait for its reply.
    void start_command(const std::string& line)
    {
        background = connect_unix(server.unix_socket_path());
        const std::string bytes = line + "\r\n";
        const ssize_t sent = ::send(background.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        BOOST_TEST_REQUIRE(sent == static_cast<ssize_t>(bytes.size()));
    }

    /// Waits until PING gets a reply that starts like this.
    void wait_for_ping(const std::string& reply)
    {
        BOOST_TEST_REQUIRE(eventually([&] { return admin.command({"PING"}).starts_with(reply); }));
    }

    /// Waits until the server has read what was sent to it before, on other connections too. It
    /// reads all of them before it answers a second command.
    void catch_up()
    {
        for (int i = 0; i < 2; ++i)
            admin.command({"PING"});
    }

    redis_server& server;
    resp_client admin;
    descriptor background;
};

/// What an operation sees on a node in trouble.
enum class effect
{
    refused,  ///< An error reply, or a rejected node.
    denied,   ///< The key is not ours.
    none,     ///< It works.
};

struct trouble
{
    std::string text;  ///< How the error reply starts.
    std::function<void(subject&)> begin;
    std::function<void(subject&)> end;
    effect on_acquire = effect::refused;
    effect on_extend = effect::refused;
    effect on_release = effect::refused;
    bool on_connecting = false;  ///< The error is the answer to the login: the node is rejected.
    bool with_login = false;
    bool ends_connection = false;  ///< The error shows that the server is no master now.
};

std::filesystem::path dump_of(const subject& of)
{
    return of.server.unix_socket_path().parent_path() / "dump.rdb";
}

void expect_ok(subject& to, const std::vector<std::string>& command)
{
    BOOST_TEST_REQUIRE(to.admin.command(command) == "OK");
}

trouble no_permission()
{
    return {
        .text = "NOPERM",
        .begin = [](subject& on
                 ) { expect_ok(on, {"ACL", "SETUSER", "locks", "-set", "-evalsha", "-eval"}); },
        .end = [](subject& on) { expect_ok(on, {"ACL", "SETUSER", "locks", "+@all"}); },
        .with_login = true,
    };
}

// To prolong and to delete needs no memory.
trouble no_memory()
{
    return {
        .text = "OOM",
        .begin = [](subject& on) { expect_ok(on, {"CONFIG", "SET", "maxmemory", "1"}); },
        .end = [](subject& on) { expect_ok(on, {"CONFIG", "SET", "maxmemory", "0"}); },
        .on_extend = effect::none,
        .on_release = effect::none,
    };
}

trouble failed_save()
{
    return {
        .text = "MISCONF",
        .begin =
            [](subject& on) {
                // A folder in the way of the file, which stops the superuser too.
                std::filesystem::create_directory(dump_of(on));
                expect_ok(on, {"CONFIG", "SET", "save", "3600 1"});
                on.admin.command({"BGSAVE"});
                on.wait_for_ping("-MISCONF");
            },
        .end =
            [](subject& on) {
                std::filesystem::remove(dump_of(on));
                expect_ok(on, {"CONFIG", "SET", "save", ""});
                on.wait_for_ping("PONG");
            },
    };
}

/// Five servers, some of them in trouble, and a client.
struct fixture
{
    explicit fixture(const trouble& what)
    {
        for (redis_server& server : servers)
        {
            subjects.emplace_back(server);
            server.command({"ACL", "SETUSER", "locks", "on", ">secret", "~*", "+@all"});
        }
        client_config config = config_for(servers);
        config.node_timeout = 5s;
        config.log = [this](log_level, std::string_view line) { log.emplace_back(line); };
        for (node_config& node : config.nodes)
        {
            node.username = what.with_login ? "locks" : "";
            node.password = what.with_login ? "secret" : "";
        }
        locks.emplace(context, config);
        locks->wait_for_all_nodes();
    }

    void begin(const trouble& what, std::size_t count)
    {
        for (std::size_t node = 0; node < count; ++node)
        {
            what.begin(subjects[node]);
            if (what.on_connecting)
                BOOST_TEST_REQUIRE(locks->reaches(node, node_state::rejected));
        }
    }

    void end(const trouble& what, std::size_t count)
    {
        for (std::size_t node = 0; node < count; ++node)
        {
            // The others decide, so a slow node may not have met the trouble yet.
            subjects[node].catch_up();
            if (what.ends_connection)
                BOOST_TEST_REQUIRE(locks->reaches(node, node_state::rejected));
            what.end(subjects[node]);
        }
        locks->wait_for_all_nodes();
    }

    /// Acquires a resource and waits until it is on all nodes.
    [[nodiscard]] lease acquire(const std::string& resource)
    {
        lease held = run(context, (*locks)->async_acquire(resource, first_ttl));
        for (subject& each : subjects)
            BOOST_TEST_REQUIRE(run_until(context, [&] { return each.admin.exists(resource); }));
        return held;
    }

    redis_servers servers{node_count};
    std::deque<subject> subjects;
    std::vector<std::string> log;
    loop context;
    std::optional<client_runner> locks;
};

void check_acquire(fixture& f, const trouble& what, std::size_t count, lease& held)
{
    diagnostics report;
    auto outcome = outcome_of(
        f.context,
        (*f.locks)->async_acquire(acquired, {.ttl = first_ttl, .wait = 0ms, .report = &report})
    );
    held = std::move(std::get<1>(outcome));
    const error_code ec = std::get<0>(outcome);

    if (what.on_acquire == effect::none || count < quorum)
        BOOST_TEST(!ec);
    else if (what.on_acquire == effect::denied)
        BOOST_TEST(ec == error::contended);
    else
        BOOST_TEST(ec == error::node_rejected);
    BOOST_TEST(bool(held) == !ec);

    BOOST_TEST_REQUIRE(report.votes.size() == node_count);
    std::size_t refusals = 0;
    for (std::size_t node = 0; node < node_count; ++node)
    {
        const node_vote& from = report.votes[node];
        if (from.vote == vote::refused)
        {
            ++refusals;
            BOOST_TEST(node < count);
            BOOST_TEST(from.text.starts_with(what.text));
            BOOST_TEST(
                from.reason == (what.on_connecting ? reason::rejected : reason::error_reply)
            );
            BOOST_TEST(to_string(report).find("refused: " + what.text) != std::string::npos);
        }
        // An error is never a grant.
        if (what.on_acquire != effect::none && node < count)
            BOOST_TEST((from.vote != vote::granted));
    }
    if (ec == error::node_rejected)
        BOOST_TEST(refusals >= quorum);
}

void check_extend(fixture& f, const trouble& what, std::size_t count, lease& held)
{
    const auto deadline = held.valid_until();

    const auto [ec] = outcome_of(f.context, held.async_extend(second_ttl));

    BOOST_TEST(!held.expired());
    if (what.on_extend == effect::none || count < quorum)
    {
        BOOST_TEST(!ec);
        BOOST_TEST((held.valid_until() > deadline + first_ttl));
    }
    else
    {
        BOOST_TEST(ec == error::node_rejected);
        BOOST_TEST((held.valid_until() == deadline));
    }
}

void check_release(fixture& f, const trouble& what, std::size_t count, lease& held)
{
    const auto outcome = run(f.context, held.async_release());

    if (what.on_release == effect::none || count < quorum)
        BOOST_TEST(outcome == release_outcome::released);
    else
        BOOST_TEST(outcome == release_outcome::unconfirmed);
    BOOST_TEST(held.expired());
}

/// How often a server answered a command with an error, since `CONFIG RESETSTAT`.
std::size_t errors_of(resp_client& server, const std::string& command)
{
    const std::string all = server.command({"INFO", "commandstats"});
    const auto line = all.find("cmdstat_" + command + ":");
    std::size_t sum = 0;
    for (const std::string field : {"rejected_calls=", "failed_calls="})
    {
        if (const auto at = all.find(field, line); line != all.npos && at != all.npos)
            sum += std::stoul(all.substr(at + field.size()));
    }
    return sum;
}

/// Whether the operations met on a node what they were to meet.
void check_errors(subject& on, const trouble& what)
{
    if (what.on_connecting)
        return;  // Nothing was sent.
    const std::size_t scripts =
        (what.on_extend == effect::refused ? 1 : 0) + (what.on_release == effect::refused ? 1 : 0);
    const std::size_t sets = what.on_acquire == effect::refused ? 1 : 0;
    if (what.ends_connection)
    {
        // What comes after the first one is not sent.
        BOOST_TEST(errors_of(on.admin, "set") + errors_of(on.admin, "evalsha") >= 1u);
        return;
    }
    BOOST_TEST(errors_of(on.admin, "set") == sets);
    // An attempt that fails is released too.
    BOOST_TEST(errors_of(on.admin, "evalsha") >= scripts);
}

/// What is on the nodes when the trouble is over.
void check_keys(fixture& f, const trouble& what, std::size_t count, bool got)
{
    // Without a quorum of connected nodes an extension has failed before it is written.
    const bool asks_all = count < quorum || !(what.on_connecting || what.ends_connection);
    for (std::size_t node = 0; node < node_count; ++node)
    {
        BOOST_TEST_CONTEXT("node " << node)
        {
            resp_client& server = f.subjects[node].admin;
            const bool affected = node < count;
            // One that comes back is asked to extend what is held, up to its deadline then.
            const bool comes_back = what.on_connecting || what.ends_connection;
            const auto is_there = [&](const std::string& key) { return server.exists(key); };
            if (!affected || what.on_acquire == effect::refused)
                BOOST_TEST(run_until(f.context, [&] {
                    return is_there(acquired) == (got && (!affected || comes_back));
                }));

            if (affected && comes_back && count < quorum)
                BOOST_TEST(run_until(f.context, [&] { return server.pttl(extended) > 500'000; }));
            else if (affected && what.on_extend != effect::none)
                BOOST_TEST(server.pttl(extended) <= 60'000);
            else if (asks_all)
                BOOST_TEST(run_until(f.context, [&] { return server.pttl(extended) > 500'000; }));

            // A rejected node was not asked. It is, as soon as it is connected again.
            if (!affected || what.on_release == effect::none || what.on_connecting)
                BOOST_TEST(run_until(f.context, [&] { return !is_there(released); }));
            else
                BOOST_TEST(server.pttl(released) <= 60'000);
        }
    }
}

void check_all_cells(const trouble& what)
{
    fixture f(what);
    for (const std::size_t count : {std::size_t(1), quorum - 1, quorum, node_count})
    {
        BOOST_TEST_CONTEXT(what.text << " on " << count << " of " << node_count << " nodes")
        {
            lease to_extend = f.acquire(extended);
            lease to_release = f.acquire(released);
            lease got;
            for (subject& each : f.subjects)
                each.admin.command({"CONFIG", "RESETSTAT"});
            f.begin(what, count);

            check_acquire(f, what, count, got);
            check_extend(f, what, count, to_extend);
            check_release(f, what, count, to_release);

            f.end(what, count);
            for (std::size_t node = 0; node < count; ++node)
                check_errors(f.subjects[node], what);
            check_keys(f, what, count, bool(got));
            run(f.context, to_extend.async_release());
            if (got)
                run(f.context, got.async_release());
            for (subject& each : f.subjects)
                each.admin.command({"FLUSHALL"});
        }
    }
}

/// What the log has about commands that are refused.
std::vector<std::string> refusals_told(const fixture& f)
{
    std::vector<std::string> told;
    std::ranges::copy_if(f.log, std::back_inserter(told), [](const std::string& line) {
        return line.find(" refuses ") != line.npos;
    });
    return told;
}

void acquire_and_release(fixture& f, const std::string& resource)
{
    lease held = run(f.context, (*f.locks)->async_acquire(resource, first_ttl));
    run(f.context, held.async_release());
}

void check_told(const trouble& what)
{
    fixture f(what);
    f.begin(what, 1);
    for (int i = 0; i < 10; ++i)
        acquire_and_release(f, acquired);
    const auto words = [&f] { return f.locks->status(0).refuses; };
    BOOST_TEST(run_until(f.context, [&] { return words().starts_with(what.text); }));
    BOOST_TEST(f.locks->status(0).state == node_state::ready);
    BOOST_TEST_REQUIRE(refusals_told(f).size() == 1u);
    BOOST_TEST(refusals_told(f)[0].ends_with(words()));

    f.end(what, 1);
    BOOST_TEST(run_until(f.context, [&] {
        acquire_and_release(f, acquired);
        return words().empty();
    }));
    BOOST_TEST(refusals_told(f).size() == 2u);
}

}  // namespace

// Only at the login, that is, after a reconnection: a connection that was made without a password
// stays logged in.
BOOST_AUTO_TEST_CASE(a_node_that_wants_a_password_is_rejected)
{
    check_all_cells({
        .text = "NOAUTH",
        .begin =
            [](subject& on) {
                expect_ok(on, {"CONFIG", "SET", "requirepass", "secret"});
                on.admin.command({"CLIENT", "KILL", "TYPE", "normal"});
            },
        .end = [](subject& on) { expect_ok(on, {"CONFIG", "SET", "requirepass", ""}); },
        .on_connecting = true,
    });
}

// Only at the login, like NOAUTH.
BOOST_AUTO_TEST_CASE(a_node_that_does_not_take_our_password_is_rejected)
{
    check_all_cells({
        .text = "WRONGPASS",
        .begin =
            [](subject& on) {
                expect_ok(on, {"ACL", "SETUSER", "locks", "resetpass", ">changed"});
                on.admin.command({"CLIENT", "KILL", "USER", "locks"});
            },
        .end = [](subject& on
               ) { expect_ok(on, {"ACL", "SETUSER", "locks", "resetpass", ">secret"}); },
        .on_connecting = true,
        .with_login = true,
    });
}

BOOST_AUTO_TEST_CASE(a_command_that_is_not_permitted_is_refused)
{
    check_all_cells(no_permission());
}

BOOST_AUTO_TEST_CASE(a_key_that_is_not_permitted_is_refused)
{
    check_all_cells({
        .text = "NOPERM",
        .begin = [](subject& on
                 ) { expect_ok(on, {"ACL", "SETUSER", "locks", "resetkeys", "~another:*"}); },
        .end = [](subject& on) { expect_ok(on, {"ACL", "SETUSER", "locks", "allkeys"}); },
        .with_login = true,
    });
}

BOOST_AUTO_TEST_CASE(a_node_that_became_a_replica_refuses)
{
    const loopback_port nobody;
    check_all_cells({
        .text = "READONLY",
        .begin =
            [&nobody](subject& on) {
                const std::string port = std::to_string(nobody.number());
                expect_ok(on, {"REPLICAOF", "127.0.0.1", port});
            },
        .end = [](subject& on) { expect_ok(on, {"REPLICAOF", "NO", "ONE"}); },
        .ends_connection = true,
    });
}

BOOST_AUTO_TEST_CASE(a_node_without_memory_refuses_to_acquire_only)
{
    check_all_cells(no_memory());
}

BOOST_AUTO_TEST_CASE(a_node_that_loads_its_data_refuses)
{
    check_all_cells({
        .text = "LOADING",
        .begin =
            [](subject& on) {
                // Slowly, and looking at its connections all the time.
                expect_ok(on, {"CONFIG", "SET", "rdbcompression", "no"});
                expect_ok(on, {"CONFIG", "SET", "loading-process-events-interval-bytes", "1024"});
                expect_ok(on, {"DEBUG", "POPULATE", "10000", "filler", "500"});
                expect_ok(on, {"CONFIG", "SET", "key-load-delay", "2000"});
                on.start_command("DEBUG RELOAD");
                on.wait_for_ping("-LOADING");
            },
        .end =
            [](subject& on) {
                // It was loading until now: the operations had no other answer.
                BOOST_TEST(on.admin.command({"PING"}).starts_with("-LOADING"));
                expect_ok(on, {"CONFIG", "SET", "key-load-delay", "0"});
                on.wait_for_ping("PONG");
            },
        .ends_connection = true,
    });
}

BOOST_AUTO_TEST_CASE(a_node_that_cannot_save_refuses)
{
    check_all_cells(failed_save());
}

BOOST_AUTO_TEST_CASE(a_key_of_another_type_denies_and_refuses)
{
    check_all_cells({
        .text = "WRONGTYPE",
        .begin =
            [](subject& on) {
                for (const std::string& key : {acquired, extended, released})
                {
                    on.admin.command({"DEL", key});
                    on.admin.command({"HSET", key, "field", "value"});
                    on.admin.command({"PEXPIRE", key, "60000"});
                }
            },
        .end =
            [](subject& on) {
                // Whatever we did, it was not ours.
                for (const std::string& key : {acquired, extended, released})
                    BOOST_TEST(on.admin.command({"HGET", key, "field"}) == "value");
            },
        .on_acquire = effect::denied,
    });
}

BOOST_AUTO_TEST_CASE(a_node_that_runs_a_long_script_refuses)
{
    check_all_cells({
        .text = "BUSY",
        .begin =
            [](subject& on) {
                expect_ok(on, {"CONFIG", "SET", "lua-time-limit", "1"});
                on.start_command("EVAL \"while true do end\" 0");
                on.wait_for_ping("-BUSY");
            },
        .end =
            [](subject& on) {
                expect_ok(on, {"SCRIPT", "KILL"});
                on.wait_for_ping("PONG");
            },
    });
}

// The command is permitted, what the script does is not. Versions of Redis differ in the words.
BOOST_AUTO_TEST_CASE(a_script_that_may_not_do_its_work_is_refused)
{
    trouble what{
        .text = "",
        .begin = [](subject& on
                 ) { expect_ok(on, {"ACL", "SETUSER", "locks", "-pexpire", "-del"}); },
        .end = [](subject& on) { expect_ok(on, {"ACL", "SETUSER", "locks", "+@all"}); },
        .on_acquire = effect::none,
        .with_login = true,
    };
    check_all_cells(what);
}

BOOST_AUTO_TEST_CASE(a_node_that_refuses_commands_is_told_once)
{
    for (const trouble& what : {no_permission(), no_memory(), failed_save()})
    {
        BOOST_TEST_CONTEXT(what.text)
        {
            check_told(what);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_node_that_refuses_some_keys_only_is_told_once)
{
    const trouble what{
        .text = "NOPERM",
        .begin = [](subject& on
                 ) { expect_ok(on, {"ACL", "SETUSER", "locks", "resetkeys", "~allowed"}); },
        .end = [](subject&) {},
        .with_login = true,
    };
    fixture f(what);
    f.begin(what, 1);

    for (int i = 0; i < 20; ++i)
    {
        acquire_and_release(f, "forbidden");
        acquire_and_release(f, "allowed");
    }

    BOOST_TEST(run_until(f.context, [&] { return !f.locks->status(0).refuses.empty(); }));
    BOOST_TEST(refusals_told(f).size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
