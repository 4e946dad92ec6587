#include <redlock/lead.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <memory>

#include "support/at_every_step.hpp"
#include "support/elector.hpp"
#include "support/spawned.hpp"

BOOST_AUTO_TEST_SUITE(test_lead_interrupted)

/// `lead`, interrupted at every moment at which that can happen: it stands, leads, resigns, and
/// stands again.

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::error::operation_aborted;

namespace {

/// A program that leads, and resigns from its first two terms.
struct leading
{
    explicit leading(const behaviour& nodes)
    {
        nodes.apply(fixture);
        const auto body = [this](term& now) { return serve(now); };
        const lead_options options{.ttl = 10s, .pause = 0ms, .watchdog = false};
        user = start_coroutine(fixture, lead(fixture.locks(), "orders:42", options, body));
    }

    /// Until the second term has begun.
    bool take_steps(std::size_t count)
    {
        return test::take_steps(fixture, count, [this] { return user->done() || begun == 2; });
    }

    void check_ends(error_code expected)
    {
        fixture.advance(settling_time);
        BOOST_TEST(user->completions == 1u);
        const error_code ec = user->code();
        BOOST_TEST((ec == expected || ec == error::not_running), ec.message());
        BOOST_TEST(begun == ended);
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
    std::size_t begun = 0;
    std::size_t ended = 0;

private:
    struct stay
    {
        explicit stay(std::size_t& counter) : left(counter) {}
        stay(const stay&) = delete;
        stay& operator=(const stay&) = delete;
        ~stay() { ++left; }

        std::size_t& left;
    };

    asio::awaitable<void> serve(term& now)
    {
        ++begun;
        const stay here(ended);
        co_await asio::post(asio::deferred);
        if (begun > 2)
            co_await until_cancelled();
        now.resign();
        for (int i = 0; i < 3; ++i)
            co_await asio::post(asio::deferred);
    }
};

/// Nodes with which it leads soon: one that does not stands for ever.
template <class Scenario>
void with_nodes_that_grant(Scenario scenario)
{
    for (const behaviour* nodes : {&at_once, &one_after_the_other, &late, &contended_and_slow})
    {
        BOOST_TEST_CONTEXT(nodes->name)
        {
            at_every_step([&](std::size_t steps) { return scenario(*nodes, steps); });
        }
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_cancelled_one_ends_with_its_release)
{
    with_nodes_that_grant([](const behaviour& nodes, std::size_t steps) {
        leading on(nodes);
        const bool in_time = on.take_steps(steps + first_cancellable_step);

        on.user->signal.emit(asio::cancellation_type::terminal);
        on.check_ends(operation_aborted);

        BOOST_TEST(on.fixture.keys_left() == 0u);
        on.check_nothing_is_left();
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(one_whose_client_is_cancelled_returns)
{
    with_nodes_that_grant([](const behaviour& nodes, std::size_t steps) {
        leading on(nodes);
        const bool in_time = on.take_steps(steps);

        on.fixture.locks().cancel();
        on.check_ends({});

        on.check_nothing_is_left();
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(one_whose_client_closes_returns_and_leaves_no_key)
{
    with_nodes_that_grant([](const behaviour& nodes, std::size_t steps) {
        leading on(nodes);
        const bool in_time = on.take_steps(steps);

        const auto closed = launch(on.fixture.locks().async_close());
        on.check_ends({});
        take_steps(on.fixture, 5000, [&] { return closed->done(); });
        on.fixture.advance(settling_time);

        BOOST_TEST(closed->code() == error_code());
        BOOST_TEST(on.fixture.keys_left() == 0u);
        on.check_nothing_is_left();
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(its_context_can_be_destroyed)
{
    with_nodes_that_grant([](const behaviour& nodes, std::size_t steps) {
        leading on(nodes);
        const bool in_time = on.take_steps(steps);
        on.user.reset();

        on.fixture.destroy_context();

        BOOST_TEST(on.fixture.client_is_gone());
        BOOST_TEST(on.begun == on.ended);
        return in_time;
    });
}

BOOST_AUTO_TEST_CASE(a_loss_at_any_time_ends_a_term_and_not_the_leading)
{
    with_nodes_that_grant([](const behaviour& nodes, std::size_t steps) {
        leading on(nodes);
        const bool in_time = on.take_steps(steps);
        const std::size_t before = on.begun;

        on.fixture.time().advance(1h);  // Everything stood still, and all deadlines have passed.
        on.fixture.be_honest();
        on.fixture.advance(15s);

        BOOST_TEST(!on.user->done());
        BOOST_TEST(on.begun > before);
        on.fixture.locks().cancel();
        on.check_ends({});
        on.check_nothing_is_left();
        return in_time;
    });
}

BOOST_AUTO_TEST_SUITE_END()
