// What the library does on nodes that work.

#include <redlock/client.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/initialize.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/client_runner.hpp"
#include "support/contains.hpp"
#include "support/loop.hpp"
#include "support/needs.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"

BOOST_AUTO_TEST_SUITE(
    test_basics,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

constexpr const char* resource = "orders:42";

/// Some nodes, a context, and a client that is connected to all of them.
struct fixture
{
    explicit fixture(std::size_t count, std::string prefix = {})
        : servers(count), locks(context, with_prefix(config_for(servers), std::move(prefix)))
    {
        locks.wait_for_all_nodes();
    }

    static client_config with_prefix(client_config config, std::string prefix)
    {
        config.key_prefix = std::move(prefix);
        return config;
    }

    /// Waits until the key exists on every node. The last ones get it after the quorum.
    [[nodiscard]] bool is_on_all_nodes(const std::string& key)
    {
        return run_until(context, [&] {
            return std::ranges::all_of(servers, [&](redis_server& server) {
                return server.client().exists(key);
            });
        });
    }

    /// Waits until the key exists on no node.
    [[nodiscard]] bool is_on_no_node(const std::string& key)
    {
        return run_until(context, [&] {
            return std::ranges::none_of(servers, [&](redis_server& server) {
                return server.client().exists(key);
            });
        });
    }

    /// Does on every node what another program would do there.
    void command(const std::vector<std::string>& arguments)
    {
        for (redis_server& server : servers)
            server.command(arguments);
    }

    redis_servers servers;
    loop context;
    client_runner locks;
};

bool is_attempt_id(const std::string& value)
{
    return value.size() == 40 && value.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Whether the sockets of this process that are connected to `port` send without delay. Empty if
/// there is none.
std::optional<bool> sends_without_delay(std::uint16_t port)
{
    std::optional<bool> result;
    for (int fd = 0; fd < 1024; ++fd)
    {
        sockaddr_in peer{};
        socklen_t size = sizeof peer;
        if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0)
            continue;
        if (peer.sin_family != AF_INET || ntohs(peer.sin_port) != port)
            continue;
        int on = 0;
        size = sizeof on;
        ::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &size);
        result = result.value_or(true) && on != 0;
    }
    return result;
}

asio::awaitable<void> acquire_and_release(client& locks, std::string name)
{
    lease held = co_await locks.async_acquire(name, 10s, asio::use_awaitable);
    co_await held.async_release(asio::use_awaitable);
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_acquired_lease_is_one_key_with_our_id_and_the_ttl_on_every_node)
{
    for (const std::size_t count : {1, 2, 3, 5})
    {
        BOOST_TEST_CONTEXT(count << " nodes")
        {
            fixture f(count, "it:");

            const lease held = run(f.context, f.locks->async_acquire(resource, 5s));

            BOOST_TEST(!held.expired());
            BOOST_TEST(held.resource() == resource);
            BOOST_TEST(held.remaining() <= 5s - 50ms - 2ms);
            BOOST_TEST_REQUIRE(f.is_on_all_nodes("it:orders:42"));
            const auto id = f.servers[0].client().get("it:orders:42").value();
            BOOST_TEST(is_attempt_id(id));
            for (redis_server& server : f.servers)
            {
                BOOST_TEST(server.command({"KEYS", "*"}) == "it:orders:42");
                BOOST_TEST(server.client().get("it:orders:42").value() == id);
                BOOST_TEST(server.client().pttl("it:orders:42") > 0);
                BOOST_TEST(server.client().pttl("it:orders:42") <= 5000);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(an_extension_prolongs_the_key_on_every_node)
{
    for (const std::size_t count : {1, 2, 3, 5})
    {
        BOOST_TEST_CONTEXT(count << " nodes")
        {
            fixture f(count);
            lease held = run(f.context, f.locks->async_acquire(resource, 5s));
            const auto before = held.valid_until();

            run(f.context, held.async_extend(20s));

            BOOST_TEST((held.valid_until() > before + 10s));
            for (redis_server& server : f.servers)
            {
                BOOST_TEST(run_until(f.context, [&] {
                    return server.client().pttl(resource) > 15'000;
                }));
                BOOST_TEST(server.client().pttl(resource) <= 20'000);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_release_deletes_the_key_on_every_node)
{
    for (const std::size_t count : {1, 2, 3, 5})
    {
        BOOST_TEST_CONTEXT(count << " nodes")
        {
            fixture f(count);
            lease held = run(f.context, f.locks->async_acquire(resource, 10s));

            const auto outcome = run(f.context, held.async_release());

            BOOST_TEST(outcome == release_outcome::released);
            BOOST_TEST(held.expired());
            BOOST_TEST(f.is_on_no_node(resource));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_resource_is_granted_to_one_client_at_a_time)
{
    for (const std::size_t count : {1, 2, 3, 5})
    {
        BOOST_TEST_CONTEXT(count << " nodes")
        {
            fixture f(count);
            client_runner other(f.context, config_for(f.servers));
            other.wait_for_all_nodes();
            lease held = run(f.context, f.locks->async_try_acquire(resource, 10s));
            BOOST_TEST_REQUIRE(bool(held));

            const lease denied = run(f.context, other->async_try_acquire(resource, 10s));
            const auto [ec, none] =
                outcome_of(f.context, other->async_acquire(resource, {.ttl = 10s, .wait = 0ms}));

            BOOST_TEST(!denied);
            BOOST_TEST(ec == error::contended);
            BOOST_TEST(!none);
            run(f.context, held.async_release());
            BOOST_TEST(bool(run(f.context, other->async_acquire(resource, 10s))));
        }
    }
}

BOOST_AUTO_TEST_CASE(any_bytes_make_a_resource)
{
    fixture f(3, std::string("\0\r\n", 3));
    std::vector<std::string> names{
        std::string(1, '\0'),
        "\r\n",
        "*1\r\n$8\r\nFLUSHALL\r\n",
        "$-1\r\n",
        "{tag} with 'quotes' and \"more\"",
        "\xff\xfe\x80",
        "\xc3\xa9\xe2\x82\xac",
        std::string(512, 'x'),
    };
    std::string every_byte;
    for (int byte = 0; byte < 256; ++byte)
        every_byte += static_cast<char>(byte);
    names.push_back(every_byte);
    f.command({"SET", "witness", "1"});

    for (const std::string& name : names)
    {
        const std::string key = std::string("\0\r\n", 3) + name;

        lease held = run(f.context, f.locks->async_acquire(name, 10s));
        BOOST_TEST((held.resource() == name));
        BOOST_TEST(f.is_on_all_nodes(key));
        run(f.context, held.async_extend(20s));
        BOOST_TEST(run(f.context, held.async_release()) == release_outcome::released);

        BOOST_TEST(f.is_on_no_node(key));
    }
    BOOST_TEST(f.is_on_all_nodes("witness"));
}

BOOST_AUTO_TEST_CASE(a_key_set_by_another_program_excludes_us)
{
    fixture f(3);
    f.command({"SET", resource, "other", "NX", "PX", "60000"});

    const lease denied = run(f.context, f.locks->async_try_acquire(resource, 10s));

    BOOST_TEST(!denied);
    for (redis_server& server : f.servers)
    {
        BOOST_TEST(server.client().get(resource).value() == "other");
        BOOST_TEST(server.client().pttl(resource) > 50'000);
    }
}

BOOST_AUTO_TEST_CASE(our_key_excludes_another_program)
{
    fixture f(3);
    const lease held = run(f.context, f.locks->async_acquire(resource, 10s));
    BOOST_TEST_REQUIRE(f.is_on_all_nodes(resource));

    for (redis_server& server : f.servers)
        BOOST_TEST(server.command({"SET", resource, "other", "NX", "PX", "60000"}) == "(nil)");
}

BOOST_AUTO_TEST_CASE(a_minority_that_another_program_holds_does_not_exclude_us)
{
    fixture f(5);
    for (const std::size_t node : {0, 1})
        f.servers[node].command({"SET", resource, "other", "PX", "60000"});

    lease held = run(f.context, f.locks->async_try_acquire(resource, 10s));
    BOOST_TEST_REQUIRE(bool(held));
    run(f.context, held.async_extend(20s));
    BOOST_TEST(run(f.context, held.async_release()) == release_outcome::released);

    for (const std::size_t node : {0, 1})
        BOOST_TEST(f.servers[node].client().get(resource).value() == "other");
    for (const std::size_t node : {2, 3, 4})
    {
        redis_server& server = f.servers[node];
        BOOST_TEST(run_until(f.context, [&] { return !server.client().exists(resource); }));
    }
}

BOOST_AUTO_TEST_CASE(a_denied_attempt_leaves_no_key_on_the_nodes_that_granted)
{
    fixture f(5);
    for (const std::size_t node : {0, 1, 2})
        f.servers[node].command({"SET", resource, "other", "PX", "60000"});

    BOOST_TEST(!run(f.context, f.locks->async_try_acquire(resource, 10s)));

    for (const std::size_t node : {3, 4})
    {
        redis_server& server = f.servers[node];
        BOOST_TEST(run_until(f.context, [&] { return !server.client().exists(resource); }, 2s));
    }
}

BOOST_AUTO_TEST_CASE(a_denial_tells_how_long_the_holder_has_left)
{
    fixture f(5);
    for (const std::size_t node : {0, 1, 2})
        f.servers[node].command({"SET", resource, "other", "PX", "60000"});
    f.servers[0].command({"PERSIST", resource});
    f.servers[1].command({"PEXPIRE", resource, "900"});
    diagnostics report;

    const lease denied =
        run(f.context, f.locks->async_try_acquire(resource, {.ttl = 10s, .report = &report}));

    BOOST_TEST(!denied);
    BOOST_TEST(report.quorum == 3u);
    BOOST_TEST(report.rounds == 1u);
    BOOST_TEST_REQUIRE(report.votes.size() == 5u);
    for (const std::size_t node : {0, 1, 2})
    {
        BOOST_TEST((report.votes[node].vote == vote::denied));
        BOOST_TEST(report.votes[node].reason == reason::held);
        BOOST_TEST_REQUIRE(report.votes[node].held_for.has_value());
        BOOST_TEST(report.votes[node].round_trip.has_value());
    }
    BOOST_TEST((*report.votes[0].held_for == forever));
    BOOST_TEST((*report.votes[1].held_for <= 900ms));
    BOOST_TEST((*report.votes[2].held_for > 50s));
    BOOST_TEST((*report.votes[2].held_for <= 60s));
    const std::string text = to_string(report);
    BOOST_TEST(contains(text, "need 3 of 5: 127.0.0.1:"));
    BOOST_TEST(contains(text, "held by a key without a ttl"));
    BOOST_TEST(contains(text, "held 59.") != contains(text, "held 60.0s left"));
}

BOOST_AUTO_TEST_CASE(a_grant_is_reported_with_round_trips)
{
    fixture f(3);
    diagnostics report;

    const lease held =
        run(f.context, f.locks->async_acquire(resource, {.ttl = 10s, .report = &report}));

    BOOST_TEST(report.quorum == 2u);
    BOOST_TEST(report.rounds == 1u);
    const auto granted = std::ranges::count_if(report.votes, [](const node_vote& each) {
        return each.vote == vote::granted && each.round_trip.has_value();
    });
    BOOST_TEST(granted >= 2);
}

BOOST_AUTO_TEST_CASE(a_destroyed_lease_is_released)
{
    fixture f(3);
    {
        const lease held = run(f.context, f.locks->async_acquire(resource, 60s));
        BOOST_TEST_REQUIRE(f.is_on_all_nodes(resource));
    }

    BOOST_TEST(f.is_on_no_node(resource));
}

BOOST_AUTO_TEST_CASE(an_overwritten_lease_is_released)
{
    fixture f(3);
    lease held = run(f.context, f.locks->async_acquire("first", 60s));

    held = run(f.context, f.locks->async_acquire("second", 60s));

    BOOST_TEST(f.is_on_no_node("first"));
    BOOST_TEST(f.is_on_all_nodes("second"));
}

BOOST_AUTO_TEST_CASE(an_abandoned_lease_keeps_its_keys)
{
    fixture f(3);
    lease held = run(f.context, f.locks->async_acquire(resource, 60s));

    held.abandon();
    lease witness = run(f.context, f.locks->async_acquire("witness", 60s));
    run(f.context, witness.async_release());

    BOOST_TEST(!held);
    BOOST_TEST(f.is_on_all_nodes(resource));
}

BOOST_AUTO_TEST_CASE(a_waiting_client_gets_the_resource_soon_after_its_release)
{
    fixture f(5);
    client_runner other(f.context, config_for(f.servers));
    other.wait_for_all_nodes();
    lease held = run(f.context, f.locks->async_acquire(resource, 60s));
    std::optional<lease> got;
    other->async_acquire(resource, {.ttl = 10s, .wait = 30s}, [&got](error_code ec, lease next) {
        BOOST_TEST(!ec);
        got = std::move(next);
    });
    // It has asked and was denied at least once.
    BOOST_TEST(!run_until(f.context, [&got] { return got.has_value(); }, 100ms));

    run(f.context, held.async_release());

    // A retry is at most 50 ms away in these tests.
    BOOST_TEST(run_until(f.context, [&got] { return got.has_value(); }, 2s));
}

BOOST_AUTO_TEST_CASE(a_waiting_client_gets_the_resource_when_its_ttl_ends_and_not_before)
{
    fixture f(5);
    client_runner other(f.context, config_for(f.servers));
    other.wait_for_all_nodes();
    lease held = run(f.context, f.locks->async_acquire(resource, {.ttl = 1100ms}));
    const auto deadline = held.valid_until();
    held.abandon();

    const lease next = run(f.context, other->async_acquire(resource, {.ttl = 10s, .wait = 20s}));

    BOOST_TEST((std::chrono::steady_clock::now() >= deadline));
    BOOST_TEST((next.valid_until() < deadline + 10s + 5s));
}

BOOST_AUTO_TEST_CASE(waiting_ends_after_its_limit_as_contended)
{
    fixture f(3);
    f.command({"SET", resource, "other"});
    const auto start = std::chrono::steady_clock::now();

    const auto [ec, none] =
        outcome_of(f.context, f.locks->async_acquire(resource, {.ttl = 10s, .wait = 300ms}));

    BOOST_TEST(ec == error::contended);
    BOOST_TEST(ec == condition::not_acquired);
    BOOST_TEST((std::chrono::steady_clock::now() - start < 5s));
}

BOOST_AUTO_TEST_CASE(an_extension_never_shortens_a_key)
{
    fixture f(3);
    lease held = run(f.context, f.locks->async_acquire(resource, 60s));
    BOOST_TEST_REQUIRE(f.is_on_all_nodes(resource));
    const auto before = held.valid_until();

    run(f.context, held.async_extend(5s));

    BOOST_TEST((held.valid_until() == before));
    for (redis_server& server : f.servers)
        BOOST_TEST(server.client().pttl(resource) > 50'000);
}

BOOST_AUTO_TEST_CASE(an_extension_sets_keys_again_that_are_gone)
{
    fixture f(5);
    lease held = run(f.context, f.locks->async_acquire(resource, 10s));
    BOOST_TEST_REQUIRE(f.is_on_all_nodes(resource));
    for (const std::size_t node : {0, 1})
        f.servers[node].command({"DEL", resource});

    run(f.context, held.async_extend(20s));
    BOOST_TEST(f.is_on_all_nodes(resource));
    BOOST_TEST(run_until(f.context, [&] { return held.votes() == 5; }));

    f.command({"DEL", resource});
    run(f.context, held.async_extend(20s));
    BOOST_TEST(f.is_on_all_nodes(resource));
    run(f.context, held.async_release());
    BOOST_TEST(f.is_on_no_node(resource));
}

BOOST_AUTO_TEST_CASE(an_extension_leaves_the_key_of_the_next_holder_alone)
{
    fixture f(3);
    lease held = run(f.context, f.locks->async_acquire(resource, 10s));
    BOOST_TEST_REQUIRE(f.is_on_all_nodes(resource));
    f.command({"SET", resource, "other", "PX", "5000"});

    const auto [ec] = outcome_of(f.context, held.async_extend(60s));

    BOOST_TEST(ec == error::lease_lost);
    for (redis_server& server : f.servers)
        BOOST_TEST(server.client().pttl(resource) <= 5000);
}

BOOST_AUTO_TEST_CASE(a_release_leaves_the_key_of_the_next_holder_alone)
{
    fixture f(3);
    lease held = run(f.context, f.locks->async_acquire(resource, 10s));
    BOOST_TEST_REQUIRE(f.is_on_all_nodes(resource));
    f.command({"SET", resource, "other", "PX", "60000"});

    BOOST_TEST(run(f.context, held.async_release()) == release_outcome::already_gone);

    for (redis_server& server : f.servers)
        BOOST_TEST(server.client().get(resource).value() == "other");
}

BOOST_AUTO_TEST_CASE(a_lease_that_expired_is_released_without_an_error)
{
    fixture f(3);
    lease held = run(f.context, f.locks->async_acquire(resource, {.ttl = 1050ms}));
    BOOST_TEST_REQUIRE(f.is_on_no_node(resource));

    BOOST_TEST(held.expired());
    BOOST_TEST(held.remaining() == 0ms);
    BOOST_TEST(run(f.context, held.async_release()) == release_outcome::already_gone);
}

BOOST_AUTO_TEST_CASE(a_lease_is_extended_past_its_first_deadline)
{
    fixture f(3);
    lease held = run(f.context, f.locks->async_acquire(resource, {.ttl = 1100ms}));
    const auto first_deadline = held.valid_until();

    while (std::chrono::steady_clock::now() < first_deadline + 300ms)
        run(f.context, held.async_extend(1100ms));

    BOOST_TEST(!held.expired());
    BOOST_TEST(f.is_on_all_nodes(resource));
}

BOOST_AUTO_TEST_CASE(a_thousand_operations_at_once_leave_nothing_behind)
{
    fixture f(5);
    int done = 0;
    for (int i = 0; i < 1000; ++i)
    {
        auto work = acquire_and_release(*f.locks.operator->(), "task:" + std::to_string(i));
        asio::co_spawn(f.context, std::move(work), [&done](std::exception_ptr failure) {
            BOOST_TEST(!failure);
            ++done;
        });
    }

    BOOST_TEST(run_until(f.context, [&done] { return done == 1000; }, 30s));

    for (redis_server& server : f.servers)
    {
        BOOST_TEST(run_until(f.context, [&] { return server.command({"DBSIZE"}) == "(integer) 0"; })
        );
    }
}

BOOST_AUTO_TEST_CASE(ten_owners_of_one_resource_take_turns)
{
    fixture f(3);
    int done = 0;
    for (int i = 0; i < 10; ++i)
    {
        auto work = acquire_and_release(*f.locks.operator->(), resource);
        asio::co_spawn(f.context, std::move(work), [&done](std::exception_ptr failure) {
            BOOST_TEST(!failure);
            ++done;
        });
    }

    BOOST_TEST(run_until(f.context, [&done] { return done == 10; }, 30s));

    BOOST_TEST(f.is_on_no_node(resource));
}

BOOST_AUTO_TEST_CASE(every_connection_sends_without_delay)
{
    fixture f(3);

    for (redis_server& server : f.servers)
        BOOST_TEST((sends_without_delay(server.port()) == true));
}

BOOST_AUTO_TEST_CASE(the_database_of_the_url_is_used)
{
    redis_server server;
    loop context;
    client_runner locks(context, config_for({server.url() + "/3"}));

    lease held = run(context, locks->async_acquire(resource, 10s));

    resp_client third = server.client();
    third.command({"SELECT", "3"});
    BOOST_TEST(third.exists(resource));
    BOOST_TEST(!server.client().exists(resource));
    run(context, held.async_release());
    BOOST_TEST(!third.exists(resource));
}

BOOST_AUTO_TEST_CASE(a_database_that_does_not_exist_is_a_refusal_with_the_servers_words)
{
    redis_server server;
    loop context;
    client_runner locks(context, config_for({server.url() + "/99"}));

    BOOST_TEST(locks.reaches(0, node_state::rejected));
    BOOST_TEST(contains(locks.status(0).because, "DB index is out of range"));
    const auto [ec, none] = outcome_of(context, locks->async_try_acquire(resource, 10s));
    BOOST_TEST(ec == error::node_rejected);
    BOOST_TEST(server.command({"KEYS", "*"}) == "(empty array)");
}

BOOST_AUTO_TEST_CASE(unix_sockets_work_like_ports)
{
    redis_servers servers(3);
    std::vector<std::string> urls;
    for (redis_server& server : servers)
        urls.push_back("unix://" + server.unix_socket_path().native());
    loop context;
    client_runner locks(context, config_for(urls));
    locks.wait_for_all_nodes();

    lease held = run(context, locks->async_acquire(resource, 10s));
    run(context, held.async_extend(20s));

    BOOST_TEST(locks.status(0).node == "unix:" + servers[0].unix_socket_path().native());
    BOOST_TEST(run_until(context, [&] { return servers[0].client().pttl(resource) > 10'000; }));
    BOOST_TEST(run(context, held.async_release()) == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(a_host_name_works_like_an_address)
{
    redis_server server;
    loop context;
    const std::string url = "redis://localhost:" + std::to_string(server.port());
    client_runner locks(context, config_for({url}));

    const lease held = run(context, locks->async_acquire(resource, 10s));

    BOOST_TEST(server.client().exists(resource));
}

BOOST_AUTO_TEST_CASE(a_list_of_urls_makes_a_client)
{
    redis_servers servers(3);
    const std::string urls =
        servers[0].url() + ", " + servers[1].url() + ", " + servers[2].url() + "/0";
    loop context;
    client_config config;
    config.nodes = parse_nodes(urls);
    run(context, async_initialize_nodes(context, config));

    client locks(context, urls);
    locks.async_run(asio::detached);
    const lease held = run(context, locks.async_acquire(resource, 10s));

    BOOST_TEST(locks.nodes().size() == 3u);
    BOOST_TEST(held.fence() > fencing_token());
    run(context, locks.async_close());
}

BOOST_AUTO_TEST_CASE(the_connection_has_a_name)
{
    fixture f(1);

    const std::string process = ':' + std::to_string(::getpid()) + ' ';
    BOOST_TEST(contains(f.servers[0].command({"CLIENT", "LIST"}), process));
}

BOOST_AUTO_TEST_SUITE_END()
