#ifndef REDLOCK_TEST_SUPPORT_AT_EVERY_STEP_HPP
#define REDLOCK_TEST_SUPPORT_AT_EVERY_STEP_HPP

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>
#include <boost/version.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "support/fixture.hpp"

/** Replays of a scenario that is interrupted at every moment at which that can happen.

    Before its first step, after the first, after the second, until it ends by itself before its
    turn has come. A step is one handler, or, when none is ready, the passing of time to the next
    event.
*/
namespace redlock::test {

/// More than it takes a node to answer in any scenario, and less than any ttl.
inline constexpr milliseconds settling_time{500};

inline constexpr milliseconds long_ttl{30'000};

/// Answers come `answer` later from one node to the next, and commands run `run` later.
void slow_down(client_fixture& fixture, milliseconds answer, milliseconds run);

/// Coroutines of users may be cancelled from here on.
#if BOOST_VERSION >= 108800
inline constexpr std::size_t first_cancellable_step = 0;
#else
// The `co_spawn` of Boost 1.83 throws out of `run()` if its coroutine, whichever it is, is
// cancelled before its first step.
inline constexpr std::size_t first_cancellable_step = 1;
#endif

enum class effect
{
    none,
    another_holds,  ///< The resource is taken, so that a lease on it would be lost.
    reconnects,     ///< A release may reach its node later than the client lives.
    times_out,      ///< Every answer comes too late, also that to a release.
};

/// A way for nodes to behave.
struct behaviour
{
    const char* name;
    std::function<void(client_fixture&)> apply;
    effect worth_knowing = effect::none;
};

extern const behaviour at_once;
extern const behaviour one_after_the_other;
extern const behaviour late;
extern const behaviour contended_and_slow;

/// These and some more.
extern const std::vector<behaviour> behaviours;

/// Steps until something is done, at most `count` times. @return Whether it was not done.
template <class Done>
bool take_steps(client_fixture& fixture, std::size_t count, Done done)
{
    const nanoseconds limit = fixture.time().elapsed() + std::chrono::seconds(10);
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
        (!ec || ec == asio::error::operation_aborted || ec == condition::nodes_unavailable),
        ec.message()
    );
}

[[nodiscard]] inline bool is_loss(error_code ec) noexcept
{
    return ec == error::lease_lost || ec == error::hold_limit_reached;
}

/// The same for one whose lease or client may have ended under it.
template <class Operation>
void check_ended_with_its_lease(const Operation& operation)
{
    if (is_loss(operation.code()) || operation.code() == error::not_running)
        BOOST_TEST(operation.completions == 1u);
    else
        check_ended(operation);
}

/// After an acquisition: a lease that is held is on a quorum of nodes, else nothing is left.
void check_keys(client_fixture& fixture, lease& held);

using acquisition = std::shared_ptr<pending<lease>>;

/// Acquires "orders:42", whatever holds it for less than 400 ms.
[[nodiscard]] acquisition acquire_patiently(client_fixture& fixture);

/// The lease on which an operation is tried, and the operation.
template <class Operation>
struct on_lease
{
    explicit on_lease(
        const behaviour& nodes,
        const acquire_options& options = {.ttl = milliseconds(10'000)}
    )
        : held(fixture.acquire("orders:42", options))
    {
        nodes.apply(fixture);
    }

    /// Steps until the operation has ended, at most `count` times. @return Whether it has not.
    bool take_steps(std::size_t count)
    {
        return test::take_steps(fixture, count, [this] { return operation->done(); });
    }

    running_client fixture;
    lease held;
    std::shared_ptr<Operation> operation;
};

}  // namespace redlock::test

#endif
