#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_close)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::error::operation_aborted;
using detail::verb;

BOOST_AUTO_TEST_CASE(closing_releases_what_is_held_and_ends_the_run)
{
    running_client fixture;
    std::vector<lease> held;
    for (int i = 0; i < 10; ++i)
        held.push_back(fixture.acquire("r" + std::to_string(i), {.auto_extend = i % 2 == 0}));

    const auto [ec] = fixture.complete(fixture.locks().async_close());

    BOOST_TEST(ec == error_code());
    BOOST_TEST(fixture.keys_left() == 0u);
    fixture.advance(100ms);
    BOOST_TEST(fixture.run().done());
    BOOST_TEST(fixture.run().code() == error_code());
    for (const lease& each : held)
        BOOST_TEST(each.expired());
}

BOOST_AUTO_TEST_CASE(closing_leaves_a_lease_to_a_wait_for_its_loss_that_began_before)
{
    // Began means: the call was made, whatever the client had to do first.
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 10s});

    const auto closed = launch(fixture.locks().async_close());
    const auto lost = launch(held.async_wait_lost());
    fixture.advance(100ms);

    BOOST_TEST_REQUIRE(lost->done());
    BOOST_TEST((lost->code() == operation_aborted || lost->code() == error::not_running));
    BOOST_TEST(!held.expired());
    fixture.complete(held.async_release());
    fixture.advance(100ms);
    BOOST_TEST(closed->done());
}

BOOST_AUTO_TEST_CASE(closing_releases_a_lease_whose_owner_has_given_another_one_back)
{
    running_client fixture;
    const acquire_options options{.ttl = 10s, .owner = owner{7}};
    lease watched = fixture.acquire("orders:42", options);
    lease other = fixture.acquire("orders:42", options);
    const auto lost = launch(watched.async_wait_lost());
    fixture.run_until_idle();

    watched.async_release(asio::detached);
    const auto closed = launch(fixture.locks().async_close());
    fixture.advance(100ms);

    BOOST_TEST(lost->done());
    BOOST_TEST(closed->done());
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(closing_releases_a_lease_although_somebody_waits_for_one_that_has_left)
{
    running_client fixture;
    const acquire_options options{.ttl = 10s, .owner = owner{7}};
    lease released = fixture.acquire("orders:42", options);
    lease other = fixture.acquire("orders:42", options);
    fixture.complete(released.async_release());

    const auto closed = launch(fixture.locks().async_close());
    const auto lost = launch(released.async_wait_lost());
    fixture.advance(100ms);

    BOOST_TEST(lost->done());
    BOOST_TEST(closed->done());
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(closing_ends_the_wait_for_ready_nodes)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    const auto lost = launch(held.async_wait_lost());
    fixture.each_node([](fake_node& node) { node.becomes(node_state::down); });
    const auto ready = launch(fixture.locks().async_wait_ready());
    fixture.run_until_idle();

    const auto closed = launch(fixture.locks().async_close());
    fixture.run_until_idle();

    BOOST_TEST(!closed->done());
    BOOST_TEST_REQUIRE(ready->done());
    BOOST_TEST(ready->code() == operation_aborted);
}

BOOST_AUTO_TEST_CASE(closing_takes_no_time_if_nothing_is_held)
{
    running_client fixture;

    fixture.complete(fixture.locks().async_close());
    fixture.advance(10ms);

    BOOST_TEST(fixture.time().elapsed() == 10ms);
    BOOST_TEST(fixture.run().done());
}

BOOST_AUTO_TEST_CASE(new_operations_fail_and_acquisitions_under_way_are_aborted)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    const auto waiting = launch(fixture.locks().async_acquire("orders:42", 10s));
    fixture.run_until_idle();
    fixture.each_node([](fake_node& node) { node.on(verb::release).after(40ms); });

    const auto closed = launch(fixture.locks().async_close());
    fixture.run_until_idle();
    const auto late = launch(fixture.locks().async_acquire("orders:43", {.wait = 0ms}));
    const auto extension = launch(held.async_extend());
    fixture.run_until_idle();

    BOOST_TEST(!closed->done());
    BOOST_TEST_REQUIRE(waiting->done());
    BOOST_TEST(waiting->code() == operation_aborted);
    BOOST_TEST(late->code() == error::not_running);
    BOOST_TEST(extension->code() == error::not_running);
    fixture.advance(200ms);
    BOOST_TEST(closed->done());
    BOOST_TEST(fixture.keys_left() == 0u);
}

// Nodes that are away answer at once. So a close that releases much is always about to go on, and
// no cancellation can end its wait.
BOOST_AUTO_TEST_CASE(a_close_that_goes_on_when_the_client_is_cancelled_waits_for_nothing_more)
{
    for (std::size_t steps = 0; steps < 10; ++steps)
    {
        running_client fixture;
        std::vector<lease> held;
        for (int i = 0; i < 10; ++i)
            held.push_back(fixture.acquire("r" + std::to_string(i)));
        fixture.each_node([](fake_node& node) { node.on(verb::release).absent(reason::down); });

        const auto closed = launch(fixture.locks().async_close());
        for (std::size_t step = 0; step < steps; ++step)
            fixture.step(fixture.time().elapsed());
        fixture.locks().cancel();
        fixture.run_until_idle();

        BOOST_TEST(closed->done(), "cancelled after " << steps << " steps");
    }
}

BOOST_AUTO_TEST_CASE(who_waits_for_a_loss_is_told_and_keeps_the_lease_to_release_it)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 3s, .auto_extend = true});
    const auto lost = launch(held.async_wait_lost());

    const auto closed = launch(fixture.locks().async_close());
    fixture.advance(500ms);

    BOOST_TEST_REQUIRE(lost->done());
    BOOST_TEST(lost->code() == operation_aborted);
    BOOST_TEST(!held.expired());
    BOOST_TEST(!closed->done());
    const auto [ec, outcome] = fixture.complete(held.async_release());
    BOOST_TEST(ec == error_code());
    BOOST_TEST(outcome == release_outcome::released);
    fixture.advance(100ms);
    BOOST_TEST(closed->done());
}

BOOST_AUTO_TEST_CASE(who_waits_for_a_loss_too_late_is_told_that_the_client_has_stopped)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    fixture.each_node([](fake_node& node) { node.on(verb::release).after(20ms); });

    const auto closed = launch(fixture.locks().async_close());
    fixture.run_until_idle();
    const auto during = launch(held.async_wait_lost());
    fixture.advance(100ms);
    const auto after = launch(held.async_wait_lost());
    fixture.run_until_idle();

    BOOST_TEST(closed->done());
    BOOST_TEST(held.expired());
    BOOST_TEST_REQUIRE(during->done());
    BOOST_TEST(during->code() == error::not_running);
    BOOST_TEST_REQUIRE(after->done());
    BOOST_TEST(after->code() == error::not_running);
}

BOOST_AUTO_TEST_CASE(a_lease_that_nobody_releases_holds_the_end_up_until_its_deadline)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 3s, .auto_extend = true});
    const auto lost = launch(held.async_wait_lost());

    const auto [ec] = fixture.complete(fixture.locks().async_close());

    BOOST_TEST(ec == error_code());
    BOOST_TEST(held.expired());
    BOOST_TEST(fixture.time().elapsed() <= 3100ms);
    BOOST_TEST(lost->completions == 1u);
}

BOOST_AUTO_TEST_CASE(releases_are_repeated_until_a_quorum_confirms)
{
    running_client fixture;
    const lease held = fixture.acquire("orders:42");
    fixture.each_node(0, 3, [](fake_node& node) { node.on(verb::release).error("ERR").once(); });

    const auto [ec] = fixture.complete(fixture.locks().async_close());

    BOOST_TEST(ec == error_code());
    BOOST_TEST(fixture.keys_left() == 0u);
    BOOST_TEST(fixture.time().elapsed() <= 200ms);  // The ttl would have ended them too.
}

BOOST_AUTO_TEST_CASE(nodes_that_are_gone_hold_the_end_up_for_no_longer_than_the_ttl)
{
    running_client fixture;
    const lease held = fixture.acquire("orders:42", {.ttl = 2s});
    fixture.silence(verb::release);

    const auto [ec] = fixture.complete(fixture.locks().async_close());

    BOOST_TEST(ec == error_code());
    BOOST_TEST(fixture.time().elapsed() <= 2200ms);
}

BOOST_AUTO_TEST_CASE(a_node_that_is_connecting_again_gets_its_release_before_the_client_ends)
{
    running_client fixture;
    const lease held = fixture.acquire("orders:42");
    fixture.node(4).on(verb::release).breaks_connection(300ms);

    const auto [ec] = fixture.complete(fixture.locks().async_close());

    BOOST_TEST(ec == error_code());
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_dropped_while_the_client_closes_is_released_before_it_ends)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 10s});
    const auto lost = launch(held.async_wait_lost());
    const auto closed = launch(fixture.locks().async_close());
    fixture.advance(100ms);
    BOOST_TEST_REQUIRE(lost->done());

    fixture.each_node([](fake_node& node) { node.on(verb::release).after(1s); });
    held = lease();
    fixture.advance(500ms);
    BOOST_TEST(!closed->done());
    fixture.advance(1s);
    BOOST_TEST(closed->done());
}

BOOST_AUTO_TEST_CASE(a_node_that_is_down_does_not_hold_the_end_up)
{
    running_client fixture;
    const lease held = fixture.acquire("orders:42");
    fixture.node(4).becomes(node_state::down, "connection refused");
    fixture.run_until_idle();

    const auto [ec] = fixture.complete(fixture.locks().async_close());

    BOOST_TEST(ec == error_code());
    BOOST_TEST(fixture.time().elapsed() == 0ms);
}

BOOST_AUTO_TEST_CASE(a_client_that_does_not_run_cannot_be_closed)
{
    client_fixture fixture;

    const auto [ec] = fixture.complete(fixture.locks().async_close());
    BOOST_TEST(ec == error::not_running);

    running_client running;
    running.locks().cancel();
    running.advance(100ms);
    const auto [again] = running.complete(running.locks().async_close());
    BOOST_TEST(again == error::not_running);
}

BOOST_AUTO_TEST_CASE(a_release_under_way_completes)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    fixture.each_node([](fake_node& node) { node.on(verb::release).after(20ms); });
    const auto released = launch(held.async_release());
    fixture.run_until_idle();

    fixture.complete(fixture.locks().async_close());

    BOOST_TEST_REQUIRE(released->done());
    BOOST_TEST(released->code() == error_code());
    BOOST_TEST(released->value() == release_outcome::released);
}

BOOST_AUTO_TEST_SUITE_END()
