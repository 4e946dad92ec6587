#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "support/at_every_step.hpp"

BOOST_AUTO_TEST_SUITE(test_destruction)

/// Leases that go away, and contexts that do, at every moment at which that can happen.

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

constexpr owner ada{1};

constexpr acquire_options short_and_extended{.ttl = 900ms, .auto_extend = true};

/// A lease on which everything is under way that can be: an extension, automatic ones, and waiting
/// for its loss. With some behaviours it is lost.
struct busy_lease
{
    explicit busy_lease(const behaviour& nodes)
    {
        nodes.apply(fixture);
        extension = launch(held.async_extend(2s));
        lost = launch(held.async_wait_lost());
    }

    bool take_steps(std::size_t count)
    {
        return test::take_steps(fixture, count, [this] {
            return fixture.time().elapsed() >= 1200ms;
        });
    }

    running_client fixture;
    lease held = fixture.acquire("orders:42", short_and_extended);
    std::shared_ptr<pending<>> extension;
    std::shared_ptr<pending<>> lost;
};

/// Lets a busy lease go after each number of steps. @param keys_live How long its keys may.
void let_go_everywhere(const std::function<void(lease&)>& let_go, milliseconds keys_live)
{
    with_every_behaviour_but_loss([&](const behaviour& nodes, std::size_t steps) {
        busy_lease on(nodes);
        const bool in_time = on.take_steps(steps);

        let_go(on.held);
        BOOST_TEST(on.held.expired());
        on.fixture.advance(std::max(keys_live, settling_time));

        check_ended_with_its_lease(*on.extension);
        check_ended_with_its_lease(*on.lost);
        BOOST_TEST(on.fixture.keys_left() == 0u);
        on.fixture.destroy_client();
        on.fixture.advance(settling_time);
        BOOST_TEST(on.fixture.client_is_gone());
        return in_time;
    });
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_lease_that_is_destroyed_at_any_time_is_released)
{
    let_go_everywhere([](lease& held) { held = lease(); }, 0ms);
}

BOOST_AUTO_TEST_CASE(the_keys_of_a_lease_that_is_abandoned_at_any_time_expire)
{
    let_go_everywhere([](lease& held) { held.abandon(); }, 2500ms);
}

BOOST_AUTO_TEST_CASE(a_lease_can_be_moved_while_everything_is_under_way)
{
    with_every_behaviour_but_loss([](const behaviour& nodes, std::size_t steps) {
        busy_lease on(nodes);
        const bool in_time = on.take_steps(steps);
        const time_point until = on.held.valid_until();
        const bool over = on.held.expired();

        lease moved = std::move(on.held);

        BOOST_TEST(moved.valid_until() == until);
        BOOST_TEST(moved.expired() == over);
        on.held = lease();
        on.fixture.advance(settling_time);
        BOOST_TEST((moved.expired() ? on.lost->done() : !on.lost->done()));
        moved = lease();
        on.fixture.advance(settling_time);
        check_ended_with_its_lease(*on.extension);
        check_ended_with_its_lease(*on.lost);
        BOOST_TEST(on.fixture.keys_left() == 0u);
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(a_lease_can_be_moved_over_another_one_while_both_are_extended)
{
    with_every_behaviour_but_loss([](const behaviour& nodes, std::size_t steps) {
        on_lease<pending<>> on(at_once, short_and_extended);
        lease other = on.fixture.acquire("another", {.ttl = long_ttl});
        nodes.apply(on.fixture);
        on.operation = launch(on.held.async_extend(2s));
        const auto overwritten = launch(on.held.async_wait_lost());
        const auto extension = launch(other.async_extend());
        const auto lost = launch(other.async_wait_lost());
        const bool in_time = on.take_steps(steps);

        on.held = std::move(other);
        BOOST_TEST(!other);
        BOOST_TEST(!on.held.expired());
        on.fixture.advance(settling_time);

        check_ended_with_its_lease(*on.operation);
        check_ended_with_its_lease(*overwritten);
        check_ended(*extension);
        BOOST_TEST(!lost->done());
        BOOST_TEST(on.fixture.holders("orders:42", "") == 5u);
        BOOST_TEST(on.held.resource() == "another");
        check_keys(on.fixture, on.held);
        check_ended(*lost);
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(a_lease_can_be_destroyed_or_released_while_another_one_joins_its_hold)
{
    for (const bool released : {false, true})
    {
        BOOST_TEST_CONTEXT((released ? "released" : "destroyed"))
        {
            with_every_behaviour_but_loss([&](const behaviour& nodes, std::size_t steps) {
                on_lease<pending<lease>> on(nodes, {.ttl = 10s, .owner = ada});
                on.operation = launch(on.fixture.locks().async_acquire(
                    "orders:42", {.ttl = long_ttl, .wait = 400ms, .owner = ada}
                ));
                const bool in_time = on.take_steps(steps);

                std::shared_ptr<pending<release_outcome>> ended;
                if (released)
                    ended = launch(on.held.async_release());
                else
                    on.held = lease();
                on.fixture.advance(1s);

                if (ended)
                    check_ended(*ended);
                // Nodes may have denied it while the first lease was there.
                if (on.operation->code() != error::contended)
                    check_ended_with_its_lease(*on.operation);
                BOOST_TEST(static_cast<bool>(on.operation->value()) == !on.operation->code());
                check_keys(on.fixture, on.operation->value());
                return in_time;
            });
        }
    }
}

BOOST_AUTO_TEST_CASE(destroying_a_lease_during_its_release_changes_nothing)
{
    with_every_behaviour_but_loss([](const behaviour& nodes, std::size_t steps) {
        on_lease<pending<release_outcome>> on(nodes);
        on.operation = launch(on.held.async_release());
        const bool in_time = on.take_steps(steps);

        on.held = lease();
        on.fixture.advance(settling_time);

        BOOST_TEST(on.operation->completions == 1u);
        BOOST_TEST(on.operation->code() == error_code());
        BOOST_TEST(on.fixture.log(verb::release).size() == 5u);
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

BOOST_AUTO_TEST_CASE(a_cancellation_signal_may_outlive_the_execution_context_of_its_operation)
{
    asio::cancellation_signal stop;
    bool completed = false;
    {
        client_fixture fixture;
        fixture.locks().async_acquire(
            "orders:42",
            {.wait = forever},
            asio::bind_cancellation_slot(stop.slot(), [&](error_code, lease) { completed = true; })
        );
        fixture.run_until_idle();
        fixture.destroy_context();
    }

    stop.emit(asio::cancellation_type::terminal);

    BOOST_TEST(!completed);
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

namespace {

/// The end of a lease that its handlers own, by themselves.
struct self_owned_lease
{
    explicit self_owned_lease(acquire_options options)
    {
        auto held = std::make_shared<lease>(fixture.acquire("orders:42", options));
        held->async_wait_lost([held](error_code) {});
        held->async_wait_lost([held](error_code) { held->async_release(asio::detached); });
        held->async_extend([held](error_code) {});
        observed = held;
    }

    running_client fixture;
    std::weak_ptr<lease> observed;
};

/// Lets it live for some steps and destroys the execution context under it.
void destroy_context_everywhere(
    const acquire_options& options,
    const std::function<void(client_fixture&)>& prepare
)
{
    at_every_step([&](std::size_t steps) {
        self_owned_lease on(options);
        prepare(on.fixture);
        const bool in_time = take_steps(on.fixture, steps, [&] { return on.observed.expired(); });

        on.fixture.destroy_context();

        BOOST_TEST(on.observed.expired());
        BOOST_TEST(on.fixture.client_is_gone());
        return in_time;
    });
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_execution_context_can_be_destroyed_while_a_lease_is_extended_and_lost)
{
    const acquire_options options{.ttl = 900ms, .auto_extend = true, .hold_max = 2s};
    destroy_context_everywhere(options, [](client_fixture&) {});
    destroy_context_everywhere(options, [](client_fixture& fixture) {
        slow_down(fixture, 5ms, 1ms);
        fixture.each_node([](fake_node& node) { node.store().lose_all(); });
    });
    destroy_context_everywhere(options, [](client_fixture& fixture) {
        fixture.silence(verb::extend);
    });
}

BOOST_AUTO_TEST_CASE(an_execution_context_can_be_destroyed_while_the_client_closes)
{
    destroy_context_everywhere({.ttl = 900ms}, [](client_fixture& fixture) {
        slow_down(fixture, 5ms, 1ms);
        fixture.locks().async_close(asio::detached);
    });
}

BOOST_AUTO_TEST_SUITE_END()
