// The watchdog looks at leases from a thread of its own, and a body may block its own thread.

#include <redlock/lead.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/eventually.hpp"
#include "support/pool_fixture.hpp"
#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_lead)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using detail::verb;

namespace {

using clock_type = std::chrono::steady_clock;

// What `on_overrun` was told. It has to be a function, and it changes atomic variables only.
std::atomic<int> overruns = 0;
std::atomic<clock_type::time_point> overrun_at{clock_type::time_point()};
std::atomic<std::thread::id> overrun_on{std::thread::id()};

void note_overrun(const overrun&) noexcept
{
    overrun_at = clock_type::now();
    overrun_on = std::this_thread::get_id();
    ++overruns;
}

constexpr lead_options
    one_second{.ttl = 1s, .stop_before = 200ms, .pause = 10ms, .on_overrun = note_overrun};

/// Clients of nodes that are slow to be taken for silent, but not too slow for a ttl of 1 s.
struct leading : pool_fixture
{
    explicit leading(std::size_t threads = 4) : pool_fixture(5, threads, mode::plain, 200ms)
    {
        overruns = 0;
    }

    void silence()
    {
        for (std::size_t node = 0; node < 5; ++node)
            this->node(node).on(verb::extend).never();
    }

    template <class Body>
    std::future<void> start_to_lead(const std::string& resource, lead_options options, Body& body)
    {
        return asio::co_spawn(
            pool(), lead(locks(), resource, options, std::ref(body)), asio::use_future
        );
    }

    void end(std::future<void>& led)
    {
        locks().cancel();
        led.get();
        join();
    }
};

/// Runs for a while, whatever becomes of its lease.
asio::awaitable<void> ignore_everything(std::chrono::milliseconds time)
{
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(asio::deferred);
}

asio::awaitable<void> until_cancelled()
{
    asio::steady_timer never(
        co_await asio::this_coro::executor, asio::steady_timer::time_point::max()
    );
    co_await never.async_wait(asio::deferred);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_body_that_ignores_its_cancellation_is_an_overrun_at_its_deadline)
{
    leading fixture;
    fixture.silence();
    fixture.start();
    std::atomic<int> begun = 0;
    std::atomic<clock_type::time_point> deadline{clock_type::time_point()};
    std::atomic<clock_type::time_point> ended{clock_type::time_point()};
    std::atomic<clock_type::time_point> begun_again{clock_type::time_point()};
    const auto body = [&](term& now) -> asio::awaitable<void> {
        if (++begun > 1)
        {
            begun_again = clock_type::now();
            co_return co_await until_cancelled();
        }
        deadline = now.held().valid_until();
        co_await ignore_everything(1500ms);
        ended = clock_type::now();
    };
    auto led = fixture.start_to_lead("jobs", one_second, body);

    BOOST_TEST(eventually([&] { return overruns > 0; }));
    BOOST_TEST(begun == 1);
    BOOST_TEST((overrun_at.load() > deadline.load() - 2ms));
    BOOST_TEST((overrun_at.load() < deadline.load() + 200ms));
    BOOST_TEST(eventually([&] { return begun > 1; }));
    BOOST_TEST(overruns == 1);
    BOOST_TEST((begun_again.load() >= ended.load()));
    fixture.end(led);
}

BOOST_AUTO_TEST_CASE(a_body_that_blocks_the_only_thread_is_an_overrun_that_is_told_on_another_one)
{
    leading fixture(1);
    fixture.start();
    std::atomic<std::thread::id> blocked{std::thread::id()};
    const auto body = [&](term&) -> asio::awaitable<void> {
        if (blocked.load() != std::thread::id())
            co_return co_await until_cancelled();
        blocked = std::this_thread::get_id();
        std::this_thread::sleep_for(1500ms);
    };
    auto led = fixture.start_to_lead("jobs", one_second, body);

    BOOST_TEST(eventually([] { return overruns > 0; }));
    BOOST_TEST((overrun_on.load() != blocked.load()));
    BOOST_TEST((overrun_on.load() != std::this_thread::get_id()));
    fixture.end(led);
    BOOST_TEST(overruns == 1);
}

BOOST_AUTO_TEST_CASE(a_body_whose_lease_is_extended_is_no_overrun_and_may_block_a_thread)
{
    leading fixture;
    fixture.start();
    std::atomic<bool> valid = false;
    std::atomic<bool> ended = false;
    const auto body = [&](term& now) -> asio::awaitable<void> {
        std::this_thread::sleep_for(2500ms);
        valid = !now.held().expired();
        ended = true;
        co_await until_cancelled();
    };
    auto led = fixture.start_to_lead("jobs", one_second, body);

    BOOST_TEST(eventually([&] { return ended.load(); }));
    fixture.end(led);
    BOOST_TEST(valid);
    BOOST_TEST(overruns == 0);
}

BOOST_AUTO_TEST_CASE(a_body_that_stops_in_time_is_no_overrun)
{
    leading fixture;
    fixture.silence();
    fixture.start();
    std::atomic<int> begun = 0;
    const auto body = [&](term&) {
        ++begun;
        return until_cancelled();
    };
    auto led = fixture.start_to_lead("jobs", one_second, body);

    BOOST_TEST(eventually([&] { return begun > 3; }, 20s));
    fixture.end(led);
    BOOST_TEST(overruns == 0);
}

BOOST_AUTO_TEST_CASE(without_a_watchdog_an_overrun_is_not_told)
{
    leading fixture;
    fixture.silence();
    fixture.start();
    std::atomic<int> begun = 0;
    const auto body = [&](term&) {
        ++begun;
        return ignore_everything(1300ms);
    };
    lead_options options = one_second;
    options.watchdog = false;
    auto led = fixture.start_to_lead("jobs", options, body);

    BOOST_TEST(eventually([&] { return begun > 1; }));
    fixture.end(led);
    BOOST_TEST(overruns == 0);
}

BOOST_AUTO_TEST_CASE(terms_of_many_threads_are_watched_at_once_and_may_be_told_to_resign_from_others
)
{
    constexpr int count = 16;
    leading fixture;
    fixture.start();
    lead_options options = one_second;
    options.ttl = 20s;
    options.stop_before = 1s;
    options.pause = 0ms;
    std::atomic<int> terms = 0;
    std::atomic<int> cancelled = 0;
    const auto body = [&](term& now) -> asio::awaitable<void> {
        ++terms;
        std::thread other([&now] { now.resign(); });
        const auto waited = co_await asio::co_spawn(
            co_await asio::this_coro::executor, until_cancelled(), asio::as_tuple(asio::deferred)
        );
        other.join();
        cancelled += std::get<0>(waited) != nullptr;
    };
    std::vector<std::future<void>> led;
    for (int i = 0; i < count; ++i)
        led.push_back(fixture.start_to_lead("r" + std::to_string(i), options, body));

    BOOST_TEST(eventually([&] { return terms > 500; }, 60s));
    fixture.locks().cancel();
    for (auto& each : led)
        each.get();
    fixture.join();
    BOOST_TEST(cancelled == terms);
    BOOST_TEST(overruns == 0);
}

BOOST_AUTO_TEST_SUITE_END()
