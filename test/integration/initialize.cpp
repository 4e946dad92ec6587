// Fresh nodes are admitted all or none, and only if nothing has happened to them since.

#include <redlock/initialize.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <optional>
#include <string>

#include "support/client_runner.hpp"
#include "support/contains.hpp"
#include "support/guarded_nodes.hpp"
#include "support/needs.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_proxy.hpp"

BOOST_AUTO_TEST_SUITE(
    test_initialize,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
namespace asio = boost::asio;

namespace {

/// Two nodes that are being initialized: one was looked at, and the other has not answered yet.
struct half_looked_at_nodes
{
    half_looked_at_nodes()
    {
        to_second.hold_replies();
        const client_config config = guarded_config({to_first.url(), to_second.url()});
        async_initialize_nodes(context, config, &report)([this](error_code ec) { ended = ec; });
        BOOST_TEST_REQUIRE(run_until(context, [this] {
            return contains(servers[0].command({"INFO", "commandstats"}), "cmdstat_get:");
        }));
    }

    [[nodiscard]] error_code outcome()
    {
        BOOST_TEST_REQUIRE(run_until(context, [this] { return ended.has_value(); }));
        return *ended;
    }

    redis_servers servers{2};
    tcp_proxy to_first{servers[0].port()};
    tcp_proxy to_second{servers[1].port()};
    asio::io_context context{1};
    diagnostics report;
    std::optional<error_code> ended;
};

}  // namespace

BOOST_AUTO_TEST_CASE(nodes_are_initialized_once)
{
    redis_servers servers(3);
    asio::io_context context{1};
    const client_config config = guarded_config(servers);
    run(context, async_initialize_nodes(context, config));

    diagnostics report;
    const auto [ec] = outcome_of(context, async_initialize_nodes(context, config, &report));

    BOOST_TEST(ec == error::already_initialized);
    BOOST_TEST(report.votes.size() == 3u);
    BOOST_TEST(report.votes[0].reason == reason::in_use);
    BOOST_TEST(report.votes[0].text.starts_with("was in use before"));
}

BOOST_AUTO_TEST_CASE(an_empty_marker_is_one)
{
    redis_servers servers(1);
    servers[0].command({"SET", marker_key, ""});
    asio::io_context context{1};

    const client_config config = guarded_config(servers);
    const auto [ec] = outcome_of(context, async_initialize_nodes(context, config));

    BOOST_TEST(ec == error::already_initialized);
}

BOOST_AUTO_TEST_CASE(nodes_are_initialized_all_or_none)
{
    redis_servers servers(3);
    servers[1].kill();
    asio::io_context context{1};
    const client_config config = guarded_config(servers);
    diagnostics report;
    const auto [ec] = outcome_of(context, async_initialize_nodes(context, config, &report));
    BOOST_TEST(ec == error::quorum_unreachable);
    BOOST_TEST(report.votes[1].reason == reason::down);
    BOOST_TEST(!is_marked(servers[0]));
    BOOST_TEST(!is_marked(servers[2]));
}

// It may have been used and emptied meanwhile, and would vote at once for what it has forgotten.
BOOST_AUTO_TEST_CASE(a_node_that_was_emptied_after_the_look_is_not_initialized)
{
    half_looked_at_nodes nodes;

    nodes.servers[0].command({"FLUSHALL"});
    nodes.to_second.pass();

    BOOST_TEST(nodes.outcome() == error::node_rejected);
    BOOST_TEST(contains(nodes.report.votes.at(0).text, "emptied"));
    BOOST_TEST(!is_marked(nodes.servers[0]));
}

BOOST_AUTO_TEST_CASE(no_node_is_marked_if_one_carries_a_marker)
{
    redis_servers servers(3);
    servers[1].command({"SET", marker_key, "of another client"});
    asio::io_context context{1};

    const client_config config = guarded_config(servers);
    const auto [ec] = outcome_of(context, async_initialize_nodes(context, config));

    BOOST_TEST(ec == error::already_initialized);
    BOOST_TEST(!is_marked(servers[0]));
    BOOST_TEST(servers[1].command({"GET", marker_key}) == "of another client");
    BOOST_TEST(!is_marked(servers[2]));
}

BOOST_AUTO_TEST_CASE(no_node_is_marked_if_one_is_silent)
{
    redis_servers servers(3);
    servers[1].pause();
    asio::io_context context{1};

    const client_config config = guarded_config(servers);
    const auto [ec] = outcome_of(context, async_initialize_nodes(context, config));

    BOOST_TEST(ec == error::quorum_unreachable);
    BOOST_TEST(!is_marked(servers[0]));
    BOOST_TEST(!is_marked(servers[2]));
}

BOOST_AUTO_TEST_CASE(a_marker_that_a_client_writes_during_the_initialization_stays)
{
    half_looked_at_nodes nodes;

    nodes.servers[0].command({"SET", marker_key, "of another client"});
    nodes.to_second.pass();

    BOOST_TEST(nodes.outcome() == error::already_initialized);
    BOOST_TEST(nodes.servers[0].command({"GET", marker_key}) == "of another client");
}

BOOST_AUTO_TEST_CASE(a_node_that_is_lost_after_it_was_looked_at_is_not_initialized)
{
    half_looked_at_nodes nodes;

    nodes.to_first.reset_all();
    BOOST_TEST(run_until(nodes.context, [&] { return nodes.to_first.open_connections() == 0; }));
    nodes.to_second.pass();

    BOOST_TEST(nodes.outcome() == error::quorum_unreachable);
    BOOST_TEST(nodes.report.votes.at(0).reason == reason::down);
}

BOOST_AUTO_TEST_CASE(a_node_that_cannot_be_marked_was_not_in_use_before)
{
    redis_servers servers(3);
    servers[1].command({"CONFIG", "SET", "maxmemory", "1"});
    asio::io_context context{1};
    const client_config config = guarded_config(servers);
    diagnostics report;
    const auto [ec] = outcome_of(context, async_initialize_nodes(context, config, &report));
    BOOST_TEST(ec == error::node_rejected);
    BOOST_TEST(report.votes.at(1).reason == reason::rejected);
    BOOST_TEST(report.votes.at(1).text.find("OOM") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(nodes_of_plain_mode_are_not_initialized)
{
    redis_servers servers(1);
    asio::io_context context{1};
    const auto [ec] = outcome_of(context, async_initialize_nodes(context, config_for(servers)));
    BOOST_TEST(ec == error::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
