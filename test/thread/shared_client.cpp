#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>
#include <boost/version.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "support/in_threads.hpp"
#include "support/pool_fixture.hpp"

#if BOOST_VERSION >= 108600
#include <boost/asio/cancel_after.hpp>
#endif

BOOST_AUTO_TEST_SUITE(test_shared_client)

/// One client, used from many threads. What is checked most is that a thread sanitizer is silent.

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using detail::verb;

BOOST_AUTO_TEST_CASE(threads_acquire_extend_and_release_at_the_same_time)
{
    pool_fixture fixture;
    fixture.start();
    std::atomic<int> done = 0;

    in_threads(4, [&](int thread) {
        for (int repetition = 0; repetition < 100; ++repetition)
        {
            const std::string resource = std::to_string(thread) + ":" + std::to_string(repetition);
            lease held = fixture.locks().async_acquire(resource, 10min, asio::use_future).get();
            held.async_extend(20min, asio::use_future).get();
            const bool valid = !held.expired() && held.resource() == resource;
            const auto outcome = held.async_release(asio::use_future).get();
            done += valid && outcome == release_outcome::released ? 1 : 0;
        }
    });
    fixture.join();

    BOOST_TEST(done == 400);
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(only_one_thread_holds_a_resource)
{
    pool_fixture fixture;
    fixture.start();
    int unprotected = 0;  // But by the lease.

    in_threads(4, [&](int) {
        for (int repetition = 0; repetition < 25; ++repetition)
        {
            const acquire_options options{.ttl = 10min, .wait = forever};
            lease held = fixture.locks().async_acquire("counter", options, asio::use_future).get();
            ++unprotected;
            held.async_release(asio::use_future).get();
        }
    });
    fixture.join();

    BOOST_TEST(unprotected == 100);
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(nodes_wake_who_waits_while_threads_acquire_and_give_up)
{
    pool_fixture fixture(5, 4, mode::guarded);
    fixture.start();
    std::atomic<int> ended = 0;
    int unprotected = 0;  // But by the lease.

    in_threads(4, [&](int thread) {
        for (int repetition = 0; repetition < 50; ++repetition)
        {
            if (thread == 0)
            {
                fixture.wake("counter");
                ++ended;
                continue;
            }
            acquire_options options{.ttl = 30s, .wait = forever};
            if (thread == 1)
                options.wait = milliseconds(1);
            auto acquiring =
                fixture.locks().async_acquire("counter", options, asio::as_tuple(asio::use_future));
            auto [ec, held] = acquiring.get();
            if (!ec)
            {
                ++unprotected;
                held.async_release(asio::use_future).get();
            }
            ended += !ec || ec == error::contended ? 1 : 0;
        }
    });
    fixture.join();

    BOOST_TEST(ended == 200);
    BOOST_TEST(unprotected >= 100);
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(coroutines_in_a_pool_share_a_client)
{
    pool_fixture fixture;
    fixture.start();
    std::atomic<int> done = 0;
    const auto body = [&](int number) -> asio::awaitable<void> {
        for (int repetition = 0; repetition < 20; ++repetition)
        {
            lease held = co_await fixture.locks().async_acquire(std::to_string(number), 10min);
            co_await held.async_extend();
            co_await held.async_release();
            ++done;
        }
    };

    std::vector<std::future<void>> running;
    for (int number = 0; number < 32; ++number)
        running.push_back(asio::co_spawn(fixture.pool(), body(number), asio::use_future));
    for (auto& each : running)
        each.get();
    fixture.join();

    BOOST_TEST(done == 640);
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(nodes_are_looked_at_while_they_change)
{
    pool_fixture fixture;
    fixture.start();
    std::atomic<int> complete = 0;

    in_threads(4, [&](int thread) {
        for (int repetition = 0; repetition < 200; ++repetition)
        {
            if (thread == 0)
                fixture.node(0).becomes(repetition % 2 ? node_state::ready : node_state::down, "x");
            complete += fixture.locks().nodes().size() == 5 ? 1 : 0;
            fixture.locks().async_wait_ready(asio::use_future).get();
        }
    });
    fixture.join();

    BOOST_TEST(complete == 800);
}

#if BOOST_VERSION >= 108600  // Before, Asio had no cancel_after.
BOOST_AUTO_TEST_CASE(operations_cancelled_at_any_time_leave_nothing)
{
    pool_fixture fixture;
    for (std::size_t index = 0; index < 5; ++index)
        fixture.node(index).on(verb::acquire).after(milliseconds(index));
    fixture.start();
    std::atomic<int> ended = 0;
    const auto body = [&](int number) -> asio::awaitable<void> {
        for (int repetition = 0; repetition < 10; ++repetition)
        {
            const auto limit = std::chrono::microseconds(100 * (number + repetition));
            const auto outcome = co_await fixture.locks().async_acquire(
                std::to_string(number),
                10min,
                asio::cancel_after(limit, asio::as_tuple(asio::use_awaitable))
            );
            const error_code ec = std::get<0>(outcome);
            ended += !ec || ec == asio::error::operation_aborted ? 1 : 0;
        }
    };

    std::vector<std::future<void>> running;
    for (int number = 0; number < 32; ++number)
    {
        running.push_back(
            asio::co_spawn(asio::make_strand(fixture.pool()), body(number), asio::use_future)
        );
    }
    for (auto& each : running)
        each.get();
    fixture.join();

    BOOST_TEST(ended == 320);
    BOOST_TEST(fixture.keys_left() == 0u);
}
#endif

BOOST_AUTO_TEST_CASE(a_client_is_cancelled_while_threads_use_it)
{
    pool_fixture fixture;
    fixture.start();
    std::atomic<int> unexpected = 0;

    in_threads(4, [&](int thread) {
        for (int repetition = 0; repetition < 50; ++repetition)
        {
            if (thread == 0 && repetition == 10)
                fixture.locks().cancel();
            auto token = asio::as_tuple(asio::use_future);
            const auto resource = std::to_string(thread);
            auto [ec, held] = fixture.locks().async_acquire(resource, 10min, token).get();
            if (ec && ec != asio::error::operation_aborted && ec != error::not_running)
                ++unexpected;
            held.abandon();
            fixture.locks().cancel();
        }
    });
    fixture.join();

    BOOST_TEST(unexpected == 0);
}

BOOST_AUTO_TEST_CASE(a_handler_that_blocks_does_not_hold_up_the_client)
{
    pool_fixture fixture;
    fixture.start();
    std::promise<bool> finished;

    fixture.locks().async_acquire("one", 10min, [&](error_code, lease) {
        auto other = fixture.locks().async_acquire("two", 10min, asio::use_future);
        finished.set_value(other.wait_for(10s) == std::future_status::ready);
    });

    BOOST_TEST(finished.get_future().get());
    fixture.join();
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
