#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <tuple>

#include "support/at_every_step.hpp"

BOOST_AUTO_TEST_SUITE(test_client_end)

/// Clients that are cancelled, closed or destroyed, at every moment at which that can happen.

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::error::operation_aborted;

namespace {

constexpr owner ada{1};

/// A client with one of everything under way that a client does.
class busy_client
{
public:
    explicit busy_client(const behaviour& nodes)
    {
        nodes.apply(fixture);
        ready_ = launch(fixture.locks().async_wait_ready());
        acquired_ = acquire_patiently(fixture);
        joined_ = launch(
            fixture.locks().async_acquire("shared", {.ttl = long_ttl, .wait = 400ms, .owner = ada})
        );
        extension_ = launch(shared_.async_extend(20s));
        released_ = launch(given_back_.async_release());
        lost_ = launch(extended_.async_wait_lost());
    }

    /// Until all that ends by itself has ended, and some automatic extensions have been.
    bool take_steps(std::size_t count)
    {
        return test::take_steps(fixture, count, [this] {
            return acquired_->done() && joined_->done() && extension_->done() &&
                   released_->done() && fixture.time().elapsed() >= 1s;
        });
    }

    void check_all_ended() const
    {
        check_ended(*ready_);
        check_ended_with_its_lease(*acquired_);
        check_ended_with_its_lease(*joined_);
        check_ended_with_its_lease(*extension_);
        check_ended_with_its_lease(*released_);
        check_ended_with_its_lease(*lost_);
    }

    [[nodiscard]] const pending<>& lost() const noexcept { return *lost_; }

    void drop_what_was_waited_for() { extended_ = lease(); }

    void drop_leases()
    {
        extended_ = lease();
        shared_ = lease();
        given_back_ = lease();
        acquired_->value() = lease();
        joined_->value() = lease();
    }

    running_client fixture;

private:
    lease extended_ = fixture.acquire("extended", {.ttl = 900ms, .auto_extend = true});
    lease shared_ = fixture.acquire("shared", {.ttl = 10s, .owner = ada});
    lease given_back_ = fixture.acquire("given back");
    std::shared_ptr<pending<>> ready_;
    acquisition acquired_;
    acquisition joined_;
    std::shared_ptr<pending<>> extension_;
    std::shared_ptr<pending<release_outcome>> released_;
    std::shared_ptr<pending<>> lost_;
};

/// Ends a busy client after each number of steps, in a way that leaves its leases alone.
void end_everywhere(const std::function<void(client_fixture&)>& end)
{
    with_every_behaviour([&](const behaviour& nodes, std::size_t steps) {
        busy_client on(nodes);
        const bool in_time = on.take_steps(steps);

        end(on.fixture);
        on.fixture.run_until_idle();
        on.check_all_ended();
        on.fixture.advance(settling_time);

        on.check_all_ended();
        BOOST_TEST(on.fixture.run().completions == 1u);
        BOOST_TEST(on.fixture.run().code() == error_code());
        on.drop_leases();
        on.fixture.destroy_client();
        on.fixture.advance(settling_time);
        BOOST_TEST(on.fixture.client_is_gone());
        return in_time;
    });
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_cancelled_client_ends_everything)
{
    end_everywhere([](client_fixture& fixture) { fixture.locks().cancel(); });
}

BOOST_AUTO_TEST_CASE(a_destroyed_client_ends_everything)
{
    end_everywhere([](client_fixture& fixture) { fixture.destroy_client(); });
}

BOOST_AUTO_TEST_CASE(a_client_that_is_cancelled_while_it_closes_ends_everything)
{
    end_everywhere([](client_fixture& fixture) {
        const auto closed = launch(fixture.locks().async_close());
        fixture.step(fixture.time().elapsed());
        fixture.step(fixture.time().elapsed());
        fixture.locks().cancel();
        fixture.run_until_idle();
        BOOST_TEST(closed->completions == 1u);
    });
}

BOOST_AUTO_TEST_CASE(a_client_that_closes_ends_everything_and_leaves_no_key)
{
    with_every_behaviour([](const behaviour& nodes, std::size_t steps) {
        // Where no answer is in time, releases are repeated until the ttl is over: see close.cpp.
        if (nodes.worth_knowing == effect::times_out)
            return false;
        busy_client on(nodes);
        const bool in_time = on.take_steps(steps);

        const auto closed = launch(on.fixture.locks().async_close());
        on.fixture.run_until_idle();
        BOOST_TEST(on.lost().done());
        on.drop_what_was_waited_for();
        take_steps(on.fixture, 5000, [&] { return closed->done(); });
        on.fixture.advance(settling_time);

        on.check_all_ended();
        BOOST_TEST(closed->completions == 1u);
        BOOST_TEST(closed->code() == error_code());
        BOOST_TEST(on.fixture.run().completions == 1u);
        if (nodes.worth_knowing != effect::reconnects)
            BOOST_TEST(on.fixture.keys_left() == 0u);
        on.drop_leases();
        on.fixture.destroy_client();
        on.fixture.advance(settling_time);
        BOOST_TEST(on.fixture.client_is_gone());
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(a_client_that_is_destroyed_while_it_closes_ends)
{
    with_every_behaviour_but_loss([](const behaviour& nodes, std::size_t steps) {
        on_lease<pending<>> on(nodes);
        on.operation = launch(on.fixture.locks().async_close());
        const bool in_time = on.take_steps(steps);

        on.fixture.destroy_client();
        on.fixture.advance(settling_time);

        check_ended(*on.operation);
        BOOST_TEST(on.fixture.run().completions == 1u);
        on.held = lease();
        on.fixture.advance(settling_time);
        BOOST_TEST(on.fixture.client_is_gone());
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(however_a_client_ends_an_acquisition_is_granted_before_or_leaves_nothing)
{
    using end = std::function<void(client_fixture&, pending<>&)>;
    const std::tuple<const char*, end, error_code> ends[] = {
        {"its run is cancelled",
         [](client_fixture&, pending<>& run) { run.cancel(); },
         operation_aborted},
        {"it is cancelled",
         [](client_fixture& fixture, pending<>&) { fixture.locks().cancel(); },
         {}},
        {"it is destroyed",
         [](client_fixture& fixture, pending<>&) { fixture.destroy_client(); },
         {}},
    };
    for (const auto& [name, end_client, outcome] : ends)
    {
        BOOST_TEST_CONTEXT(name)
        {
            with_every_behaviour([&](const behaviour& nodes, std::size_t steps) {
                client_fixture fixture;
                nodes.apply(fixture);
                const auto operation = acquire_patiently(fixture);
                const auto run = launch(fixture.locks().async_run());
                const bool in_time = take_steps(fixture, steps, [&] { return operation->done(); });

                end_client(fixture, *run);
                fixture.run_until_idle();
                BOOST_TEST(operation->completions == 1u);
                fixture.advance(settling_time);

                BOOST_TEST(run->completions == 1u);
                BOOST_TEST(run->code() == outcome);
                check_ended_with_its_lease(*operation);
                if (!operation->value() && nodes.worth_knowing != effect::reconnects)
                    BOOST_TEST(fixture.keys_left() == 0u);
                return in_time;
            });
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
