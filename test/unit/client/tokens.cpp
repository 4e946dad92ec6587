#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>
#include <boost/version.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <future>
#include <string>
#include <utility>

#include "support/fixture.hpp"
#include "support/spawned.hpp"

#if BOOST_VERSION >= 108600
#include <boost/asio/cancel_after.hpp>
#endif

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

    /// The nodes answer nothing any more.
    void silence_nodes()
    {
        silence(verb::acquire);
        silence(verb::extend);
    }

    [[nodiscard]] bool is_extended() const { return held.remaining() > 15s; }

    /// Runs the context in real time until something is done. Virtual time goes on, too slowly for
    /// any timeout of a node.
    template <class Done>
    void run_in_real_time(Done done)
    {
        for (int turn = 0; turn < 5000 && !done(); ++turn)
        {
            context().restart();
            context().run_one_for(1ms);
            time().advance(1us);
        }
        BOOST_TEST_REQUIRE(done());
    }
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

#if BOOST_VERSION >= 108600  // Before, Asio had no cancel_after.
BOOST_FIXTURE_TEST_CASE(cancel_after_ends_it, bench)
{
    silence_nodes();
    std::size_t calls = 0;
    const auto seen = [&](error_code ec, auto...) {
        ++calls;
        BOOST_TEST(ec == operation_aborted);
        BOOST_TEST(!on_strand());
    };

    held.async_extend(20s, asio::cancel_after(1ms, seen));
    locks().async_acquire("orders:42", 10s, asio::cancel_after(1ms, seen));
    run_in_real_time([&] { return calls == 2; });
}

BOOST_FIXTURE_TEST_CASE(cancel_after_leaves_alone_what_is_faster, bench)
{
    std::size_t calls = 0;
    const auto seen = [&](error_code ec, auto...) {
        ++calls;
        BOOST_TEST(ec == error_code());
    };

    held.async_extend(20s, asio::cancel_after(1h, seen));
    locks().async_acquire("orders:42", 10s, asio::cancel_after(1h, seen));
    advance(100ms);

    BOOST_TEST(calls == 2u);
}
#endif

BOOST_FIXTURE_TEST_CASE(a_parallel_group_waits_for_all, bench)
{
    std::size_t calls = 0;

    asio::experimental::make_parallel_group(
        held.async_extend(20s), locks().async_acquire("orders:42", 10s)
    )
        .async_wait(
            asio::experimental::wait_for_all(),
            [&](std::array<std::size_t, 2>, error_code extended, error_code acquired, lease) {
                ++calls;
                BOOST_TEST(extended == error_code());
                BOOST_TEST(acquired == error_code());
            }
        );
    advance(100ms);

    BOOST_TEST(calls == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_parallel_group_cancels_the_losers, bench)
{
    silence_nodes();
    asio::steady_timer timer(context(), 0ms);
    std::size_t calls = 0;

    asio::experimental::make_parallel_group(
        timer.async_wait(asio::deferred),
        held.async_extend(20s),
        locks().async_acquire("orders:42", 10s)
    )
        .async_wait(
            asio::experimental::wait_for_one(),
            [&](std::array<std::size_t, 3> order,
                error_code,
                error_code extended,
                error_code acquired,
                lease) {
                ++calls;
                BOOST_TEST(order[0] == 0u);
                BOOST_TEST(extended == operation_aborted);
                BOOST_TEST(acquired == operation_aborted);
            }
        );
    run_in_real_time([&] { return calls > 0; });

    BOOST_TEST(calls == 1u);
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
