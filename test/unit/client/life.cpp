#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_life)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::error::operation_aborted;
using detail::verb;

BOOST_AUTO_TEST_CASE(an_acquisition_waits_for_run_and_sends_nothing_before)
{
    const std::pair<milliseconds, milliseconds> waits[] = {{1s, 900ms}, {forever, 24h}};
    for (const auto& [wait, until_run] : waits)
    {
        client_fixture fixture;
        const auto held = launch(fixture.locks().async_acquire("orders:42", {.wait = wait}));
        fixture.advance(until_run);
        BOOST_TEST(!held->done());
        BOOST_TEST(fixture.log().empty());

        fixture.start_client();

        BOOST_TEST(held->done());
        BOOST_TEST(held->code() == error_code());
        BOOST_TEST(held->value().remaining() > 9s);
    }
}

BOOST_AUTO_TEST_CASE(without_run_an_acquisition_ends_with_its_wait)
{
    client_fixture fixture;
    const auto held = launch(fixture.locks().async_acquire("orders:42", {.wait = 1s}));
    fixture.advance(999ms);
    BOOST_TEST(!held->done());

    fixture.advance(1ms);

    BOOST_TEST(held->done());
    BOOST_TEST(held->code() == error::not_running);
}

BOOST_AUTO_TEST_CASE(without_run_and_without_wait_an_acquisition_fails_at_once)
{
    client_fixture fixture;

    const auto held = launch(fixture.locks().async_acquire("orders:42", {.wait = 0ms}));
    const auto tried = launch(fixture.locks().async_try_acquire("orders:42", 10s));
    fixture.run_until_idle();

    BOOST_TEST(held->code() == error::not_running);
    BOOST_TEST(tried->code() == error::not_running);
}

BOOST_AUTO_TEST_CASE(while_the_client_stops_nothing_new_is_acquired)
{
    running_client fixture;
    fixture.each_node([](fake_node& node) { node.stops_after(20ms); });
    fixture.locks().cancel();
    fixture.advance(10ms);
    BOOST_TEST(!fixture.run().done());

    const auto acquired = launch(fixture.locks().async_acquire("orders:43", 10s));
    const auto ready = launch(fixture.locks().async_wait_ready());
    fixture.run_until_idle();

    BOOST_TEST(acquired->code() == error::not_running);
    BOOST_TEST(ready->code() == error::not_running);
    BOOST_TEST(fixture.log().empty());
}

BOOST_AUTO_TEST_CASE(a_second_run_fails_and_the_first_goes_on)
{
    running_client fixture;

    const auto second = launch(fixture.locks().async_run());
    fixture.run_until_idle();

    BOOST_TEST(second->code() == error::already_running);
    BOOST_TEST(!fixture.run().done());
    BOOST_TEST(!fixture.acquire("orders:42").expired());
}

BOOST_AUTO_TEST_CASE(a_client_that_ends_before_it_runs_ends_what_waits_for_it)
{
    for (const bool destroyed : {false, true})
    {
        client_fixture fixture;
        const auto held = launch(fixture.locks().async_acquire("orders:42", {.wait = forever}));
        const auto ready = launch(fixture.locks().async_wait_ready());
        fixture.run_until_idle();

        if (destroyed)
            fixture.destroy_client();
        else
            fixture.locks().cancel();
        fixture.run_until_idle();

        BOOST_TEST(held->completions == 1u);
        BOOST_TEST(held->code() == operation_aborted);
        BOOST_TEST(ready->completions == 1u);
        BOOST_TEST(fixture.client_is_gone() == destroyed);
    }
}

BOOST_AUTO_TEST_CASE(cancel_ends_the_wait_for_ready_nodes_at_once)
{
    client_fixture fixture;
    fixture.each_node([](fake_node& node) { node.starts(node_state::connecting); });
    fixture.each_node([](fake_node& node) { node.stops_after(100ms); });
    fixture.start_client();
    const auto ready = launch(fixture.locks().async_wait_ready());
    fixture.run_until_idle();

    fixture.locks().cancel();
    fixture.run_until_idle();

    BOOST_TEST(ready->completions == 1u);
    BOOST_TEST(ready->code() == operation_aborted);
}

BOOST_AUTO_TEST_CASE(run_ends_once_all_node_sessions_have_ended)
{
    running_client fixture;
    fixture.node(3).stops_after(200ms);

    fixture.locks().cancel();
    fixture.advance(199ms);
    BOOST_TEST(!fixture.run().done());
    fixture.advance(100ms);

    BOOST_TEST(fixture.run().done());
}

BOOST_AUTO_TEST_CASE(without_releases_run_does_not_wait_for_the_node_timeout)
{
    running_client fixture({.node_timeout = 10'000ms});
    const lease held = fixture.acquire("orders:42", {.ttl = 20s});

    fixture.locks().cancel();
    fixture.advance(10ms);

    BOOST_TEST(fixture.run().done());
}

BOOST_AUTO_TEST_CASE(cancel_lets_releases_out_for_one_node_timeout)
{
    running_client fixture;
    fixture.each_node([](fake_node& node) { node.on(verb::release).after(30ms); });
    {
        const lease held = fixture.acquire("orders:42");
    }
    fixture.run_until_idle();

    fixture.locks().cancel();
    fixture.advance(29ms);
    BOOST_TEST(!fixture.run().done());
    fixture.advance(5ms);

    BOOST_TEST(fixture.run().done());
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_release_that_is_never_answered_holds_run_up_for_one_node_timeout)
{
    running_client fixture;
    fixture.node(2).on(verb::release).never();
    {
        const lease held = fixture.acquire("orders:42");
    }
    fixture.locks().cancel();

    fixture.advance(52ms);

    BOOST_TEST(fixture.run().done());
    BOOST_TEST(fixture.run().code() == error_code());
}

BOOST_AUTO_TEST_CASE(cancel_does_not_release_leases_that_are_held)
{
    running_client fixture;
    const lease held = fixture.acquire("orders:42");
    fixture.log().clear();

    fixture.locks().cancel();
    fixture.advance(1s);

    BOOST_TEST(fixture.log().empty());
    BOOST_TEST(fixture.keys_left() == 5u);
    BOOST_TEST(!held.expired());
}

BOOST_AUTO_TEST_CASE(cancelling_again_and_again_is_harmless)
{
    running_client fixture;
    fixture.node(0).on(verb::release).never();
    {
        const lease held = fixture.acquire("orders:42");
    }
    for (int repetition = 0; repetition < 30; ++repetition)
    {
        fixture.locks().cancel();
        fixture.advance(1ms);
    }
    BOOST_TEST(!fixture.run().done());
    fixture.advance(50ms);

    BOOST_TEST(fixture.run().completions == 1u);
}

BOOST_AUTO_TEST_CASE(a_moved_client_goes_on)
{
    running_client fixture;
    const auto waiting = launch(fixture.locks().async_wait_ready());

    client moved = fixture.take_client();
    fixture.destroy_client();
    fixture.run_until_idle();
    const auto [ec, held] = fixture.complete(moved.async_acquire("orders:42", 10s));

    BOOST_TEST(waiting->code() == error_code());
    BOOST_TEST(ec == error_code());
    BOOST_TEST(!fixture.run().done());
}

BOOST_AUTO_TEST_CASE(assigning_to_a_client_cancels_the_operations_of_the_one_before)
{
    running_client two;  // Its context outlives its client, which moves.
    running_client one;
    const auto held = launch(one.locks().async_acquire("orders:42", 10s));

    one.locks() = two.take_client();
    one.advance(100ms);
    two.advance(100ms);

    BOOST_TEST(held->completions == 1u);
    BOOST_TEST(one.run().done());
    BOOST_TEST(!two.run().done());
}

BOOST_AUTO_TEST_CASE(a_lease_may_outlive_its_client)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 1s});

    fixture.destroy_client();
    fixture.advance(500ms);

    BOOST_TEST(!held.expired());
    BOOST_TEST(held.resource() == "orders:42");
    const auto [not_extended] = fixture.complete(held.async_extend(10s));
    BOOST_TEST(not_extended == error::not_running);
    BOOST_TEST(!held.expired());
    fixture.advance(500ms);
    BOOST_TEST(held.expired());
    held = lease();
    fixture.run_until_idle();
    BOOST_TEST(fixture.client_is_gone());
}

BOOST_AUTO_TEST_CASE(a_client_may_outlive_its_leases)
{
    running_client fixture;
    {
        const lease held = fixture.acquire("orders:42");
    }

    fixture.destroy_client();
    fixture.advance(1s);

    BOOST_TEST(fixture.keys_left() == 0u);
    BOOST_TEST(fixture.client_is_gone());
}

BOOST_AUTO_TEST_CASE(a_client_can_be_destroyed_without_ever_running_its_context)
{
    client_fixture fixture;
    auto held = launch(fixture.locks().async_acquire("orders:42", 10s));
    held.reset();

    fixture.destroy_context();

    BOOST_TEST(fixture.client_is_gone());
}

BOOST_AUTO_TEST_CASE(a_client_is_ready_when_a_quorum_of_its_nodes_is)
{
    client_fixture fixture;
    fixture.each_node([](fake_node& node) { node.starts(node_state::connecting); });
    fixture.start_client();
    const auto ready = launch(fixture.locks().async_wait_ready());
    fixture.run_until_idle();

    for (const std::size_t index : {0u, 4u})
    {
        fixture.node(index).becomes(node_state::ready);
        fixture.run_until_idle();
        BOOST_TEST(!ready->done());
    }
    fixture.node(1).becomes(node_state::rejected, "NOAUTH");
    fixture.run_until_idle();
    BOOST_TEST(!ready->done());
    fixture.node(2).becomes(node_state::ready);
    fixture.run_until_idle();

    BOOST_TEST(ready->done());
    BOOST_TEST(ready->code() == error_code());
}

BOOST_AUTO_TEST_CASE(waiting_for_ready_nodes_begins_before_run)
{
    client_fixture fixture;
    const auto ready = launch(fixture.locks().async_wait_ready());
    fixture.run_until_idle();
    BOOST_TEST(!ready->done());

    fixture.start_client();

    BOOST_TEST(ready->done());
    BOOST_TEST(ready->code() == error_code());
}

BOOST_AUTO_TEST_CASE(a_client_shows_the_states_of_its_nodes)
{
    client_fixture fixture({.nodes = 4});
    fixture.node(1).starts(node_state::down, "connection refused");
    fixture.node(2).starts(node_state::rejected, "NOAUTH");
    fixture.node(3).starts(node_state::connecting);
    for (const node_status& each : fixture.locks().nodes())
        BOOST_TEST(each.state == node_state::connecting);

    fixture.start_client();

    const auto nodes = fixture.locks().nodes();
    BOOST_TEST_REQUIRE(nodes.size() == 4u);
    BOOST_TEST(nodes[0].node == "node0");
    BOOST_TEST(nodes[0].state == node_state::ready);
    BOOST_TEST(nodes[0].because.empty());
    BOOST_TEST(nodes[1].state == node_state::down);
    BOOST_TEST(nodes[1].because == "connection refused");
    BOOST_TEST(nodes[2].state == node_state::rejected);
    BOOST_TEST(nodes[2].because == "NOAUTH");
    BOOST_TEST(nodes[3].state == node_state::connecting);
}

BOOST_AUTO_TEST_CASE(an_operation_keeps_its_context_from_running_out_of_work)
{
    client_fixture fixture;
    const auto ready = launch(fixture.locks().async_wait_ready());

    fixture.context().restart();
    fixture.context().poll();

    BOOST_TEST(!ready->done());
    BOOST_TEST(!fixture.context().stopped());
    fixture.locks().cancel();
    fixture.run_until_idle();
}

BOOST_AUTO_TEST_SUITE_END()
