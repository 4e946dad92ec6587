#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/fixture.hpp"

/** What happens when something is cancelled or destroyed, at every moment at which that can happen.

    A scenario is replayed again and again: interrupted before its first step, after the first,
    after the second, until it ends by itself before its turn has come. A step is one handler, or,
    when none is ready, the passing of time to the next event.
*/

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::cancellation_type;
using asio::error::operation_aborted;
using detail::verb;

namespace {

/// More than it takes a node to answer in any scenario, and less than any ttl.
constexpr milliseconds settling_time = 500ms;

constexpr milliseconds long_ttl = 30s;

enum class effect
{
    none,
    another_holds,  ///< The resource is taken, so that a lease on it would be lost.
    reconnects,     ///< A release may reach its node later than the client lives.
};

/// A way for nodes to behave.
struct behaviour
{
    const char* name;
    std::function<void(client_fixture&)> apply;
    effect worth_knowing = effect::none;
};

void slow_down(client_fixture& fixture, milliseconds answer, milliseconds run)
{
    for (std::size_t index = 0; index < fixture.node_count(); ++index)
    {
        const auto nth = static_cast<int>(index + 1);
        for (const verb what : {verb::acquire, verb::extend, verb::release, verb::holder})
            fixture.node(index).on(what).after(nth * answer).runs_after(nth * run);
    }
}

const std::array behaviours{
    behaviour{"all answer at once", [](client_fixture&) {}},
    behaviour{
        "all answer one after the other",
        [](client_fixture& fixture) { slow_down(fixture, 5ms, 0ms); }},
    behaviour{"commands run late", [](client_fixture& fixture) { slow_down(fixture, 0ms, 9ms); }},
    behaviour{
        "commands run after the timeout",
        [](client_fixture& fixture) { slow_down(fixture, 0ms, 60ms); }},
    behaviour{
        "two answers are lost",
        [](client_fixture& fixture) {
            fixture.each_node(0, 2, [](fake_node& node) {
                node.on(verb::acquire).loses_answer();
                node.on(verb::extend).loses_answer();
            });
        }},
    behaviour{
        "three answers are lost",
        [](client_fixture& fixture) {
            fixture.each_node(0, 3, [](fake_node& node) {
                node.on(verb::acquire).loses_answer();
                node.on(verb::extend).loses_answer();
            });
        }},
    behaviour{
        "the resource is held for a while",
        [](client_fixture& fixture) { fixture.hold_elsewhere("orders:42", 100ms, 0, 3); },
        effect::another_holds},
    behaviour{
        "the resource is held for a while and nodes are slow",
        [](client_fixture& fixture) {
            fixture.hold_elsewhere("orders:42", 100ms, 1, 4);
            slow_down(fixture, 4ms, 1ms);
        },
        effect::another_holds},
    behaviour{
        "a connection breaks",
        [](client_fixture& fixture) {
            fixture.node(0).on(verb::acquire).after(5ms).once();
            fixture.node(1).on(verb::acquire).breaks_connection(20ms).once();
            fixture.node(2).on(verb::release).breaks_connection(20ms).once();
        },
        effect::reconnects},
    behaviour{
        "two nodes refuse and one is slow",
        [](client_fixture& fixture) {
            fixture.each_node(0, 2, [](fake_node& node) {
                node.on(verb::acquire).error("LOADING");
                node.on(verb::extend).error("LOADING");
            });
            fixture.node(2).on(verb::acquire).after(10ms);
            fixture.node(2).on(verb::extend).after(10ms);
        }},
};

const behaviour& at_once = behaviours[0];
const behaviour& one_after_the_other = behaviours[1];
const behaviour& late = behaviours[2];
const behaviour& contended_and_slow = behaviours[7];

/// Steps until something is done, at most `count` times. @return Whether it was not done.
template <class Done>
bool take_steps(client_fixture& fixture, std::size_t count, Done done)
{
    const nanoseconds limit = fixture.time().elapsed() + 10s;
    for (std::size_t taken = 0; taken < count; ++taken)
    {
        if (done() || !fixture.step(limit))
            return false;
    }
    return !done();
}

/** Replays a scenario, interrupting it after 0, 1, 2, ... steps.

    @param scenario Is given the number of steps; returns whether it was interrupted.
*/
template <class Scenario>
void at_every_step(Scenario scenario)
{
    for (std::size_t steps = 0;; ++steps)
    {
        BOOST_TEST_CONTEXT("after " << steps << " steps")
        {
            if (!scenario(steps))
                return;
        }
        BOOST_TEST_REQUIRE(steps < 5000u);
    }
}

/// Replays a scenario with every behaviour, and at every step.
template <class Scenario>
void with_every_behaviour(Scenario scenario)
{
    for (const behaviour& nodes : behaviours)
    {
        BOOST_TEST_CONTEXT(nodes.name)
        {
            at_every_step([&](std::size_t steps) { return scenario(nodes, steps); });
        }
    }
}

/// As above, for scenarios that begin with a lease.
template <class Scenario>
void with_every_behaviour_but_loss(Scenario scenario)
{
    for (const behaviour& nodes : behaviours)
    {
        if (nodes.worth_knowing == effect::another_holds)
            continue;
        BOOST_TEST_CONTEXT(nodes.name)
        {
            at_every_step([&](std::size_t steps) { return scenario(nodes, steps); });
        }
    }
}

/// The operation has ended once: cancelled, or just before that as it would have ended anyway.
template <class Operation>
void check_ended(const Operation& operation)
{
    const error_code ec = operation.code();
    BOOST_TEST(operation.completions == 1u);
    BOOST_TEST(
        (!ec || ec == operation_aborted || ec == condition::nodes_unavailable), ec.message()
    );
}

/// After an acquisition: a lease that is held is on a quorum of nodes, else nothing is left.
void check_keys(client_fixture& fixture, lease& held)
{
    fixture.advance(settling_time);
    if (held)
    {
        BOOST_TEST(!held.expired());
        BOOST_TEST(fixture.keys_left() >= 3u);
        held = lease();
        fixture.advance(settling_time);
    }
    BOOST_TEST(fixture.keys_left() == 0u);
}

using start_acquire = std::function<std::shared_ptr<pending<lease>>(client_fixture&)>;

/// Cancels an acquisition at every step: it ends at once, and leaves nothing behind.
void cancel_acquisition_everywhere(
    const behaviour& nodes,
    cancellation_type type,
    const start_acquire& start
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

const start_acquire acquire_patiently = [](client_fixture& fixture) {
    return launch(fixture.locks().async_acquire("orders:42", {.ttl = long_ttl, .wait = 400ms}));
};

const start_acquire try_to_acquire = [](client_fixture& fixture) {
    return launch(fixture.locks().async_try_acquire("orders:42", long_ttl));
};

/// The lease on which an operation is tried, and the operation.
template <class Operation>
struct on_lease
{
    explicit on_lease(const behaviour& nodes) : held(fixture.acquire("orders:42", {.ttl = 10s}))
    {
        nodes.apply(fixture);
    }

    running_client fixture;
    lease held;
    std::shared_ptr<Operation> operation;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(test_cancellation)

BOOST_AUTO_TEST_CASE(a_cancelled_acquisition_ends_at_once_and_leaves_nothing)
{
    for (const behaviour& nodes : behaviours)
    {
        BOOST_TEST_CONTEXT(nodes.name)
        {
            cancel_acquisition_everywhere(nodes, cancellation_type::terminal, acquire_patiently);
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

BOOST_AUTO_TEST_CASE(a_cancelled_attempt_ends_at_once_and_leaves_nothing)
{
    for (const behaviour& nodes : behaviours)
    {
        BOOST_TEST_CONTEXT(nodes.name)
        {
            cancel_acquisition_everywhere(nodes, cancellation_type::terminal, try_to_acquire);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_cancelled_attempt_with_a_report_ends_at_once_and_leaves_nothing)
{
    diagnostics report;
    const start_acquire start = [&report](client_fixture& fixture) {
        return launch(
            fixture.locks().async_try_acquire("orders:42", {.ttl = long_ttl, .report = &report})
        );
    };

    cancel_acquisition_everywhere(contended_and_slow, cancellation_type::terminal, start);
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
        const bool in_time = take_steps(on.fixture, steps, [&] { return on.operation->done(); });

        on.operation->cancel();
        on.fixture.run_until_idle();

        const error_code ec = on.operation->code();
        check_ended(*on.operation);
        BOOST_TEST(!on.held.expired());
        BOOST_TEST((ec ? on.held.valid_until() == before : on.held.valid_until() > before));
        check_keys(on.fixture, on.held);
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(a_cancelled_release_ends_at_once_and_goes_on)
{
    with_every_behaviour_but_loss([](const behaviour& nodes, std::size_t steps) {
        on_lease<pending<release_outcome>> on(nodes);
        on.operation = launch(on.held.async_release());
        const bool in_time = take_steps(on.fixture, steps, [&] { return on.operation->done(); });

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

BOOST_AUTO_TEST_CASE(a_cancelled_run_ends_with_all_operations)
{
    with_every_behaviour([](const behaviour& nodes, std::size_t steps) {
        client_fixture fixture;
        nodes.apply(fixture);
        const auto operation = acquire_patiently(fixture);
        const auto run = launch(fixture.locks().async_run());
        const bool in_time = take_steps(fixture, steps, [&] { return operation->done(); });

        run->cancel();
        fixture.advance(settling_time);

        BOOST_TEST(run->completions == 1u);
        BOOST_TEST(run->code() == operation_aborted);
        check_ended(*operation);
        if (!operation->value() && nodes.worth_knowing != effect::reconnects)
            BOOST_TEST(fixture.keys_left() == 0u);
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(a_cancelled_client_ends_all_operations)
{
    with_every_behaviour([](const behaviour& nodes, std::size_t steps) {
        running_client fixture;
        nodes.apply(fixture);
        const auto operation = acquire_patiently(fixture);
        const auto ready = launch(fixture.locks().async_wait_ready());
        const bool in_time = take_steps(fixture, steps, [&] { return operation->done(); });

        fixture.locks().cancel();
        fixture.run_until_idle();
        check_ended(*operation);
        BOOST_TEST(ready->completions == 1u);
        fixture.advance(settling_time);

        BOOST_TEST(fixture.run().completions == 1u);
        BOOST_TEST(fixture.run().code() == error_code());
        if (!operation->value() && nodes.worth_knowing != effect::reconnects)
            BOOST_TEST(fixture.keys_left() == 0u);
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(destroying_the_client_ends_all_operations)
{
    with_every_behaviour_but_loss([](const behaviour& nodes, std::size_t steps) {
        on_lease<pending<>> on(nodes);
        const auto acquired = acquire_patiently(on.fixture);
        on.operation = launch(on.held.async_extend(long_ttl));
        const bool in_time =
            take_steps(on.fixture, steps, [&] { return acquired->done() && on.operation->done(); });

        on.fixture.destroy_client();
        on.fixture.run_until_idle();
        BOOST_TEST(acquired->completions == 1u);
        BOOST_TEST(on.operation->completions == 1u);
        on.fixture.advance(settling_time);

        BOOST_TEST(on.fixture.run().completions == 1u);
        BOOST_TEST(on.fixture.run().code() == error_code());
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(nothing_is_left_of_a_client_once_it_and_its_leases_are_destroyed)
{
    at_every_step([](std::size_t steps) {
        running_client fixture;
        slow_down(fixture, 5ms, 1ms);
        auto operation = acquire_patiently(fixture);
        const bool in_time = take_steps(fixture, steps, [&] { return operation->done(); });

        fixture.destroy_client();
        fixture.advance(settling_time);
        operation.reset();
        fixture.advance(settling_time);

        BOOST_TEST(fixture.client_is_gone());
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(destroying_a_lease_during_its_extension_releases_it)
{
    with_every_behaviour_but_loss([](const behaviour& nodes, std::size_t steps) {
        on_lease<pending<>> on(nodes);
        on.operation = launch(on.held.async_extend(long_ttl));
        const bool in_time = take_steps(on.fixture, steps, [&] { return on.operation->done(); });

        on.held = lease();
        on.fixture.advance(settling_time);

        BOOST_TEST(on.operation->completions == 1u);
        BOOST_TEST(on.fixture.keys_left() == 0u);
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(destroying_a_lease_during_its_release_changes_nothing)
{
    with_every_behaviour_but_loss([](const behaviour& nodes, std::size_t steps) {
        on_lease<pending<release_outcome>> on(nodes);
        on.operation = launch(on.held.async_release());
        const bool in_time = take_steps(on.fixture, steps, [&] { return on.operation->done(); });

        on.held = lease();
        on.fixture.advance(settling_time);

        BOOST_TEST(on.operation->completions == 1u);
        BOOST_TEST(on.operation->code() == error_code());
        BOOST_TEST(on.fixture.keys_left() == 0u);
        return in_time;
    });
}

namespace {

/// A program in one coroutine: it owns the client, and leases at every suspension.
asio::awaitable<void> whole_program(client owned, bool& finished)
{
    client locks = std::move(owned);
    locks.async_run(asio::detached);
    co_await locks.async_wait_ready();
    lease one = co_await locks.async_acquire("one", 10s);
    lease two = co_await locks.async_acquire("two", 10s);
    co_await one.async_extend(20s);
    const lease none = co_await locks.async_try_acquire("one", 10s);
    co_await one.async_release();
    one = co_await locks.async_acquire("three", 10s);
    {
        const lease four = co_await locks.async_acquire("four", 10s);
    }
    two = lease();
    co_await one.async_release();
    finished = true;
}

/// Lets a program run for some steps and destroys the execution context under it.
bool destroy_context_after(std::size_t steps, const behaviour& nodes)
{
    client_fixture fixture;
    nodes.apply(fixture);
    bool finished = false;
    asio::co_spawn(
        fixture.context(), whole_program(fixture.take_client(), finished), asio::detached
    );
    const bool in_time = take_steps(fixture, steps, [&] { return finished; });

    fixture.destroy_context();

    BOOST_TEST(fixture.client_is_gone());
    return in_time;
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_execution_context_can_be_destroyed_at_any_time)
{
    at_every_step([](std::size_t steps) { return destroy_context_after(steps, at_once); });
    at_every_step([](std::size_t steps) {
        return destroy_context_after(steps, one_after_the_other);
    });
    at_every_step([](std::size_t steps) { return destroy_context_after(steps, late); });
}

BOOST_AUTO_TEST_CASE(an_execution_context_can_be_destroyed_with_an_operation_that_waits_for_run)
{
    client_fixture fixture;
    auto acquired = launch(fixture.locks().async_acquire("orders:42", {.wait = forever}));
    auto ready = launch(fixture.locks().async_wait_ready());
    fixture.run_until_idle();
    acquired.reset();
    ready.reset();

    fixture.destroy_context();

    BOOST_TEST(fixture.client_is_gone());
}

BOOST_AUTO_TEST_CASE(an_execution_context_can_be_destroyed_while_the_client_stops)
{
    at_every_step([](std::size_t steps) {
        running_client fixture;
        slow_down(fixture, 5ms, 1ms);
        fixture.node(3).stops_after(10ms);
        auto operation = acquire_patiently(fixture);
        fixture.advance(2ms);
        fixture.locks().cancel();
        const bool in_time = take_steps(fixture, steps, [&] { return fixture.run().done(); });
        operation.reset();

        fixture.destroy_context();

        BOOST_TEST(fixture.client_is_gone());
        return in_time;
    });
}

BOOST_AUTO_TEST_SUITE_END()
