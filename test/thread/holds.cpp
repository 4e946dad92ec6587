#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "support/in_threads.hpp"
#include "support/pool_fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_holds)

/// What a client holds, used from many threads: shared by owner, watched, extended and closed.

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

constexpr owner ada{1};

const auto code_and_value = asio::as_tuple(asio::use_future);

/// What an operation may end with when its client is closed under it.
bool is_expected(error_code ec)
{
    return !ec || ec == asio::error::operation_aborted || ec == error::not_running ||
           ec == error::lease_lost;
}

}  // namespace

BOOST_AUTO_TEST_CASE(threads_share_the_hold_of_an_owner)
{
    pool_fixture fixture;
    fixture.start();
    std::atomic<int> sound = 0;

    in_threads(4, [&](int thread) {
        for (int repetition = 0; repetition < 100; ++repetition)
        {
            const milliseconds ttl = 10min + milliseconds(1000 * ((thread + repetition) % 5));
            const acquire_options options{.ttl = ttl, .wait = forever, .owner = ada};
            lease held = fixture.locks().async_acquire("shared", options, asio::use_future).get();
            bool valid = !held.expired();
            if (repetition % 3 == 0)
                held.async_extend(20min, asio::use_future).get();
            if (repetition % 2 == 0)
            {
                const auto outcome = held.async_release(asio::use_future).get();
                valid = valid && (outcome == release_outcome::released ||
                                  outcome == release_outcome::still_held);
            }
            sound += valid ? 1 : 0;
        }
    });
    fixture.join();

    BOOST_TEST(sound == 400);
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_wait_for_loss_ends_once_while_its_lease_ends_in_another_thread)
{
    pool_fixture fixture;
    fixture.start();
    std::atomic<int> told = 0;

    in_threads(4, [&](int thread) {
        for (int repetition = 0; repetition < 500; ++repetition)
        {
            const acquire_options options{.ttl = 10min, .owner = owner(repetition % 2)};
            const std::string resource = std::to_string(thread) + ":" + std::to_string(repetition);
            lease held = fixture.locks().async_acquire(resource, options, asio::use_future).get();
            auto lost = held.async_wait_lost(code_and_value);
            std::thread other([taken = std::move(held), repetition]() mutable {
                if (repetition % 3 == 0)
                    taken.abandon();
                else if (repetition % 3 == 1)
                    taken.async_release(asio::use_future).get();
            });
            told += std::get<0>(lost.get()) == error_code() ? 1 : 0;
            other.join();
        }
    });
    fixture.join();

    BOOST_TEST(told == 2000);
}

BOOST_AUTO_TEST_CASE(counters_and_nodes_are_read_while_threads_work)
{
    pool_fixture fixture;
    fixture.start();
    std::atomic<bool> stop = false;
    std::atomic<int> unsound = 0;
    std::thread reader([&] {
        metrics last;
        while (!stop)
        {
            const metrics now = fixture.locks().metrics();
            if (now.rounds < last.rounds || now.acquired < last.acquired || now.held > 4)
                ++unsound;
            if (fixture.locks().nodes().size() != 5)
                ++unsound;
            last = now;
        }
    });

    in_threads(4, [&](int thread) {
        for (int repetition = 0; repetition < 100; ++repetition)
        {
            const std::string resource = std::to_string(thread);
            lease held = fixture.locks().async_acquire(resource, 10min, asio::use_future).get();
            held.async_extend(asio::use_future).get();
            held.async_release(asio::use_future).get();
        }
    });
    const metrics counted = fixture.locks().metrics();
    stop = true;
    reader.join();
    fixture.join();

    BOOST_TEST(unsound == 0);
    BOOST_TEST(counted.acquired == 400u);
    BOOST_TEST(counted.extended == 400u);
    BOOST_TEST(counted.released == 400u);
    BOOST_TEST(counted.held == 0u);
}

BOOST_AUTO_TEST_CASE(leases_are_extended_while_threads_ask_them)
{
    pool_fixture fixture;
    fixture.start();
    const acquire_options options{.ttl = 1200ms, .auto_extend = true};
    const auto give_up = std::chrono::steady_clock::now() + 10s;
    std::atomic<int> unsound = 0;

    in_threads(4, [&](int thread) {
        const std::string resource = std::to_string(thread);
        lease held = fixture.locks().async_acquire(resource, options, asio::use_future).get();
        const time_point first = held.valid_until();
        auto lost = held.async_wait_lost(code_and_value);
        time_point last = first;
        while (last < first + 1s && std::chrono::steady_clock::now() < give_up)
        {
            const time_point now = held.valid_until();
            if (now < last || held.expired() || held.last_extension())
                ++unsound;
            last = now;
        }
        held.async_release(asio::use_future).get();
        if (std::get<0>(lost.get()) || last < first + 1s)
            ++unsound;
    });
    fixture.join();

    BOOST_TEST(unsound == 0);
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_client_is_closed_while_threads_use_it)
{
    for (int repetition = 0; repetition < 10; ++repetition)
    {
        pool_fixture fixture;
        fixture.start();
        std::atomic<int> unexpected = 0;
        std::atomic<int> closed = 0;

        in_threads(4, [&](int thread) {
            const acquire_options options{
                .ttl = 10min, .auto_extend = true, .owner = owner(1 + thread % 2)
            };
            for (int turn = 0; turn < 30; ++turn)
            {
                auto [ec, held] =
                    fixture.locks().async_try_acquire("shared", options, code_and_value).get();
                auto lost = held.async_wait_lost(code_and_value);
                auto extension = held.async_extend(code_and_value);
                held = lease();
                if (turn == 10 + repetition)
                {
                    auto [outcome] = fixture.locks().async_close(code_and_value).get();
                    closed += outcome ? 0 : 1;
                }
                for (const error_code each :
                     {ec, std::get<0>(lost.get()), std::get<0>(extension.get())})
                {
                    if (!is_expected(each) && each != error::invalid_argument)
                        ++unexpected;
                }
            }
        });
        fixture.join();

        BOOST_TEST(unexpected == 0);
        BOOST_TEST(closed == 1);
        BOOST_TEST(fixture.keys_left() == 0u);
    }
}

BOOST_AUTO_TEST_SUITE_END()
