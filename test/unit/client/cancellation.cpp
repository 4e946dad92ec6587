#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "support/at_every_step.hpp"

BOOST_AUTO_TEST_SUITE(test_cancellation)

/// Operations that are cancelled, at every moment at which that can happen.

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::cancellation_type;
using asio::error::operation_aborted;
using detail::verb;

namespace {

constexpr owner ada{1};

using start_acquisition = std::function<acquisition(client_fixture&)>;

/// Cancels an acquisition at every step: it ends at once, and leaves nothing behind.
void cancel_acquisition_everywhere(
    const behaviour& nodes,
    cancellation_type type,
    const start_acquisition& start
)
{
    at_every_step([&](std::size_t steps) {
        running_client fixture;
        nodes.apply(fixture);
        const auto operation = start(fixture);
        const bool in_time = take_steps(fixture, steps, [&] { return operation->done(); });

        operation->cancel(type);
        fixture.run_until_idle();

        check_ended(*operation);
        check_keys(fixture, operation->value());
        BOOST_TEST(operation->completions == 1u);
        return in_time;
    });
}

/// An acquisition that waits for less than 400 ms, with these options otherwise.
start_acquisition acquire_with(acquire_options options)
{
    options.ttl = long_ttl;
    options.wait = 400ms;
    return [options](client_fixture& fixture) {
        return launch(fixture.locks().async_acquire("orders:42", options));
    };
}

start_acquisition try_with(acquire_options options)
{
    options.ttl = long_ttl;
    return [options](client_fixture& fixture) {
        return launch(fixture.locks().async_try_acquire("orders:42", options));
    };
}

/// An acquisition whose replies and cancellation queue up, as in a loop that stood still.
struct almost_granted
{
    almost_granted()
    {
        fixture.each_node([](fake_node& node) { node.on(verb::acquire).after(5ms); });
        operation = acquire_patiently(fixture);
        fixture.advance(5ms - 1ns);
    }

    void let_replies_come() { fixture.time().advance(1ns); }

    void check_that_nothing_is_left()
    {
        fixture.run_until_idle();
        BOOST_TEST(operation->completions == 1u);
        BOOST_TEST(operation->code() == operation_aborted);
        BOOST_TEST(!operation->value());
        fixture.advance(settling_time);
        BOOST_TEST(fixture.keys_left() == 0u);
        // Nothing was held, so nothing was given back.
        BOOST_TEST(fixture.locks().metrics().released == 0u);
    }

    running_client fixture;
    acquisition operation;
};

using named_way = std::pair<const char*, std::function<void(almost_granted&)>>;

const named_way ways_to_end_the_client[] = {
    {"client::cancel", [](auto& of) { of.fixture.locks().cancel(); }},
    {"client::async_close", [](auto& of) { of.fixture.locks().async_close(asio::detached); }},
};

const named_way ways_to_cancel[] = {
    {"the operation", [](auto& of) { of.operation->cancel(); }},
    ways_to_end_the_client[0],
    ways_to_end_the_client[1],
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_cancelled_acquisition_ends_at_once_and_leaves_nothing)
{
    diagnostics report;
    const std::pair<const char*, start_acquisition> kinds[] = {
        {"an acquisition", acquire_patiently},
        {"one that would be extended", acquire_with({.auto_extend = true})},
        {"one of an owner", acquire_with({.auto_extend = true, .owner = ada})},
        {"a try", try_with({})},
        {"a try with a report", try_with({.report = &report})},
    };
    for (const auto& [name, start] : kinds)
    {
        for (const behaviour& nodes : behaviours)
        {
            BOOST_TEST_CONTEXT(name << ", " << nodes.name)
            {
                cancel_acquisition_everywhere(nodes, cancellation_type::terminal, start);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(an_acquisition_that_is_cancelled_just_before_a_quorum_grants_leaves_nothing)
{
    for (const auto& [name, cancel] : ways_to_cancel)
    {
        BOOST_TEST_CONTEXT(name)
        {
            almost_granted acquiring;
            cancel(acquiring);
            acquiring.let_replies_come();
            acquiring.check_that_nothing_is_left();
        }
    }
}

// For the operation alone this is too late.
BOOST_AUTO_TEST_CASE(an_acquisition_whose_client_ends_just_after_a_quorum_granted_leaves_nothing)
{
    for (const auto& [name, cancel] : ways_to_end_the_client)
    {
        BOOST_TEST_CONTEXT(name)
        {
            almost_granted acquiring;
            acquiring.let_replies_come();
            cancel(acquiring);
            acquiring.check_that_nothing_is_left();
        }
    }
}

BOOST_AUTO_TEST_CASE(partial_cancellation_is_as_good_as_terminal)
{
    cancel_acquisition_everywhere(
        contended_and_slow, cancellation_type::partial, acquire_patiently
    );
    cancel_acquisition_everywhere(contended_and_slow, cancellation_type::all, acquire_patiently);
}

BOOST_AUTO_TEST_CASE(total_cancellation_has_no_effect_on_an_acquisition)
{
    at_every_step([](std::size_t steps) {
        running_client fixture;
        contended_and_slow.apply(fixture);
        const auto operation = acquire_patiently(fixture);
        const bool in_time = take_steps(fixture, steps, [&] { return operation->done(); });

        operation->cancel(cancellation_type::total);
        fixture.advance(2s);

        BOOST_TEST(operation->completions == 1u);
        BOOST_TEST(operation->code() == error_code());
        BOOST_TEST(!operation->value().expired());
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(an_acquisition_that_waits_for_run_can_be_cancelled)
{
    at_every_step([](std::size_t steps) {
        client_fixture fixture;
        const auto operation = launch(fixture.locks().async_acquire("orders:42", {.wait = 100ms}));
        const bool in_time = take_steps(fixture, steps, [&] { return operation->done(); });

        operation->cancel();
        fixture.run_until_idle();

        BOOST_TEST(operation->completions == 1u);
        BOOST_TEST(
            (operation->code() == (in_time ? operation_aborted : error_code()) ||
             operation->code() == error::not_running)
        );
        BOOST_TEST(fixture.log().empty());
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(an_acquisition_can_be_cancelled_while_run_begins)
{
    at_every_step([](std::size_t steps) {
        client_fixture fixture;
        const auto operation = acquire_patiently(fixture);
        const auto run = launch(fixture.locks().async_run());
        const bool in_time = take_steps(fixture, steps, [&] { return operation->done(); });

        operation->cancel();
        fixture.run_until_idle();

        check_ended(*operation);
        check_keys(fixture, operation->value());
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(cancelling_one_acquisition_leaves_the_others_alone)
{
    at_every_step([](std::size_t steps) {
        running_client fixture;
        slow_down(fixture, 5ms, 1ms);
        const auto other = launch(fixture.locks().async_acquire("orders:43", long_ttl));
        const auto operation = acquire_patiently(fixture);
        const bool in_time = take_steps(fixture, steps, [&] { return operation->done(); });

        operation->cancel();
        fixture.advance(settling_time);

        check_ended(*operation);
        BOOST_TEST(other->code() == error_code());
        BOOST_TEST(other->value().valid_until() > fixture.time().now().steady);
        operation->value() = lease();
        fixture.advance(settling_time);
        BOOST_TEST(fixture.keys_left() == 5u);
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(cancelling_twice_is_as_good_as_once)
{
    at_every_step([](std::size_t steps) {
        running_client fixture;
        contended_and_slow.apply(fixture);
        const auto operation = acquire_patiently(fixture);
        const bool in_time = take_steps(fixture, steps, [&] { return operation->done(); });

        operation->cancel();
        fixture.step(fixture.time().elapsed());
        operation->cancel();
        fixture.run_until_idle();

        check_ended(*operation);
        check_keys(fixture, operation->value());
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(a_cancelled_extension_ends_at_once_and_the_lease_lives_on)
{
    with_every_behaviour_but_loss([](const behaviour& nodes, std::size_t steps) {
        on_lease<pending<>> on(nodes);
        const time_point before = on.held.valid_until();
        on.operation = launch(on.held.async_extend(long_ttl));
        const bool in_time = on.take_steps(steps);

        on.operation->cancel();
        on.fixture.run_until_idle();

        const error_code ec = on.operation->code();
        const time_point after = on.held.valid_until();
        check_ended(*on.operation);
        BOOST_TEST(!on.held.expired());
        BOOST_TEST((ec ? after == before : after > before));
        on.fixture.advance(settling_time);  // Grants that come now move nothing.
        BOOST_TEST(on.held.valid_until() == after);
        check_keys(on.fixture, on.held);
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(a_cancelled_release_ends_at_once_and_goes_on)
{
    with_every_behaviour_but_loss([](const behaviour& nodes, std::size_t steps) {
        on_lease<pending<release_outcome>> on(nodes);
        on.operation = launch(on.held.async_release());
        const bool in_time = on.take_steps(steps);

        on.operation->cancel();
        on.fixture.run_until_idle();

        check_ended(*on.operation);
        BOOST_TEST(on.held.expired());
        on.fixture.advance(settling_time);
        BOOST_TEST(on.fixture.keys_left() == 0u);
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(waiting_for_ready_nodes_can_be_cancelled)
{
    at_every_step([](std::size_t steps) {
        client_fixture fixture;
        fixture.each_node([](fake_node& node) { node.starts(node_state::connecting); });
        fixture.start_client();
        const auto operation = launch(fixture.locks().async_wait_ready());
        fixture.node(0).becomes(node_state::ready);
        fixture.time().at(10ms, [&] { fixture.node(1).becomes(node_state::ready); });
        fixture.time().at(20ms, [&] { fixture.node(2).becomes(node_state::ready); });
        const bool in_time = take_steps(fixture, steps, [&] { return operation->done(); });

        operation->cancel();
        fixture.run_until_idle();

        check_ended(*operation);
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(who_is_cancelled_while_it_joins_leaves_the_hold_as_it_was)
{
    with_every_behaviour_but_loss([](const behaviour& nodes, std::size_t steps) {
        on_lease<pending<lease>> on(nodes, {.ttl = 10s, .owner = ada});
        on.operation = acquire_with({.auto_extend = true, .owner = ada})(on.fixture);
        const bool in_time = on.take_steps(steps);

        on.operation->cancel();
        on.fixture.run_until_idle();

        check_ended(*on.operation);
        BOOST_TEST(!on.held.expired());
        on.operation->value() = lease();
        on.fixture.advance(settling_time);
        BOOST_TEST(on.fixture.keys_left() == 5u);
        check_keys(on.fixture, on.held);
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(one_of_two_acquisitions_of_an_owner_is_cancelled)
{
    with_every_behaviour([](const behaviour& nodes, std::size_t steps) {
        running_client fixture;
        nodes.apply(fixture);
        const auto start = acquire_with({.owner = ada});
        const auto operation = start(fixture);
        const auto other = start(fixture);
        const bool in_time = take_steps(fixture, steps, [&] { return operation->done(); });

        operation->cancel();
        fixture.run_until_idle();
        // Without a quorum for either, each finds the keys of the other one.
        if (operation->code() == error::contended)
            BOOST_TEST(operation->completions == 1u);
        else
            check_ended(*operation);
        operation->value() = lease();
        fixture.advance(1s);

        BOOST_TEST(other->completions == 1u);
        BOOST_TEST(static_cast<bool>(other->value()) == !other->code());
        check_keys(fixture, other->value());
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(a_cancelled_wait_for_loss_ends_at_once_and_the_lease_lives_on)
{
    with_every_behaviour_but_loss([](const behaviour& nodes, std::size_t steps) {
        on_lease<pending<>> on(nodes, {.ttl = 900ms, .auto_extend = true, .hold_max = 2s});
        on.operation = launch(on.held.async_wait_lost());
        const bool in_time = on.take_steps(steps);
        const bool over = on.held.expired();

        on.operation->cancel();
        on.fixture.run_until_idle();

        const error_code ec = on.operation->code();
        BOOST_TEST(on.operation->completions == 1u);
        BOOST_TEST(on.held.expired() == over);
        BOOST_TEST((over ? is_loss(ec) || ec == operation_aborted : ec == operation_aborted));
        on.held = lease();
        on.fixture.advance(1s);
        BOOST_TEST(on.fixture.keys_left() == 0u);
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(a_cancelled_close_ends_at_once_and_so_does_the_client)
{
    with_every_behaviour_but_loss([](const behaviour& nodes, std::size_t steps) {
        on_lease<pending<>> on(nodes);
        on.operation = launch(on.fixture.locks().async_close());
        const bool in_time = on.take_steps(steps);

        on.operation->cancel();
        on.fixture.run_until_idle();
        check_ended(*on.operation);
        on.fixture.advance(settling_time);

        BOOST_TEST(on.operation->completions == 1u);
        BOOST_TEST(on.fixture.run().completions == 1u);
        BOOST_TEST(on.fixture.run().code() == error_code());
        return in_time;
    });
}

BOOST_AUTO_TEST_SUITE_END()
