// The cancellation of a body comes from the client's strand, and the body may run anywhere.

#include <redlock/with_lock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "support/pool_fixture.hpp"
#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_with_lock)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using detail::verb;

namespace {

/// Goes from thread to thread, without a pause, until it is cancelled.
asio::awaitable<void> wander(std::size_t& steps)
{
    const auto executor = co_await asio::this_coro::executor;
    for (;;)
    {
        co_await asio::post(executor, asio::use_awaitable);
        ++steps;  // A race, if two threads were in here.
    }
}

/** Runs a body under a lock that is lost soon. @return What that throws.

    The exception stays in the coroutine: its count of references is kept inside of libstdc++, which
    the thread sanitizer does not see.
*/
asio::awaitable<error_code> lose_one(client& locks, int number, std::size_t& steps)
{
    const auto body = [&steps](lease&) { return wander(steps); };
    const std::string resource = "r" + std::to_string(number);
    try
    {
        co_await with_lock(locks, resource, {.ttl = 1200ms}, body);
    }
    catch (const boost::system::system_error& failure)
    {
        co_return failure.code();
    }
    co_return error_code();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_body_that_has_not_waited_yet_keeps_its_lease_when_the_client_closes)
{
    pool_fixture fixture;
    fixture.start();
    std::future<void> closed;
    bool kept = false;
    const auto body = [&](lease& held) -> asio::awaitable<void> {
        // Blocks the thread, as a long computation would.
        closed = fixture.locks().async_close(asio::use_future);
        kept = closed.wait_for(100ms) == std::future_status::timeout && !held.expired();
        co_return;
    };

    auto work = with_lock(fixture.locks(), "orders:42", {.ttl = 20s}, body);
    asio::co_spawn(fixture.pool(), std::move(work), asio::use_future).get();

    BOOST_TEST(kept);
    closed.get();
    fixture.destroy_client();
}

BOOST_AUTO_TEST_CASE(bodies_in_a_pool_of_threads_are_cancelled_where_they_run)
{
    constexpr int count = 8;
    pool_fixture fixture;
    for (std::size_t node = 0; node < 5; ++node)
        fixture.node(node).on(verb::extend).never();
    fixture.start();

    std::vector<std::size_t> steps(count);
    std::vector<std::future<error_code>> ended;
    for (int i = 0; i < count; ++i)
    {
        ended.push_back(asio::co_spawn(
            fixture.pool(),
            lose_one(fixture.locks(), i, steps[static_cast<std::size_t>(i)]),
            asio::use_future
        ));
    }

    for (auto& each : ended)
        BOOST_TEST(each.get() == error::lease_lost);
    for (const std::size_t each : steps)
        BOOST_TEST(each > 0u);
    fixture.destroy_client();
}

BOOST_AUTO_TEST_SUITE_END()
