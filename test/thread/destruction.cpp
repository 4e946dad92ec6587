#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/pool_fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_destruction)

/// Clients, leases and contexts that are destroyed while other threads are at work.

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using detail::verb;

BOOST_AUTO_TEST_CASE(every_operation_completes_once_when_its_client_is_destroyed)
{
    for (int repetition = 0; repetition < 20; ++repetition)
    {
        pool_fixture fixture;
        fixture.node(0).on(verb::acquire).after(1ms);
        fixture.node(1).on(verb::acquire).after(1ms);
        fixture.node(2).on(verb::acquire).after(1ms);
        fixture.start();
        std::atomic<int> completions = 0;
        for (int number = 0; number < 50; ++number)
        {
            fixture.locks().async_acquire(
                std::to_string(number % 10), 10min, [&](error_code, lease) { ++completions; }
            );
            fixture.locks().async_wait_ready([&](error_code) { ++completions; });
        }

        fixture.join();

        BOOST_TEST(completions == 100);
    }
}

BOOST_AUTO_TEST_CASE(leases_are_destroyed_in_other_threads)
{
    pool_fixture fixture;
    fixture.start();
    std::vector<std::thread> threads;

    for (int number = 0; number < 50; ++number)
    {
        lease held =
            fixture.locks().async_acquire(std::to_string(number), 10min, asio::use_future).get();
        threads.emplace_back([taken = std::move(held)]() mutable { taken = lease(); });
    }
    for (std::thread& each : threads)
        each.join();
    fixture.join();

    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_lease_is_the_last_owner_of_a_client)
{
    for (int repetition = 0; repetition < 20; ++repetition)
    {
        pool_fixture fixture;
        fixture.start();
        lease held = fixture.locks().async_acquire("orders:42", 10min, asio::use_future).get();
        fixture.destroy_client();

        std::thread other([&] {
            if (repetition % 2)
                held.abandon();
            else
                held = lease();
        });

        other.join();
        fixture.join();
    }
}

BOOST_AUTO_TEST_CASE(an_extension_goes_on_while_its_lease_is_destroyed)
{
    pool_fixture fixture;
    fixture.start();
    std::atomic<int> completions = 0;

    for (int number = 0; number < 100; ++number)
    {
        lease held =
            fixture.locks().async_acquire(std::to_string(number), 10min, asio::use_future).get();
        held.async_extend(20min, [&](error_code) { ++completions; });
    }
    fixture.join();

    BOOST_TEST(completions == 100);
    BOOST_TEST(fixture.keys_left() == 0u);
}

namespace {

/// Acquires and releases until the client ends; holds leases at every suspension.
asio::awaitable<void> use(client& locks, int number)
{
    const std::string mine = std::to_string(number);
    for (;;)
    {
        lease held = co_await locks.async_acquire(mine, 10min);
        lease shared = co_await locks.async_try_acquire("shared", 10min);
        co_await held.async_extend(20min);
        co_await held.async_release();
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(coroutines_end_when_their_client_is_destroyed)
{
    for (int repetition = 0; repetition < 5; ++repetition)
    {
        pool_fixture fixture;
        fixture.start();
        std::atomic<int> ended = 0;
        for (int number = 0; number < 16; ++number)
        {
            asio::co_spawn(fixture.pool(), use(fixture.locks(), number), [&](std::exception_ptr) {
                ++ended;
            });
        }
        (void)fixture.locks().async_acquire("another", 10min, asio::use_future).get();

        fixture.locks().cancel();
        fixture.pool().join();

        BOOST_TEST(ended == 16);
    }
}

BOOST_AUTO_TEST_CASE(a_pool_is_stopped_with_operations_pending)
{
    for (int repetition = 0; repetition < 20; ++repetition)
    {
        const auto alive = std::make_shared<int>();
        {
            pool_fixture fixture;
            fixture.start();
            for (int number = 0; number < 16; ++number)
            {
                const std::string mine = std::to_string(number);
                fixture.locks().async_acquire(mine, 10min, [alive](error_code, lease) {});
            }
            fixture.pool().stop();
            fixture.pool().join();
        }
        BOOST_TEST(alive.use_count() == 1);
    }
}

BOOST_AUTO_TEST_SUITE_END()
