#include <redlock/with_lock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/fixture.hpp"
#include "support/spawned.hpp"

BOOST_AUTO_TEST_SUITE(test_with_lock_stop)

/// `acquire_options::stop_before`: a body that is cancelled while its lease is still valid.

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::error::operation_aborted;
using detail::verb;

namespace {

/// Valid for 2968 ms, so that it is stopped 1968 ms after the last extension was sent.
constexpr acquire_options stopped_early{.ttl = 3s, .stop_before = 1s};

/// A body that takes its time to stop, under a lease of a running client.
struct slow_to_stop : running_client
{
    explicit slow_to_stop(std::vector<std::string>* lines = nullptr)
        : running_client({.lines = lines})
    {
    }

    lease other = acquire("another", {.ttl = 1h});
    lease stopping = acquire("stopping", {.ttl = 1h});
    std::optional<milliseconds> left{};  ///< Of its lease, when it was cancelled.
    time_point valid_until{};

    std::shared_ptr<spawned> start(acquire_options options)
    {
        auto started =
            start_coroutine(*this, with_lock(locks(), "orders:42", options, [this](lease& held) {
                return wait_and_stop(held);
            }));
        run_until_idle();
        return started;
    }

    /// Lets the body end, which it must have begun to.
    void let_it_stop()
    {
        complete(stopping.async_release());
        run_until_idle();
    }

private:
    asio::awaitable<void> wait_and_stop(lease& held)
    {
        co_await asio::this_coro::throw_if_cancelled(false);
        auto waited = co_await other.async_wait_lost(asio::as_tuple(asio::deferred));
        BOOST_TEST(std::get<0>(waited) == operation_aborted);
        left = held.remaining();
        valid_until = held.valid_until();
        co_await asio::this_coro::reset_cancellation_state();
        co_await stopping.async_wait_lost(asio::deferred);
        BOOST_TEST(held.valid_until() == valid_until);
    }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_body_is_stopped_so_long_before_the_deadline_and_then_its_lease_is_released)
{
    slow_to_stop fixture;
    const auto user = fixture.start(stopped_early);
    fixture.silence(verb::extend);

    fixture.advance(1967ms);
    BOOST_TEST(!fixture.left.has_value());
    fixture.advance(1ms);
    BOOST_TEST_REQUIRE(fixture.left.has_value());
    BOOST_TEST(*fixture.left == 1s);
    fixture.advance(500ms);
    BOOST_TEST(!user->done());
    BOOST_TEST(fixture.holders("orders:42", "") == 0u);
    fixture.let_it_stop();

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error::lease_lost);
    BOOST_TEST(fixture.holders("orders:42", "") == 5u);
    BOOST_TEST(fixture.locks().metrics().lost == 0u);
}

BOOST_AUTO_TEST_CASE(a_body_that_takes_too_long_to_stop_has_lost_its_lease)
{
    slow_to_stop fixture;
    const auto user = fixture.start(stopped_early);
    fixture.silence(verb::extend);

    fixture.advance(3s);
    fixture.let_it_stop();

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error::lease_lost);
    BOOST_TEST(fixture.locks().metrics().lost == 1u);
}

BOOST_AUTO_TEST_CASE(a_body_whose_lease_is_extended_in_time_is_not_stopped)
{
    slow_to_stop fixture;
    const auto user = fixture.start(stopped_early);

    for (int outage = 0; outage < 10; ++outage)
    {
        // Shorter than two thirds of the ttl less the time to stop.
        fixture.each_node([](fake_node& node) { node.on(verb::extend).error("LOADING"); });
        fixture.advance(500ms);
        fixture.be_honest();
        fixture.advance(2s);
    }

    BOOST_TEST(!fixture.left.has_value());
    BOOST_TEST(!user->done());
}

BOOST_AUTO_TEST_CASE(a_lease_whose_body_is_stopped_is_extended_no_more)
{
    slow_to_stop fixture;
    const auto user = fixture.start(stopped_early);
    fixture.each_node([](fake_node& node) { node.on(verb::extend).error("LOADING"); });
    fixture.advance(2s);
    BOOST_TEST_REQUIRE(fixture.left.has_value());

    fixture.be_honest();
    fixture.log().clear();
    fixture.advance(500ms);

    BOOST_TEST(fixture.log(verb::extend).empty());
    fixture.let_it_stop();
    BOOST_TEST(user->done());
}

BOOST_AUTO_TEST_CASE(an_extension_that_waits_for_ready_nodes_is_not_sent_after_the_stop)
{
    std::vector<std::string> lines;
    slow_to_stop fixture(&lines);
    const auto user = fixture.start(stopped_early);
    fixture.each_node([](fake_node& node) { node.becomes(node_state::down); });
    fixture.advance(2s);
    BOOST_TEST_REQUIRE(fixture.left.has_value());

    fixture.log().clear();
    fixture.each_node([](fake_node& node) { node.becomes(node_state::ready); });
    fixture.advance(500ms);

    // Nodes that are back take it again, up to the deadline that it has.
    for (const asked_question& each : fixture.log(verb::extend))
        BOOST_TEST((each.key != "orders:42" || each.ttl < stopped_early.ttl));
    for (const std::string& line : lines)
        BOOST_TEST(!line.starts_with("extend"), line);
    fixture.let_it_stop();
    BOOST_TEST(user->done());
}

BOOST_AUTO_TEST_CASE(a_hold_that_others_share_is_extended_for_them)
{
    slow_to_stop fixture;
    acquire_options options = stopped_early;
    options.owner = owner(1);
    const lease shared =
        fixture.acquire("orders:42", {.ttl = 3s, .auto_extend = true, .owner = owner(1)});
    const auto user = fixture.start(options);
    fixture.each_node([](fake_node& node) { node.on(verb::extend).error("LOADING"); });
    fixture.advance(2s);
    BOOST_TEST_REQUIRE(fixture.left.has_value());

    fixture.be_honest();
    fixture.advance(10s);

    BOOST_TEST(!shared.expired());
    fixture.valid_until = shared.valid_until();
    fixture.let_it_stop();
    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error::lease_lost);
    BOOST_TEST(!shared.expired());
}

BOOST_AUTO_TEST_CASE(who_joins_a_hold_whose_body_is_stopped_has_it_extended_again)
{
    slow_to_stop fixture;
    acquire_options options = stopped_early;
    options.owner = owner(1);
    const auto user = fixture.start(options);
    fixture.each_node([](fake_node& node) { node.on(verb::extend).error("LOADING"); });
    fixture.advance(2s);
    BOOST_TEST_REQUIRE(fixture.left.has_value());

    fixture.be_honest();
    const lease shared =
        fixture.acquire("orders:42", {.ttl = 3s, .auto_extend = true, .owner = owner(1)});
    fixture.advance(10s);

    BOOST_TEST(!shared.expired());
    fixture.valid_until = shared.valid_until();
    fixture.let_it_stop();
    BOOST_TEST(user->done());
}

BOOST_AUTO_TEST_CASE(a_body_is_stopped_before_the_limit_of_its_hold_and_that_is_the_reason)
{
    slow_to_stop fixture;
    acquire_options options = stopped_early;
    options.hold_max = 10s;
    const auto user = fixture.start(options);

    fixture.advance(10s);
    BOOST_TEST_REQUIRE(fixture.left.has_value());
    BOOST_TEST(*fixture.left == 1s);
    fixture.let_it_stop();

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error::hold_limit_reached);
}

BOOST_AUTO_TEST_CASE(a_body_is_stopped_soon_after_a_suspension_of_the_machine)
{
    slow_to_stop fixture;
    const auto user = fixture.start(stopped_early);
    fixture.silence(verb::extend);

    fixture.time().stop(manual_time::clock::steady);
    fixture.time().advance(2s);
    fixture.time().resume(manual_time::clock::steady);
    BOOST_TEST(!fixture.left.has_value());
    fixture.advance(500ms);

    BOOST_TEST_REQUIRE(fixture.left.has_value());
    BOOST_TEST(*fixture.left > 0ms);
    fixture.let_it_stop();
    BOOST_TEST(user->done());
}

BOOST_AUTO_TEST_SUITE_END()
