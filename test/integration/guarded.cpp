// Guarded mode on real servers: the scripts, the vetting, the quarantine.

#include <redlock/client.hpp>
#include <redlock/initialize.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <future>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "support/child_process.hpp"
#include "support/client_runner.hpp"
#include "support/contains.hpp"
#include "support/guarded_nodes.hpp"
#include "support/needs.hpp"
#include "support/posix.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_proxy.hpp"

BOOST_AUTO_TEST_SUITE(
    test_guarded,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

constexpr acquire_options one_round{.ttl = 900ms, .wait = 0ms};

/// Three fresh servers and a client that was told so.
struct guarded_fixture
{
    explicit guarded_fixture(const redis_server_options& options = {})
        : servers(3, options), config(guarded_config(servers))
    {
        run(context, async_initialize_nodes(context, config));
    }

    redis_servers servers;
    asio::io_context context{1};
    client_config config;
};

/// A quarantine is a little longer than twice the window and the step of a clock that it assumes.
constexpr auto quarantine = 2100ms;

/// What a node is once it was looked at: a quarantine ends soon, and then it is ready.
node_state judgement_of(asio::io_context& context, const client_runner& locks, std::size_t node)
{
    const auto judged = [&] { return locks.status(node).state != node_state::connecting; };
    BOOST_TEST_REQUIRE(run_until(context, judged));
    return locks.status(node).state;
}

/// The reason of each node's vote in one attempt.
std::vector<reason> reasons(asio::io_context& context, client_runner& locks)
{
    diagnostics report;
    acquire_options options = one_round;
    options.report = &report;
    const auto outcome = outcome_of(context, locks->async_acquire("probe", options));
    std::vector<reason> result;
    for (const node_vote& each : report.votes)
        result.push_back(each.vote ? each.reason : reason::none);
    return result;
}

/// Runs a client against one node that must not vote. @return Why not.
reason refusal_of(client_config config, std::size_t node = 0)
{
    asio::io_context context{1};
    client_runner locks(context, std::move(config));
    BOOST_TEST(locks.reaches(node, node_state::rejected));
    return reasons(context, locks).at(node);
}

/// The first command on the wire.
std::vector<std::string> arguments_of(std::string_view wire)
{
    const auto take_number = [&wire] {
        const std::size_t end = wire.find("\r\n");
        const auto number = std::stoul(std::string(wire.substr(1, end - 1)));
        wire.remove_prefix(end + 2);
        return number;
    };
    std::vector<std::string> result(take_number());
    for (std::string& each : result)
    {
        const std::size_t size = take_number();
        each = wire.substr(0, size);
        wire.remove_prefix(size + 2);
    }
    return result;
}

/// How many nodes answered with this error. A quorum decides, so one may not have answered yet.
std::size_t saying(const diagnostics& report, std::string_view error)
{
    return static_cast<std::size_t>(std::ranges::count_if(
        report.votes, [error](const node_vote& each) { return each.text.starts_with(error); }
    ));
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_lease_lives_and_ends_on_real_servers)
{
    guarded_fixture fixture;
    client_runner locks(fixture.context, fixture.config);
    locks.wait_for_all_nodes();
    lease held = run(fixture.context, locks->async_acquire("orders:42", one_round));
    BOOST_TEST(static_cast<bool>(held.fence()));
    const std::string expected = to_string(held.fence());
    BOOST_TEST(run_until(fixture.context, [&] {
        return fixture.servers[2].command({"GET", "redlock:fence:orders:42"}) == expected;
    }));

    run(fixture.context, held.async_extend(1s));
    BOOST_TEST((run(fixture.context, held.async_release()) == release_outcome::released));

    const lease next = run(fixture.context, locks->async_acquire("orders:42", one_round));
    BOOST_TEST((next.fence() > held.fence()));
}

BOOST_AUTO_TEST_CASE(guarded_and_classical_clients_exclude_each_other)
{
    guarded_fixture fixture;
    client_runner guarded(fixture.context, fixture.config);
    client_config classical = fixture.config;
    classical.mode = mode::plain;
    client_runner plain(fixture.context, classical);
    guarded.wait_for_all_nodes();
    plain.wait_for_all_nodes();

    lease held = run(fixture.context, guarded->async_acquire("orders:42", one_round));
    BOOST_TEST(!run(fixture.context, plain->async_try_acquire("orders:42", 900ms)));
    run(fixture.context, held.async_release());
    held = run(fixture.context, plain->async_acquire("orders:42", one_round));
    BOOST_TEST(!run(fixture.context, guarded->async_try_acquire("orders:42", 900ms)));
}

BOOST_AUTO_TEST_CASE(a_foreign_key_of_any_type_is_never_overwritten)
{
    guarded_fixture fixture;
    client_runner locks(fixture.context, fixture.config);
    locks.wait_for_all_nodes();
    for (redis_server& server : fixture.servers)
    {
        server.command({"HSET", "a_hash", "field", "value"});
        server.command({"RPUSH", "a_list", "value"});
        server.command({"SET", "a_string", "value"});
    }
    for (const char* resource : {"a_hash", "a_list", "a_string"})
    {
        const auto [ec, held] =
            outcome_of(fixture.context, locks->async_acquire(resource, one_round));
        BOOST_TEST(ec == error::contended, resource);
    }
    for (redis_server& server : fixture.servers)
    {
        BOOST_TEST(server.command({"HGET", "a_hash", "field"}) == "value");
        BOOST_TEST(server.command({"LLEN", "a_list"}) == "(integer) 1");
        BOOST_TEST(server.command({"GET", "a_string"}) == "value");
    }
}

// To prolong and to delete needs no memory.
BOOST_AUTO_TEST_CASE(nodes_without_memory_refuse_to_acquire_only)
{
    guarded_fixture fixture;
    client_runner locks(fixture.context, fixture.config);
    locks.wait_for_all_nodes();
    lease held = run(fixture.context, locks->async_acquire("orders:42", one_round));
    for (redis_server& server : fixture.servers)
        server.command({"CONFIG", "SET", "maxmemory", "1"});

    diagnostics report;
    acquire_options options = one_round;
    options.report = &report;
    const auto [ec, none] = outcome_of(fixture.context, locks->async_acquire("other", options));
    BOOST_TEST(ec == error::node_rejected);
    BOOST_TEST(saying(report, "OOM") >= 2u, report);
    BOOST_TEST(fixture.servers[0].command({"EXISTS", "other"}) == "(integer) 0");

    run(fixture.context, held.async_extend(1s));
    BOOST_TEST((run(fixture.context, held.async_release()) == release_outcome::released));
}

// The questions of one turn share a script. One that fails must not take others with it.
BOOST_AUTO_TEST_CASE(a_fence_key_of_another_type_makes_only_its_own_resource_refused)
{
    guarded_fixture fixture;
    client_runner locks(fixture.context, fixture.config);
    locks.wait_for_all_nodes();
    for (redis_server& server : fixture.servers)
        server.command({"RPUSH", "redlock:fence:odd", "value"});

    diagnostics report;
    acquire_options options = one_round;
    options.report = &report;
    auto before = locks->async_acquire("before", one_round)(asio::use_future);
    auto odd = locks->async_acquire("odd", options)(asio::use_future);
    auto after = locks->async_acquire("after", one_round)(asio::use_future);
    const auto is_over = [](const auto& each) {
        return each.wait_for(0s) == std::future_status::ready;
    };
    BOOST_TEST_REQUIRE(run_until(fixture.context, [&] {
        return is_over(before) && is_over(odd) && is_over(after);
    }));

    BOOST_TEST(static_cast<bool>(before.get().fence()));
    BOOST_TEST(static_cast<bool>(after.get().fence()));
    BOOST_CHECK_EXCEPTION((void)odd.get(), boost::system::system_error, [](const auto& failure) {
        return failure.code() == error::node_rejected;
    });
    BOOST_TEST(saying(report, "WRONGTYPE") >= 2u, report);
    BOOST_TEST(fixture.servers[0].command({"EXISTS", "odd"}) == "(integer) 0");
}

BOOST_AUTO_TEST_CASE(a_key_that_another_type_took_over_is_gone)
{
    guarded_fixture fixture;
    client_runner locks(fixture.context, fixture.config);
    locks.wait_for_all_nodes();
    lease held = run(fixture.context, locks->async_acquire("orders:42", one_round));
    for (redis_server& server : fixture.servers)
    {
        server.command({"DEL", "orders:42"});
        server.command({"RPUSH", "orders:42", "value"});
    }
    const auto [ec] = outcome_of(fixture.context, held.async_extend(1s));
    BOOST_TEST(ec == error::lease_lost);
}

BOOST_AUTO_TEST_CASE(many_resources_at_once_are_granted_each)
{
    guarded_fixture fixture;
    client_runner locks(fixture.context, fixture.config);
    locks.wait_for_all_nodes();
    std::vector<lease> held;
    std::size_t over = 0;
    // More than share a script.
    for (int i = 0; i < 200; ++i)
    {
        locks->async_acquire("r" + std::to_string(i), one_round)([&](error_code ec, lease taken) {
            BOOST_TEST(!ec);
            held.push_back(std::move(taken));
            ++over;
        });
    }
    BOOST_TEST_REQUIRE(run_until(fixture.context, [&] { return over == 200; }));

    std::size_t released = 0;
    for (lease& each : held)
    {
        each.async_release([&](error_code, release_outcome how) {
            released += how == release_outcome::released;
            ++over;
        });
    }
    BOOST_TEST_REQUIRE(run_until(fixture.context, [&] { return over == 400; }));
    BOOST_TEST(released == 200u);
}

BOOST_AUTO_TEST_CASE(fresh_nodes_that_nobody_initialized_sit_out_a_quarantine)
{
    redis_servers servers(3);
    asio::io_context context{1};
    const auto before = std::chrono::steady_clock::now();
    client_runner locks(context, guarded_config(servers));
    BOOST_TEST(locks.reaches(0, node_state::quarantined));
    BOOST_TEST(locks.reaches(1, node_state::quarantined));

    diagnostics report;
    acquire_options options = one_round;
    options.report = &report;
    const auto [ec, none] = outcome_of(context, locks->async_acquire("orders:42", options));
    BOOST_TEST_REQUIRE(ec == error::quarantined);
    BOOST_TEST(report.votes.front().ready_in.value() <= quarantine + 1ms);  // Rounded up.
    BOOST_TEST(report.votes.front().ready_in.value() > 0ms);

    const lease held = run(context, locks->async_acquire("orders:42", {.ttl = 900ms}));
    BOOST_TEST((std::chrono::steady_clock::now() - before > 2s));
}

BOOST_AUTO_TEST_CASE(a_node_that_restarted_empty_does_not_vote_for_a_while)
{
    guarded_fixture fixture;
    client_runner locks(fixture.context, fixture.config);
    locks.wait_for_all_nodes();

    fixture.servers[1].restart();

    BOOST_TEST(locks.reaches(1, node_state::quarantined));
    diagnostics report;
    acquire_options options = one_round;
    options.report = &report;
    const lease held = run(fixture.context, locks->async_acquire("orders:42", options));
    BOOST_TEST(report.votes[1].reason == reason::quarantined);
    // How the connection before it ended is over.
    BOOST_TEST(report.votes[1].code == error_code());
    BOOST_TEST(run_until(
        fixture.context, [&] { return locks.status(1).state == node_state::ready; }, quarantine + 1s
    ));
}

// Two of three, so that the attempt is not decided before they have answered.
BOOST_AUTO_TEST_CASE(nodes_that_were_flushed_are_noticed_by_the_next_attempt)
{
    guarded_fixture fixture;
    client_runner locks(fixture.context, fixture.config);
    locks.wait_for_all_nodes();

    fixture.servers[1].command({"FLUSHALL"});
    fixture.servers[2].command({"FLUSHALL"});

    const std::vector<reason> found = reasons(fixture.context, locks);
    BOOST_TEST(found[1] == reason::unmarked);
    BOOST_TEST(found[2] == reason::unmarked);
    BOOST_TEST(locks.reaches(1, node_state::quarantined));
    BOOST_TEST(locks.reaches(2, node_state::quarantined));
}

BOOST_AUTO_TEST_CASE(another_client_learns_of_a_quarantine_from_the_node)
{
    guarded_fixture fixture;
    client_runner locks(fixture.context, fixture.config);
    locks.wait_for_all_nodes();

    for (const std::size_t node : {1, 2})
        fixture.servers[node].command({"SET", "redlock:quarantine", "1", "PX", "700"});

    BOOST_TEST(reasons(fixture.context, locks)[1] == reason::quarantined);
    BOOST_TEST(locks.reaches(1, node_state::quarantined));
    BOOST_TEST(locks.reaches(1, node_state::ready));
}

BOOST_AUTO_TEST_CASE(a_durable_node_votes_at_once_after_a_restart_if_its_settings_agree)
{
    for (const bool really : {true, false})
    {
        redis_server_options options;
        options.extra = {"--appendonly", "yes", "--appendfsync", really ? "always" : "everysec"};
        guarded_fixture fixture(options);
        for (node_config& each : fixture.config.nodes)
            each.durable = true;
        client_runner locks(fixture.context, fixture.config);
        locks.wait_for_all_nodes();
        // As if it had been restarted with its data: another run id in the marker.
        const std::string marker = fixture.servers[0].command({"GET", marker_key});
        BOOST_TEST(marker.ends_with(" durable") == really);
        const std::string fingerprint = marker.substr(0, marker.rfind(';') + 1);
        fixture.servers[0].command({"SET", marker_key, fingerprint + "older durable"});

        client_runner later(fixture.context, fixture.config);
        BOOST_TEST(
            judgement_of(fixture.context, later, 0) ==
            (really ? node_state::ready : node_state::quarantined)
        );
    }
}

BOOST_AUTO_TEST_CASE(a_node_that_is_trusted_to_be_durable_votes_at_once_whatever_its_settings)
{
    guarded_fixture fixture;  // Its servers store nothing.
    fixture.config.nodes[0].durable = true;
    for (const bool trusted : {true, false})
    {
        const std::string marker = fixture.servers[0].command({"GET", marker_key});
        const std::string fingerprint = marker.substr(0, marker.rfind(';') + 1);
        fixture.servers[0].command({"SET", marker_key, fingerprint + "older durable"});

        fixture.config.nodes[0].trust_durable = trusted;
        client_runner locks(fixture.context, fixture.config);
        BOOST_TEST(
            judgement_of(fixture.context, locks, 0) ==
            (trusted ? node_state::ready : node_state::quarantined)
        );
    }
}

// Only now its settings are those of a durable server: what was before may be forgotten.
BOOST_AUTO_TEST_CASE(a_node_that_became_durable_with_a_restart_sits_out_a_quarantine)
{
    redis_server_options options;
    options.extra = {"--appendonly", "yes", "--appendfsync", "always"};
    guarded_fixture fixture(options);
    const std::string marker = fixture.servers[0].command({"GET", marker_key});
    const std::string fingerprint = marker.substr(0, marker.rfind(';') + 1);
    fixture.servers[0].command({"SET", marker_key, fingerprint + "older"});
    fixture.config.nodes[0].durable = true;
    client_runner locks(fixture.context, fixture.config);
    BOOST_TEST(locks.reaches(0, node_state::quarantined));
}

// The clock of its node was an hour ahead when it began, and was set right since.
BOOST_AUTO_TEST_CASE(a_quarantine_lasts_no_longer_than_any_from_now_on)
{
    guarded_fixture fixture;
    client_runner before(fixture.context, fixture.config);
    before.wait_for_all_nodes();
    fixture.servers[0].command({"SET", "redlock:quarantine", "1", "PX", "3600000"});
    fixture.servers[1].command({"SET", "redlock:quarantine", "1", "PX", "3600000"});

    client_runner later(fixture.context, fixture.config);
    BOOST_TEST(later.reaches(0, node_state::quarantined));
    BOOST_TEST(reasons(fixture.context, before)[1] == reason::quarantined);
    fixture.context.run_for(quarantine + 100ms);

    BOOST_TEST(later.status(0).state == node_state::ready);
    BOOST_TEST(before.status(1).state == node_state::ready);
}

BOOST_AUTO_TEST_CASE(a_quarantine_without_an_end_lasts)
{
    guarded_fixture fixture;
    fixture.servers[0].command({"SET", "redlock:quarantine", "1"});
    client_runner locks(fixture.context, fixture.config);
    BOOST_TEST(locks.reaches(1, node_state::ready));
    BOOST_TEST(locks.reaches(2, node_state::ready));
    BOOST_TEST(locks.reaches(0, node_state::quarantined));
    fixture.context.run_for(100ms);
    BOOST_TEST(locks.status(0).state == node_state::quarantined);
}

BOOST_AUTO_TEST_CASE(one_server_twice_is_no_quorum)
{
    redis_servers servers(2);
    const std::string port = std::to_string(servers[0].port());
    client_config config =
        guarded_config({"redis://127.0.0.1:" + port, servers[1].url(), "redis://localhost:" + port}
        );
    asio::io_context context{1};
    client_runner locks(context, config);
    const auto refused = [&locks](std::size_t node) {
        return locks.status(node).state == node_state::rejected;
    };
    BOOST_TEST(run_until(context, [&] { return refused(0) || refused(2); }));
    BOOST_TEST(reasons(context, locks)[refused(0) ? 0 : 2] == reason::same_server);
}

BOOST_AUTO_TEST_CASE(a_replica_does_not_vote)
{
    redis_servers servers(2);
    servers[0].command({"REPLICAOF", "127.0.0.1", std::to_string(servers[1].port())});
    BOOST_TEST(refusal_of(guarded_config({servers[0].url()})) == reason::replica);
}

BOOST_AUTO_TEST_CASE(a_sentinel_does_not_vote_and_says_what_it_is)
{
    const temp_folder folder;
    const loopback_port port;
    const std::string number = std::to_string(port.number());
    const auto settings = folder.path() / "sentinel.conf";
    std::ofstream(settings) << "bind 127.0.0.1\nport " << number << '\n';
    const child_process sentinel({
        .program = find_program("redis-server"),
        .arguments = {"redis-sentinel", settings, "--sentinel"},
        .output = folder.path() / "log",
    });
    asio::io_context context{1};
    client_runner locks(context, guarded_config({"redis://127.0.0.1:" + number}));

    BOOST_TEST(locks.reaches(0, node_state::rejected));
    BOOST_TEST(
        locks.status(0).because ==
        "this is a Sentinel, which holds no data; use redis+sentinel:// with the name of the "
        "master it watches"
    );
}

BOOST_AUTO_TEST_CASE(a_node_of_a_cluster_does_not_vote)
{
    redis_server_options options;
    options.extra = {"--cluster-enabled", "yes"};
    redis_servers servers(1, options);
    BOOST_TEST(refusal_of(guarded_config(servers)) == reason::cluster);
}

BOOST_AUTO_TEST_CASE(a_node_that_may_evict_keys_does_not_vote_unless_it_is_accepted)
{
    redis_server_options options;
    options.extra = {"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"};
    redis_servers servers(1, options);
    client_config config = guarded_config(servers);
    BOOST_TEST(refusal_of(config) == reason::eviction);

    config.nodes[0].accept_eviction = true;
    asio::io_context context{1};
    client_runner locks(context, config);
    BOOST_TEST(locks.reaches(0, node_state::quarantined));
}

BOOST_AUTO_TEST_CASE(clients_with_other_settings_are_refused)
{
    guarded_fixture fixture;
    client_config longer = fixture.config;
    longer.ttl_max = 2s;
    BOOST_TEST(refusal_of(longer) == reason::config_mismatch);
    client_config wider = fixture.config;
    wider.clock_window = 400ms;
    BOOST_TEST(refusal_of(wider) == reason::config_mismatch);
    client_config fewer = fixture.config;
    fewer.nodes.pop_back();
    BOOST_TEST(refusal_of(fewer) == reason::config_mismatch);

    asio::io_context context{1};
    client_runner locks(context, longer);
    BOOST_TEST(locks.reaches(0, node_state::rejected));
    BOOST_TEST(locks.reaches(1, node_state::rejected));
    BOOST_TEST(locks.reaches(2, node_state::rejected));
    const auto [ec, none] = outcome_of(context, locks->async_acquire("x", one_round));
    BOOST_TEST(ec == error::config_mismatch);
    BOOST_TEST(locks.status(0).because.find("ttl_max=1000") != std::string::npos);
    BOOST_TEST(locks.status(0).reason == reason::config_mismatch);
}

BOOST_AUTO_TEST_CASE(a_list_with_a_replica_in_it_leaves_no_marker)
{
    redis_servers servers(4);
    redis_server& replica = servers[3];
    BOOST_TEST_REQUIRE(
        replica.command({"REPLICAOF", "127.0.0.1", std::to_string(servers[0].port())}) == "OK"
    );
    {
        asio::io_context context{1};
        client_runner locks(context, guarded_config({servers[0].url(), replica.url()}));
        BOOST_TEST(locks.reaches(1, node_state::rejected));
        BOOST_TEST(locks.reaches(0, node_state::quarantined));
        BOOST_TEST(locks.status(0).because.find("2 of the 2 nodes") != std::string::npos);
        BOOST_TEST(!is_marked(servers[0]));
    }

    asio::io_context context{1};
    const client_config right =
        guarded_config({servers[0].url(), servers[1].url(), servers[2].url()});
    client_runner locks(context, right);
    locks.wait_for_all_nodes();
    BOOST_TEST(!run(context, locks->async_acquire("orders:42", one_round)).expired());
}

BOOST_AUTO_TEST_CASE(fresh_nodes_are_marked_as_soon_as_a_quorum_can_be_reached)
{
    redis_servers servers(3);
    const loopback_port nobody;
    tcp_proxy second(servers[1].port());
    second.refuse();
    asio::io_context context{1};
    client_config config = guarded_config({servers[0].url(), second.url(), servers[2].url()});
    config.nodes[2].port = nobody.number();
    client_runner locks(context, config);
    BOOST_TEST(locks.reaches(0, node_state::quarantined));
    BOOST_TEST(!is_marked(servers[0]));

    second.accept();
    BOOST_TEST(locks.reaches(2));
    BOOST_TEST(is_marked(servers[0]));
    BOOST_TEST(!run(context, locks->async_acquire("orders:42", one_round)).expired());
}

// `p:x` is a key of both.
BOOST_AUTO_TEST_CASE(clients_of_one_database_agree_whatever_their_prefixes)
{
    guarded_fixture fixture;
    client_config other = fixture.config;
    other.key_prefix = "p:";
    client_runner same(fixture.context, other);
    BOOST_TEST(judgement_of(fixture.context, same, 0) == node_state::ready);

    other.ttl_max = 950ms;
    BOOST_TEST(refusal_of(other) == reason::config_mismatch);
}

BOOST_AUTO_TEST_CASE(databases_that_are_swapped_do_not_give_a_resource_to_two)
{
    guarded_fixture fixture;
    client_config other = fixture.config;
    for (node_config& each : other.nodes)
        each.database = 1;
    run(fixture.context, async_initialize_nodes(fixture.context, other));
    client_runner locks(fixture.context, fixture.config);
    locks.wait_for_all_nodes();
    const lease held = run(fixture.context, locks->async_acquire("orders:42", one_round));

    for (redis_server& server : fixture.servers)
        server.command({"SWAPDB", "0", "1"});

    const auto [ec, next] =
        outcome_of(fixture.context, locks->async_try_acquire("orders:42", one_round));
    BOOST_TEST(!next);
    BOOST_TEST(ec == error::node_rejected);
    BOOST_TEST(locks.reaches(0, node_state::rejected));
    BOOST_TEST(locks.status(0).because.find("databases=1") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_is_in_a_foreign_marker_does_not_matter)
{
    const std::string markers[] = {"0", "a\nb", "", std::string(900'000, 'x')};
    for (const std::string& marker : markers)
    {
        redis_servers servers(1);
        servers[0].command({"SET", marker_key, marker});
        std::vector<std::string> log;
        client_config config = guarded_config(servers);
        config.log = [&log](log_level, std::string_view line) { log.emplace_back(line); };

        BOOST_TEST(refusal_of(config) == reason::config_mismatch);

        BOOST_TEST_REQUIRE(!log.empty());
        for (const std::string& line : log)
        {
            BOOST_TEST(line.find('\n') == line.npos);
            BOOST_TEST(line.size() < 2000u);
        }
    }
}

BOOST_AUTO_TEST_CASE(servers_that_alternate_behind_an_address_are_refused)
{
    redis_servers servers(2);
    asio::io_context context{1};
    tcp_proxy first(servers[0].port());
    client_config config = guarded_config({first.url()});
    client_runner locks(context, config);
    BOOST_TEST(locks.reaches(0, node_state::quarantined));

    // Both have lived for longer than the second that an uptime is off by.
    context.run_for(2500ms);
    first.connect_to(servers[1].port());
    first.reset_all();

    BOOST_TEST(locks.reaches(0, node_state::rejected));
    BOOST_TEST(reasons(context, locks)[0] == reason::other_server);
}

BOOST_AUTO_TEST_CASE(a_failover_behind_an_address_costs_one_quarantine)
{
    redis_servers servers(4);
    asio::io_context context{1};
    tcp_proxy address(servers[0].port());
    client_config config = guarded_config({address.url(), servers[1].url(), servers[2].url()});
    std::vector<std::string> errors;
    config.log = [&errors](log_level level, std::string_view line) {
        if (level == log_level::error)
            errors.emplace_back(line);
    };
    run(context, async_initialize_nodes(context, config));
    client_runner locks(context, config);
    locks.wait_for_all_nodes();

    // The server that takes over has lived for longer than the second that an uptime is off by.
    context.run_for(2500ms);
    servers[0].kill();
    address.connect_to(servers[3].port());
    address.reset_all();

    BOOST_TEST(locks.reaches(0, node_state::rejected));
    BOOST_TEST(locks.status(0).because.ends_with(" UTC"));
    BOOST_TEST(locks.reaches(0, node_state::ready));
    BOOST_TEST(errors.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_server_that_is_back_before_a_failover_is_complete_goes_on)
{
    redis_servers servers(2);
    asio::io_context context{1};
    tcp_proxy address(servers[0].port());
    const client_config config = guarded_config({address.url()});
    run(context, async_initialize_nodes(context, config));
    client_runner locks(context, config);
    locks.wait_for_all_nodes();

    context.run_for(2500ms);
    address.connect_to(servers[1].port());
    address.reset_all();
    BOOST_TEST(locks.reaches(0, node_state::rejected));
    address.connect_to(servers[0].port());

    BOOST_TEST(locks.reaches(0, node_state::ready));
}

BOOST_AUTO_TEST_CASE(scripts_that_somebody_flushed_are_sent_again)
{
    guarded_fixture fixture;
    client_runner locks(fixture.context, fixture.config);
    locks.wait_for_all_nodes();
    for (redis_server& server : fixture.servers)
        server.command({"SCRIPT", "FLUSH"});
    lease held = run(fixture.context, locks->async_acquire("orders:42", one_round));
    for (redis_server& server : fixture.servers)
        server.command({"SCRIPT", "FLUSH"});
    run(fixture.context, held.async_extend(1s));
    for (redis_server& server : fixture.servers)
        server.command({"SCRIPT", "FLUSH"});
    BOOST_TEST((run(fixture.context, held.async_release()) == release_outcome::released));
}

// F15, X4: the release overtakes its acquisition on another connection.
BOOST_AUTO_TEST_CASE(an_acquisition_that_comes_after_its_release_leaves_no_key)
{
    guarded_fixture fixture;
    tcp_proxy slow(fixture.servers[0].port());
    client_config config = fixture.config;
    config.nodes[0] = parse_node(slow.url());
    config.node_timeout = 100ms;
    client_runner locks(fixture.context, config);
    locks.wait_for_all_nodes();

    slow.hold_requests();
    lease held = run(fixture.context, locks->async_acquire("orders:42", one_round));
    const std::string token = to_string(held.fence());
    run(fixture.context, held.async_release());
    const std::vector<std::string> sent = slow.requests();
    // The connection breaks; the release is repeated on the next one.
    slow.reset_all();
    slow.pass();
    BOOST_TEST(run_until(fixture.context, [&] {
        return fixture.servers[0].command({"GET", "redlock:fence:orders:42"}) == token;
    }));

    // What the kernel of a frozen node would have kept of the old connection runs only now.
    const auto late = arguments_of(sent.front().substr(sent.front().find("*8\r\n$7\r\nEVALSHA")));
    BOOST_TEST_REQUIRE(contains(late.at(7), ' ' + token + ' '));
    BOOST_TEST(fixture.servers[0].command(late).starts_with("(integer) -1\n"));
    BOOST_TEST(fixture.servers[0].command({"EXISTS", "orders:42"}) == "(integer) 0");
}

BOOST_AUTO_TEST_SUITE_END()
