#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <future>
#include <string>
#include <utility>

#include "support/fixture.hpp"
#include "support/spawned.hpp"

BOOST_AUTO_TEST_SUITE(test_tokens)

/// Asio's completion tokens, on an operation that yields a code and on one that yields a lease too.
/// What each operation has to do for them is in initiation.cpp.

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::error::operation_aborted;
using detail::verb;

namespace {

struct bench : running_client
{
    lease held = acquire("held");
    lease received;

    [[nodiscard]] bool is_extended() const { return held.remaining() > 15s; }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_future_gets_the_result, bench)
{
    auto extended = held.async_extend(20s, asio::use_future);
    std::future<lease> acquired = locks().async_acquire("orders:42", 10s, asio::use_future);

    advance(100ms);

    BOOST_TEST_REQUIRE((extended.wait_for(0s) == std::future_status::ready));
    BOOST_CHECK_NO_THROW(extended.get());
    BOOST_TEST_REQUIRE((acquired.wait_for(0s) == std::future_status::ready));
    BOOST_TEST(acquired.get().resource() == "orders:42");
}

BOOST_FIXTURE_TEST_CASE(a_future_carries_a_failure, bench)
{
    std::future<lease> acquired = locks().async_acquire("", 10s, asio::use_future);

    run_until_idle();

    BOOST_CHECK_EXCEPTION(
        (void)acquired.get(),
        boost::system::system_error,
        [](const boost::system::system_error& failure) {
            return failure.code() == error::invalid_argument;
        }
    );
}

BOOST_FIXTURE_TEST_CASE(detached_goes_on_alone, bench)
{
    held.async_extend(20s, asio::detached);

    advance(100ms);

    BOOST_TEST(is_extended());
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_nobody_takes_is_released, bench)
{
    locks().async_acquire("orders:42", 10s, asio::detached);

    run_until_idle();

    BOOST_TEST(sent_to(verb::release).size() == 5u);
    BOOST_TEST(keys_left() == 5u);  // Of the other lease.
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_can_await_it, bench)
{
    const auto body = [&]() -> asio::awaitable<void> {
        co_await held.async_extend(20s, asio::use_awaitable);
        received = co_await locks().async_acquire("orders:42", 10s, asio::use_awaitable);
    };

    const auto user = start_coroutine(*this, body());
    run_until_idle();

    BOOST_TEST(user->completions == 1u);
    BOOST_TEST(is_extended());
    BOOST_TEST(received.resource() == "orders:42");
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_can_await_a_deferred_operation, bench)
{
    const auto body = [&]() -> asio::awaitable<void> {
        co_await held.async_extend(20s, asio::deferred);
        received = co_await locks().async_acquire("orders:42", 10s, asio::deferred);
    };

    const auto user = start_coroutine(*this, body());
    run_until_idle();

    BOOST_TEST(user->completions == 1u);
    BOOST_TEST(is_extended());
    BOOST_TEST(received.resource() == "orders:42");
    BOOST_TEST(keys_left() == 10u);
}

BOOST_FIXTURE_TEST_CASE(an_awaited_failure_is_thrown, bench)
{
    const auto body = [&]() -> asio::awaitable<void> {
        received = co_await locks().async_acquire("", 10s);
    };

    const auto user = start_coroutine(*this, body());
    run_until_idle();

    BOOST_TEST(user->code() == error::invalid_argument);
}

BOOST_FIXTURE_TEST_CASE(as_tuple_yields_the_code_as_a_value, bench)
{
    const auto body = [&]() -> asio::awaitable<void> {
        const auto extended = co_await held.async_extend(20s, asio::as_tuple(asio::use_awaitable));
        BOOST_TEST(std::get<0>(extended) == error_code());
        auto acquired =
            co_await locks().async_acquire("orders:42", 10s, asio::as_tuple(asio::use_awaitable));
        BOOST_TEST(std::get<0>(acquired) == error_code());
        received = std::get<1>(std::move(acquired));
    };

    const auto user = start_coroutine(*this, body());
    run_until_idle();

    BOOST_TEST(user->completions == 1u);
    BOOST_TEST(received.resource() == "orders:42");
}

BOOST_FIXTURE_TEST_CASE(redirect_error_sets_the_code, bench)
{
    error_code extended = operation_aborted;
    error_code acquired = operation_aborted;
    const auto body = [&]() -> asio::awaitable<void> {
        co_await held.async_extend(20s, asio::redirect_error(asio::use_awaitable, extended));
        received = co_await locks().async_acquire(
            "orders:42", 10s, asio::redirect_error(asio::use_awaitable, acquired)
        );
    };

    const auto user = start_coroutine(*this, body());
    run_until_idle();

    BOOST_TEST(user->completions == 1u);
    BOOST_TEST(extended == error_code());
    BOOST_TEST(acquired == error_code());
    BOOST_TEST(received.resource() == "orders:42");
}

BOOST_FIXTURE_TEST_CASE(the_resource_is_copied, bench)
{
    std::string resource = "orders:42";
    auto later = locks().async_acquire(resource, 10s);
    resource = "changed:1";

    const auto acquired = launch(std::move(later));
    run_until_idle();

    BOOST_TEST(acquired->value().resource() == "orders:42");
}

BOOST_AUTO_TEST_SUITE_END()
