#include <redlock/with_lock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

#include "support/at_every_step.hpp"
#include "support/spawned.hpp"

BOOST_AUTO_TEST_SUITE(test_with_lock_interrupted)

/// `with_lock`, interrupted at every moment at which that can happen.

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::error::operation_aborted;

namespace {

using body = std::function<asio::awaitable<void>(lease&)>;

/// What a body does with its lease.
struct body_kind
{
    const char* name;
    body run;
    milliseconds hold_max = 3'600'000ms;
};

asio::awaitable<void> extend_it(lease& held)
{
    co_await held.async_extend(20s);
    co_await held.async_extend(30s);
}

asio::awaitable<void> wait_for_its_loss(lease& held)
{
    co_await held.async_wait_lost(asio::as_tuple(asio::deferred));
}

asio::awaitable<void> release_it(lease& held)
{
    co_await held.async_release();
}

asio::awaitable<void> destroy_it(lease& held)
{
    co_await held.async_extend(20s);
    held = lease();
}

asio::awaitable<void> move_it_away_and_back(lease& held)
{
    lease mine = std::move(held);
    co_await mine.async_extend(20s);
    held = std::move(mine);
    co_await held.async_extend(30s);
}

asio::awaitable<void> move_it_to_a_local(lease& held)
{
    lease mine = std::move(held);
    co_await mine.async_extend(20s);
}

asio::awaitable<void> throw_something(lease& held)
{
    co_await held.async_extend(20s);
    throw std::out_of_range("of the body");
}

const std::array bodies{
    body_kind{"extends its lease", extend_it},
    body_kind{"waits for its loss", wait_for_its_loss, 12s},
    body_kind{"releases its lease", release_it},
    body_kind{"destroys its lease", destroy_it},
    body_kind{"moves its lease away and back", move_it_away_and_back},
    body_kind{"moves its lease to a local variable", move_it_to_a_local},
    body_kind{"throws", throw_something},
};

/// A user's coroutine that runs under a lock.
struct under_lock
{
    under_lock(const behaviour& nodes, const body_kind& kind)
    {
        nodes.apply(fixture);
        const acquire_options options{.ttl = 10s, .wait = 400ms, .hold_max = kind.hold_max};
        user = start_coroutine(fixture, with_lock(fixture.locks(), "orders:42", options, kind.run));
    }

    bool take_steps(std::size_t count)
    {
        return test::take_steps(fixture, count, [this] { return user->done(); });
    }

    /// Lets the coroutine end, which takes no longer than a release.
    void check_ends()
    {
        fixture.advance(settling_time);
        const error_code ec = user->code();
        BOOST_TEST(user->completions == 1u);
        const bool ended = ec == operation_aborted || ec == error::not_running;
        BOOST_TEST((!ec || ended || is_loss(ec) || ec == condition::not_acquired), ec.message());
    }

    void check_nothing_is_left()
    {
        user.reset();
        fixture.destroy_client();
        fixture.advance(settling_time);
        BOOST_TEST(fixture.client_is_gone());
    }

    running_client fixture;
    std::shared_ptr<spawned> user;
};

/// Replays every body with every behaviour. @param scenario Returns whether it was interrupted.
template <class Scenario>
void with_every_body(Scenario scenario)
{
    for (const body_kind& kind : bodies)
    {
        BOOST_TEST_CONTEXT("a body that " << kind.name)
        {
            with_every_behaviour([&](const behaviour& nodes, std::size_t steps) {
                return scenario(nodes, kind, steps);
            });
        }
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_cancelled_one_ends_with_its_release)
{
    with_every_body([](const behaviour& nodes, const body_kind& kind, std::size_t steps) {
        under_lock on(nodes, kind);
        const bool in_time = on.take_steps(steps + first_cancellable_step);

        on.user->signal.emit(asio::cancellation_type::terminal);
        on.check_ends();

        BOOST_TEST(on.fixture.keys_left() == 0u);
        on.check_nothing_is_left();
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(one_whose_client_is_cancelled_ends)
{
    with_every_body([](const behaviour& nodes, const body_kind& kind, std::size_t steps) {
        under_lock on(nodes, kind);
        const bool in_time = on.take_steps(steps);

        on.fixture.locks().cancel();
        on.check_ends();

        BOOST_TEST(on.fixture.run().completions == 1u);
        on.check_nothing_is_left();
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(one_whose_client_is_destroyed_ends)
{
    with_every_body([](const behaviour& nodes, const body_kind& kind, std::size_t steps) {
        under_lock on(nodes, kind);
        // The client has to live until the coroutine has begun to acquire.
        const bool in_time = on.take_steps(steps + 1);

        on.fixture.destroy_client();
        on.check_ends();

        on.check_nothing_is_left();
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(one_whose_client_closes_ends_and_leaves_no_key)
{
    with_every_body([](const behaviour& nodes, const body_kind& kind, std::size_t steps) {
        under_lock on(nodes, kind);
        const bool in_time = on.take_steps(steps);

        const auto closed = launch(on.fixture.locks().async_close());
        on.check_ends();
        take_steps(on.fixture, 5000, [&] { return closed->done(); });
        on.fixture.advance(settling_time);

        BOOST_TEST(closed->completions == 1u);
        BOOST_TEST(closed->code() == error_code());
        if (nodes.worth_knowing != effect::reconnects)
            BOOST_TEST(on.fixture.keys_left() == 0u);
        on.check_nothing_is_left();
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(its_context_can_be_destroyed)
{
    with_every_body([](const behaviour& nodes, const body_kind& kind, std::size_t steps) {
        under_lock on(nodes, kind);
        const bool in_time = on.take_steps(steps);
        on.user.reset();

        on.fixture.destroy_context();

        BOOST_TEST(on.fixture.client_is_gone());
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(a_loss_at_any_time_ends_it)
{
    with_every_body([](const behaviour& nodes, const body_kind& kind, std::size_t steps) {
        under_lock on(nodes, kind);
        const bool in_time = on.take_steps(steps);

        on.fixture.time().advance(1h);  // Everything stood still, and all deadlines have passed.
        on.fixture.advance(15s);        // One that was acquired only now lasts up to its hold_max.
        on.check_ends();

        on.fixture.advance(settling_time);
        on.check_nothing_is_left();
        return in_time;
    });
}

namespace {

/// Lets a body run that asks its client nothing, and interrupts it after each number of steps: it
/// succeeds only if it has held the resource to its end.
void check_success_is_protected(const std::function<void(client_fixture&)>& interrupt)
{
    at_every_step([&](std::size_t steps) {
        running_client fixture;
        bool protected_to_the_end = false;
        const auto work = [&](lease& held) -> asio::awaitable<void> {
            for (int i = 0; i < 10; ++i)
                co_await asio::post(asio::deferred);
            protected_to_the_end = !held.expired();
        };
        const auto user =
            start_coroutine(fixture, with_lock(fixture.locks(), "orders:42", {}, work));
        const bool in_time = take_steps(fixture, steps, [&] { return user->done(); });

        interrupt(fixture);
        fixture.advance(settling_time);

        BOOST_TEST(user->completions == 1u);
        BOOST_TEST((user->code() || protected_to_the_end));
        return in_time;
    });
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_close_at_any_time_leaves_a_body_its_lease_until_it_has_ended)
{
    at_every_step([](std::size_t steps) {
        running_client fixture;
        bool always_protected = true;
        const auto work = [&](lease& held) -> asio::awaitable<void> {
            for (int i = 0; i < 10; ++i)
            {
                always_protected &= !held.expired();
                co_await asio::post(asio::deferred);
            }
        };
        const auto user =
            start_coroutine(fixture, with_lock(fixture.locks(), "orders:42", {}, work));
        const bool in_time = take_steps(fixture, steps, [&] { return user->done(); });

        const auto closed = launch(fixture.locks().async_close());
        fixture.advance(settling_time);

        BOOST_TEST(always_protected);
        BOOST_TEST(user->completions == 1u);
        BOOST_TEST(
            (user->code() == error_code() || user->code() == operation_aborted ||
             user->code() == error::not_running),
            user->code().message()
        );
        BOOST_TEST(closed->completions == 1u);
        BOOST_TEST(fixture.keys_left() == 0u);
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(a_body_that_succeeds_has_held_its_lease_to_the_end)
{
    check_success_is_protected([](client_fixture& fixture) {
        fixture.locks().async_close(asio::detached);
    });
    check_success_is_protected([](client_fixture& fixture) { fixture.locks().cancel(); });
    check_success_is_protected([](client_fixture& fixture) { fixture.time().advance(1h); });
    check_success_is_protected([](client_fixture& fixture) {
        fixture.each_node([](fake_node& node) { node.store().lose_all(); });
    });
}

BOOST_AUTO_TEST_SUITE_END()
