// Nodes whose data is lost or replaced under an open connection: what the marker tells, and what
// it does not. docs/safety.md has the same list.

#include <redlock/client.hpp>
#include <redlock/initialize.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "support/client_runner.hpp"
#include "support/contains.hpp"
#include "support/eventually.hpp"
#include "support/guarded_nodes.hpp"
#include "support/needs.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_proxy.hpp"

BOOST_AUTO_TEST_SUITE(
    test_replaced_data,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

using words = std::vector<std::string>;

constexpr std::size_t third = 2;

/// Replicas are synchronised at once.
const redis_server_options quick_replication{
    .extra = {"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"},
};

std::string port_of(const redis_server& server)
{
    return std::to_string(server.port());
}

void expect(const redis_server& server, const words& command, const std::string& reply = "OK")
{
    BOOST_TEST_REQUIRE(server.command(command) == reply);
}

bool replication_shows(const redis_server& server, const char* line)
{
    return contains(server.command({"INFO", "replication"}), line);
}

/// Makes a server a replica, and waits until it has the data of its master.
void synchronise(const redis_server& server, const redis_server& master)
{
    expect(server, {"REPLICAOF", "127.0.0.1", port_of(master)});
    BOOST_TEST_REQUIRE(eventually([&] {
        return replication_shows(server, "master_link_status:up") &&
               replication_shows(master, ("port=" + port_of(server) + ",state=online").c_str());
    }));
}

void promote(const redis_server& server)
{
    expect(server, {"REPLICAOF", "NO", "ONE"});
}

/// Hands the role of a master over to its replica, and waits until that has it.
void fail_over(const redis_server& master, const redis_server& replica)
{
    // A replica that has just connected is not online at once.
    const words hand_over{"FAILOVER", "TO", "127.0.0.1", port_of(replica)};
    BOOST_TEST_REQUIRE(eventually([&] { return master.command(hand_over) == "OK"; }));
    BOOST_TEST_REQUIRE(eventually([&] { return replication_shows(replica, "role:master"); }));
}

/// Three nodes; a client that reaches two of them, and one that reaches all.
struct story
{
    explicit story(milliseconds ttl_max = 5s)
    {
        for (redis_server& each : servers)
            proxies.emplace_back(each.port());
        config = guarded_config(servers);
        config.ttl_max = ttl_max;
        run(context, async_initialize_nodes(context, config));
        unreachable.refuse();

        first.emplace(context, reaching({proxies[0].url(), proxies[1].url(), unreachable.url()}));
        second.emplace(context, reaching({proxies[0].url(), proxies[1].url(), proxies[2].url()}));
        BOOST_TEST_REQUIRE(first->reaches(2));
        second->wait_for_all_nodes();
    }

    [[nodiscard]] client_config reaching(const words& urls) const
    {
        client_config made = config;
        for (std::size_t node = 0; node < urls.size(); ++node)
            made.nodes[node] = parse_node(urls[node]);
        return made;
    }

    redis_server& other() { return others.emplace_back(quick_replication); }

    asio::io_context context{1};
    redis_servers servers{3, quick_replication};
    std::deque<tcp_proxy> proxies;
    tcp_proxy unreachable{servers[third].port()};
    client_config config;
    std::optional<client_runner> first;
    std::optional<client_runner> second;
    std::deque<redis_server> others;     ///< That a loss needs.
    std::deque<tcp_proxy> replications;  ///< On the way from a node to its replica.
};

/// What becomes of a grant.
enum class finding
{
    noticed,    ///< It is lost, and the node does not vote.
    unnoticed,  ///< It is lost, and the node grants the resource again.
    kept,
};

/// A way to change the data of a node under open connections.
struct change
{
    const char* what;
    finding expected;
    void (*inflict)(story& in, std::size_t node);
    void (*prepare)(story& in, std::size_t node) = [](story&, std::size_t) {};
};

constexpr const char* lock_key = "orders:42";

std::filesystem::path file_of(const redis_server& server)
{
    return server.unix_socket_path().parent_path() / "dump.rdb";
}

void flush(story& in, std::size_t node)
{
    expect(in.servers[node], {"FLUSHALL"});
}

const change changes[] = {
    {
        "REPLICAOF another node, REPLICAOF NO ONE",
        finding::noticed,
        [](story& in, std::size_t node) {
            synchronise(in.servers[node], in.servers[third]);
            promote(in.servers[node]);
        },
    },
    {
        "REPLICAOF another node, which hands over by FAILOVER",
        finding::noticed,
        [](story& in, std::size_t node) {
            synchronise(in.servers[node], in.servers[third]);
            fail_over(in.servers[third], in.servers[node]);
            promote(in.servers[third]);
        },
    },
    {
        "REPLICAOF an empty server, REPLICAOF NO ONE",
        finding::noticed,
        [](story& in, std::size_t node) {
            synchronise(in.servers[node], in.other());
            promote(in.servers[node]);
        },
    },
    {
        "REPLICAOF a copy that was detached before, REPLICAOF NO ONE",
        finding::unnoticed,
        [](story& in, std::size_t node) {
            synchronise(in.servers[node], in.others.at(node));
            promote(in.servers[node]);
        },
        [](story& in, std::size_t node) {
            redis_server& copy = in.other();
            synchronise(copy, in.servers[node]);
            promote(copy);
        },
    },
    {
        "FAILOVER to a replica and back",
        finding::kept,
        [](story& in, std::size_t node) {
            fail_over(in.servers[node], in.others.at(node));
            fail_over(in.others.at(node), in.servers[node]);
        },
        [](story& in, std::size_t node) { synchronise(in.other(), in.servers[node]); },
    },
    {
        "FAILOVER FORCE to a replica that lags, and back",
        finding::unnoticed,
        [](story& in, std::size_t node) {
            redis_server& replica = in.others.at(node);
            expect(
                in.servers[node],
                {"FAILOVER", "TO", "127.0.0.1", port_of(replica), "FORCE", "TIMEOUT", "50"}
            );
            BOOST_TEST_REQUIRE(eventually([&] {
                return replication_shows(replica, "role:master") &&
                       replication_shows(in.servers[node], "master_link_status:up");
            }));
            fail_over(replica, in.servers[node]);
        },
        [](story& in, std::size_t node) {
            redis_server& replica = in.other();
            tcp_proxy& way = in.replications.emplace_back(in.servers[node].port());
            expect(replica, {"CONFIG", "SET", "replica-announce-port", port_of(replica)});
            expect(replica, {"REPLICAOF", "127.0.0.1", std::to_string(way.port())});
            BOOST_TEST_REQUIRE(eventually([&] {
                return replication_shows(
                    in.servers[node], ("port=" + port_of(replica) + ",state=online").c_str()
                );
            }));
            way.drop_replies();
        },
    },
    {"FLUSHALL", finding::noticed, flush},
    {
        "FLUSHALL, and the marker is set again",
        finding::unnoticed,
        [](story& in, std::size_t node) {
            const std::string marker = in.servers[node].command({"GET", marker_key});
            flush(in, node);
            expect(in.servers[node], {"SET", marker_key, marker});
        },
    },
    {
        "FLUSHALL, and MIGRATE of another node's marker",
        finding::noticed,
        [](story& in, std::size_t node) {
            flush(in, node);
            expect(
                in.servers[third],
                {"MIGRATE",
                 "127.0.0.1",
                 port_of(in.servers[node]),
                 marker_key,
                 "0",
                 "1000",
                 "COPY",
                 "REPLACE"}
            );
        },
    },
    {
        "MIGRATE of the lock's key to another server",
        finding::unnoticed,
        [](story& in, std::size_t node) {
            expect(
                in.servers[node],
                {"MIGRATE", "127.0.0.1", port_of(in.other()), lock_key, "0", "1000"}
            );
        },
    },
    {
        "DEBUG RELOAD of its own older file",
        finding::unnoticed,
        [](story& in, std::size_t node) {
            expect(in.servers[node], {"DEBUG", "RELOAD", "NOSAVE"});
        },
        [](story& in, std::size_t node) { expect(in.servers[node], {"SAVE"}); },
    },
    {
        "DEBUG RELOAD of another node's file",
        finding::noticed,
        [](story& in, std::size_t node) {
            expect(in.servers[third], {"SAVE"});
            std::filesystem::copy_file(
                file_of(in.servers[third]),
                file_of(in.servers[node]),
                std::filesystem::copy_options::overwrite_existing
            );
            expect(in.servers[node], {"DEBUG", "RELOAD", "NOSAVE"});
        },
    },
    {
        "SWAPDB",
        finding::noticed,
        [](story& in, std::size_t node) { expect(in.servers[node], {"SWAPDB", "0", "1"}); },
    },
    {
        "SWAPDB there and, after the grant, back",
        finding::unnoticed,
        [](story& in, std::size_t node) { expect(in.servers[node], {"SWAPDB", "0", "1"}); },
        [](story& in, std::size_t node) {
            // As if the other database had been through its quarantine.
            expect(in.servers[node], {"COPY", marker_key, marker_key, "DB", "1"}, "(integer) 1");
            expect(in.servers[node], {"SWAPDB", "0", "1"});
        },
    },
    {
        "a proxy that leads open connections to another server",
        finding::noticed,
        [](story& in, std::size_t node) {
            redis_server& to = in.other();
            expect(to, {"SET", marker_key, in.servers[third].command({"GET", marker_key})});
            in.proxies[node].move_connections_to(to.port());
        },
    },
    {
        "a proxy that keeps connections while its server restarts with an older file",
        finding::unnoticed,
        [](story& in, std::size_t node) {
            in.proxies[node].move_connections_to(in.others.front().port());
            in.servers[node].restart();
            in.proxies[node].move_connections_to(in.servers[node].port());
        },
        [](story& in, std::size_t node) {
            if (in.others.empty())
                in.other();
            expect(in.servers[node], {"SAVE"});
        },
    },
    {
        "eviction that is switched on",
        finding::unnoticed,
        [](story& in, std::size_t node) {
            const redis_server& server = in.servers[node];
            expect(server, {"CONFIG", "SET", "maxmemory-policy", "volatile-ttl"});
            expect(server, {"CONFIG", "SET", "maxmemory", "1"});
            BOOST_TEST_REQUIRE(eventually([&] { return !server.client().exists(lock_key); }));
            expect(server, {"CONFIG", "SET", "maxmemory", "0"});
        },
    },
    {
        "DEL of the lock's key",
        finding::unnoticed,
        [](story& in, std::size_t node) {
            expect(in.servers[node], {"DEL", lock_key}, "(integer) 1");
        },
    },
};

/// Lets the first client hold the resource, changes its nodes and asks for the second one.
finding try_change(const change& how)
{
    story in;
    for (const std::size_t node : {0, 1})
        how.prepare(in, node);
    const lease held =
        run(in.context, (*in.first)->async_acquire(lock_key, {.ttl = 4900ms, .wait = 0ms}));
    for (const std::size_t node : {0, 1})
        BOOST_TEST_REQUIRE(eventually([&] { return in.servers[node].client().exists(lock_key); }));
    for (const std::size_t node : {0, 1})
        how.inflict(in, node);

    const auto got = outcome_of(
        in.context, (*in.second)->async_acquire(lock_key, {.ttl = 1s, .wait = 0ms}), 10s
    );
    BOOST_TEST_REQUIRE(!held.expired());
    if (!std::get<0>(got))
        return finding::unnoticed;
    const auto not_in_use = [&] {
        return in.second->status(0).state == node_state::quarantined ||
               in.second->status(0).state == node_state::rejected;
    };
    return run_until(in.context, not_in_use, 2s) ? finding::noticed : finding::kept;
}

const char* to_string(finding from)
{
    switch (from)
    {
    case finding::noticed: return "noticed";
    case finding::unnoticed: return "unnoticed";
    case finding::kept: return "kept";
    }
    return "";
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_way_to_change_a_nodes_data_is_noticed_or_not_as_documented)
{
    for (const change& each : changes)
    {
        BOOST_TEST_CONTEXT(each.what)
        {
            const finding found = try_change(each);
            std::cout << each.what << ": " << to_string(found) << '\n';
            BOOST_TEST((found == each.expected));
        }
    }
}

// The second client is granted the resource only when the lease of the first one is over.
BOOST_AUTO_TEST_CASE(a_resource_stays_with_its_holder_when_its_nodes_copy_another_one)
{
    const std::size_t rounds = std::getenv("REDLOCK_TEST_LONG") != nullptr ? 20 : 1;
    for (const change& how : {changes[0], changes[1]})
    {
        for (std::size_t round = 0; round < rounds; ++round)
        {
            BOOST_TEST_CONTEXT(how.what)
            {
                story in(2500ms);
                const lease held =
                    run(in.context,
                        (*in.first)->async_acquire(lock_key, {.ttl = 2500ms, .wait = 0ms}));
                for (const std::size_t node : {0, 1})
                    how.inflict(in, node);
                const auto changed = std::chrono::steady_clock::now();
                const auto left = held.remaining();

                const lease next =
                    run(in.context,
                        (*in.second)->async_acquire(lock_key, {.ttl = 1s, .wait = 15s}));

                const std::chrono::duration<double> took =
                    std::chrono::steady_clock::now() - changed;
                std::cout << how.what << ": the holder had " << left.count()
                          << " ms left, the next one came after " << took.count() << " s"
                          << (held.expired() ? "" : ", TWO HOLDERS") << '\n';
                BOOST_TEST(held.expired());
                BOOST_TEST((next.fence() > held.fence()));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(an_idle_client_notices_that_its_nodes_copied_another_one)
{
    story in;
    for (const std::size_t node : {0, 1})
        changes[0].inflict(in, node);

    BOOST_TEST(in.second->reaches(0, node_state::quarantined));
    BOOST_TEST(in.second->reaches(1, node_state::quarantined));
}

BOOST_AUTO_TEST_CASE(an_idle_client_of_plain_mode_notices_that_a_node_became_a_replica)
{
    redis_servers servers(3, quick_replication);
    asio::io_context context{1};
    client_runner locks(context, config_for(servers));
    locks.wait_for_all_nodes();

    expect(servers[1], {"REPLICAOF", "127.0.0.1", "1"});
    BOOST_TEST(locks.reaches(1, node_state::rejected));
    BOOST_TEST((locks.status(1).reason == reason::replica));

    promote(servers[1]);
    BOOST_TEST(locks.reaches(1, node_state::ready));
}

BOOST_AUTO_TEST_CASE(a_user_without_permission_to_ask_for_the_role_keeps_its_connection)
{
    redis_servers servers(1);
    expect(servers[0], {"ACL", "SETUSER", "default", "-role"});
    asio::io_context context{1};
    client_runner locks(context, config_for(servers));
    locks.wait_for_all_nodes();

    const auto pinged = [&] {
        return contains(servers[0].command({"INFO", "commandstats"}), "cmdstat_ping:calls=2");
    };
    BOOST_TEST(run_until(context, pinged));
    BOOST_TEST((locks.status(0).state == node_state::ready));
    // The first refusal is the last: nobody wants a line a second in the log of the server.
    BOOST_TEST(contains(servers[0].command({"ACL", "LOG"}), "count\n(integer) 1\n"));
}

BOOST_AUTO_TEST_CASE(a_server_that_refuses_to_write_is_vetted_again_in_both_modes)
{
    for (const mode which : {mode::plain, mode::guarded})
    {
        redis_servers servers(3, quick_replication);
        asio::io_context context{1};
        client_config config = guarded_config(servers);
        run(context, async_initialize_nodes(context, config));
        config.mode = which;
        client_runner locks(context, config);
        locks.wait_for_all_nodes();
        expect(servers[1], {"REPLICAOF", "127.0.0.1", "1"});

        const auto acquire = locks->async_acquire("orders:42", {.ttl = 900ms, .wait = 0ms});
        const lease held = run(context, acquire);
        const auto refused = [&] { return locks.status(1).reason == reason::replica; };
        BOOST_TEST(run_until(context, refused, 900ms));  // Sooner than by a probe.

        promote(servers[1]);
        BOOST_TEST(locks.reaches(1, node_state::ready));
    }
}

// Durable by its settings, and by its old marker. What it has is what its master had.
BOOST_AUTO_TEST_CASE(a_durable_node_that_was_a_replica_sits_out_a_quarantine)
{
    redis_server_options options = quick_replication;
    options.storage = redis_storage::every_write;
    redis_servers servers(3, options);
    asio::io_context context{1};
    client_config config = guarded_config(servers);
    for (node_config& each : config.nodes)
        each.durable = true;
    {
        client_runner before(context, config);
        BOOST_TEST(before.reaches(0, node_state::quarantined));
        before.wait_for_all_nodes();
    }
    for (const redis_server& each : servers)
        BOOST_TEST(each.command({"GET", marker_key}).ends_with(" durable"));

    synchronise(servers[0], servers[1]);
    promote(servers[0]);
    servers[2].restart();

    client_runner later(context, config);  // A new one, which knows nothing of before.
    BOOST_TEST(later.reaches(0, node_state::quarantined));
    BOOST_TEST(later.reaches(2, node_state::ready));
}

// It was not restarted, so its disk has kept nothing for it.
BOOST_AUTO_TEST_CASE(a_durable_node_with_the_marker_of_another_one_sits_out_a_quarantine)
{
    redis_server_options options;
    options.storage = redis_storage::every_write;
    redis_servers servers(3, options);
    asio::io_context context{1};
    client_config config = guarded_config(servers);
    for (node_config& each : config.nodes)
        each.durable = true;
    client_runner locks(context, config);
    locks.wait_for_all_nodes();

    expect(servers[0], {"SET", marker_key, servers[1].command({"GET", marker_key})});

    BOOST_TEST(locks.reaches(0, node_state::quarantined));
}

BOOST_AUTO_TEST_SUITE_END()
