// A fleet that raises ttl_max while it runs: docs/operations.md has the steps.

#include <redlock/client.hpp>
#include <redlock/initialize.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>

#include "support/client_runner.hpp"
#include "support/contains.hpp"
#include "support/guarded_nodes.hpp"
#include "support/needs.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"

BOOST_AUTO_TEST_SUITE(
    test_ttl_max,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

struct fleet
{
    [[nodiscard]] client_config config(milliseconds ttl_max, milliseconds other = 0ms)
    {
        client_config made = guarded_config(servers);
        made.ttl_max = ttl_max;
        made.other_ttl_max = other;
        return made;
    }

    /// One holds the resource, and the other gets it afterwards.
    void take_turns(client_runner& one, client_runner& other, milliseconds ttl = 1s)
    {
        lease held = run(context, one->async_acquire("a", {.ttl = ttl, .wait = 10s}));
        const auto [failure, denied] =
            outcome_of(context, other->async_try_acquire("a", {.ttl = 1s}));
        BOOST_TEST(!denied);
        run(context, held.async_release());
        lease next = run(context, other->async_acquire("a", {.ttl = 1s, .wait = 10s}));
        run(context, next.async_release());
    }

    [[nodiscard]] bool all_are_marked_for(const char* ttl_max)
    {
        for (const redis_server& server : servers)
        {
            if (!contains(server.command({"GET", marker_key}), ttl_max))
                return false;
        }
        return true;
    }

    asio::io_context context{1};
    redis_servers servers{3};
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(it_is_raised_in_two_phases_while_clients_run, fleet)
{
    run(context, async_initialize_nodes(context, config(1s)));
    {
        client_runner old(context, config(1s));
        client_runner first_phase(context, config(1s, 3s));
        take_turns(old, first_phase);
        take_turns(first_phase, old);
        BOOST_TEST(all_are_marked_for(";ttl_max=1000;"));
    }
    client_runner first_phase(context, config(1s, 3s));
    first_phase.wait_for_all_nodes();
    lease kept = run(context, first_phase->async_acquire("kept", {.ttl = 1s, .auto_extend = true}));
    {
        client_runner second_phase(context, config(3s, 1s));
        take_turns(second_phase, first_phase, 3s);
        take_turns(first_phase, second_phase);
        second_phase.wait_for_all_nodes();
        BOOST_TEST(all_are_marked_for(";ttl_max=3000;"));
        client_runner last(context, config(3s));
        take_turns(second_phase, last, 3s);
        take_turns(last, first_phase, 3s);
    }
    BOOST_TEST(!kept.expired());
    run(context, kept.async_release());
}

BOOST_FIXTURE_TEST_CASE(a_client_that_was_left_out_is_refused, fleet)
{
    run(context, async_initialize_nodes(context, config(1s)));
    client_runner second_phase(context, config(3s, 1s));
    second_phase.wait_for_all_nodes();
    client_runner left_out(context, config(1s));
    BOOST_TEST(left_out.reaches(0, node_state::rejected));
    BOOST_TEST(left_out.status(0).reason == reason::config_mismatch);
}

BOOST_FIXTURE_TEST_CASE(
    a_node_that_forgets_in_the_first_phase_is_quarantined_for_the_larger_one,
    fleet
)
{
    run(context, async_initialize_nodes(context, config(1s)));
    client_runner first_phase(context, config(1s, 3s));
    first_phase.wait_for_all_nodes();
    servers[0].restart();
    BOOST_TEST(first_phase.reaches(0, node_state::quarantined));
    const std::string left = servers[0].command({"PTTL", "redlock:quarantine"});
    BOOST_TEST(std::stoi(left.substr(left.find(' ') + 1)) > 2'000, left);
}

BOOST_AUTO_TEST_SUITE_END()
