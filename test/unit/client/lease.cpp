#include <redlock/lease.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/version.hpp>
#if BOOST_VERSION >= 108600
#include <boost/asio/cancel_after.hpp>
#endif
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_lease)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

static_assert(!std::is_copy_constructible_v<lease>);
static_assert(!std::is_copy_assignable_v<lease>);
static_assert(std::is_nothrow_move_constructible_v<lease>);
static_assert(std::is_nothrow_move_assignable_v<lease>);
static_assert(std::is_nothrow_destructible_v<lease>);
// No key of a map and no element of a set: two leases are never the same.
static_assert(!std::equality_comparable<lease>);
static_assert(!std::invocable<std::less<>, const lease&, const lease&>);
static_assert(!std::is_default_constructible_v<std::hash<lease>>);

BOOST_AUTO_TEST_CASE(an_empty_lease_is_expired_and_has_no_resource)
{
    const lease empty;

    BOOST_TEST(!empty);
    BOOST_TEST(empty.expired());
    BOOST_TEST(empty.resource().empty());
    BOOST_TEST(empty.remaining() == 0ms);
    BOOST_TEST(empty.valid_until() == time_point());
}

BOOST_AUTO_TEST_CASE(an_empty_lease_can_be_neither_extended_nor_released)
{
    asio::io_context context;
    lease empty;
    std::vector<error_code> outcomes;
    const auto note = [&](error_code ec, auto...) { outcomes.push_back(ec); };
    const auto released = [&](error_code ec, release_outcome outcome) {
        outcomes.push_back(ec);
        BOOST_TEST(outcome == release_outcome::unconfirmed);
    };

    empty.async_extend(asio::bind_executor(context, note));
    empty.async_extend(10s, asio::bind_executor(context, note));
    empty.async_announce("x", asio::bind_executor(context, note));
    empty.async_release(asio::bind_executor(context, released));
    BOOST_TEST(outcomes.empty());
    context.run();

    BOOST_TEST_REQUIRE(outcomes.size() == 4u);
    for (const error_code& ec : outcomes)
        BOOST_TEST(ec == error::invalid_argument);
}

#if BOOST_VERSION >= 108600  // Before, Asio had no cancel_after.
// A timer of another context would keep the handler, and fire into freed memory.
BOOST_AUTO_TEST_CASE(an_operation_of_an_empty_lease_ends_with_the_context_of_its_handler)
{
    auto context = std::make_unique<asio::io_context>();
    const auto kept = std::make_shared<int>();
    const auto note = [kept](error_code, auto...) {};
    lease empty;

    empty.async_extend(asio::cancel_after(1h, asio::bind_executor(*context, note)));
    empty.async_extend(10s, asio::cancel_after(1h, asio::bind_executor(*context, note)));
    empty.async_release(asio::cancel_after(1h, asio::bind_executor(*context, note)));
    empty.async_wait_lost(asio::cancel_after(1h, asio::bind_executor(*context, note)));
    context.reset();

    BOOST_TEST(kept.use_count() == 2);  // Here, and in `note`.
}

BOOST_AUTO_TEST_CASE(an_operation_of_an_empty_lease_completes_once_with_a_limit_of_time)
{
    asio::io_context context;
    std::vector<error_code> outcomes;
    const auto note = [&](error_code ec, auto...) { outcomes.push_back(ec); };
    lease empty;

    empty.async_release(asio::cancel_after(1h, asio::bind_executor(context, note)));
    empty.async_wait_lost(asio::cancel_after(0s, asio::bind_executor(context, note)));
    BOOST_TEST(outcomes.empty());
    context.run();

    BOOST_TEST_REQUIRE(outcomes.size() == 2u);
    for (const error_code& ec : outcomes)
        BOOST_TEST(ec == error::invalid_argument);
}

#endif

BOOST_AUTO_TEST_CASE(a_lease_knows_its_resource_without_the_prefix)
{
    running_client fixture({.key_prefix = "app:"});

    const lease held = fixture.acquire("orders:42");

    BOOST_TEST(held.resource() == "orders:42");
}

BOOST_AUTO_TEST_CASE(a_lease_that_was_moved_from_is_empty)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");

    const lease moved = std::move(held);

    BOOST_TEST(!held);
    BOOST_TEST(held.expired());
    BOOST_TEST(!moved.expired());
}

BOOST_AUTO_TEST_CASE(a_lease_expires_at_its_deadline)
{
    running_client fixture;
    const lease held = fixture.acquire("orders:42", {.ttl = 1s});
    const nanoseconds left = held.valid_until() - fixture.time().now().steady;

    fixture.advance(left - 1ns);
    BOOST_TEST(!held.expired());
    BOOST_TEST(held.remaining() == 0ms);  // Rounded down.
    fixture.advance(1ns);

    BOOST_TEST(held.expired());
    BOOST_TEST(static_cast<bool>(held));
    BOOST_TEST(fixture.keys_left() == 5u);  // They last a little longer.
    fixture.advance(1h);
    BOOST_TEST(held.remaining() == 0ms);  // Never negative.
}

BOOST_AUTO_TEST_CASE(a_lease_expires_while_the_steady_clock_stands_still)
{
    running_client fixture;
    const lease held = fixture.acquire("orders:42", {.ttl = 1s});

    fixture.time().stop(manual_time::clock::steady);  // Suspended.
    fixture.time().advance(900ms);
    BOOST_TEST(!held.expired());
    BOOST_TEST(held.remaining() == 87ms);
    fixture.time().advance(100ms);

    BOOST_TEST(held.expired());
    BOOST_TEST(held.remaining() == 0ms);
}

BOOST_AUTO_TEST_CASE(a_lease_expires_while_the_boot_clock_stands_still)
{
    running_client fixture;
    const lease held = fixture.acquire("orders:42", {.ttl = 1s});

    fixture.time().stop(manual_time::clock::boot);
    fixture.time().advance(1s);

    BOOST_TEST(held.expired());
}

BOOST_AUTO_TEST_SUITE_END()
