// What the program gave back before is released before what it asks for next, whatever runs it.

#include <redlock/client.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <string>
#include <utility>

#include "support/client_runner.hpp"
#include "support/redis_server.hpp"

BOOST_AUTO_TEST_SUITE(test_order)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

constexpr int repetitions = 100;

using step = std::function<asio::awaitable<void>(client&)>;

asio::awaitable<int> count_grants(client& locks, step give_back)
{
    int granted = 0;
    for (int i = 0; i < repetitions; ++i)
    {
        co_await give_back(locks);
        lease next = co_await locks.async_try_acquire("d", 5s);
        if (!next)
            continue;
        ++granted;
        co_await next.async_release();
    }
    co_await locks.async_close();
    co_return granted;
}

asio::awaitable<int> run_and_count(client& locks, step give_back)
{
    locks.async_run(asio::detached);
    co_await locks.async_wait_ready();
    co_return co_await count_grants(locks, std::move(give_back));
}

/// How often a resource was granted that `give_back` had acquired and given back before.
template <class Context>
int grants_on(Context& context, redis_servers& servers, const step& give_back)
{
    client locks(context, config_for(servers));
    auto counted = asio::co_spawn(context, run_and_count(locks, give_back), asio::use_future);
    if constexpr (std::is_same_v<Context, asio::io_context>)
        context.run();
    return counted.get();
}

void check_everywhere(const step& give_back)
{
    redis_servers servers(3);
    {
        asio::io_context one_thread{1};
        BOOST_TEST(grants_on(one_thread, servers, give_back) == repetitions);
    }
    {
        asio::io_context context;
        BOOST_TEST(grants_on(context, servers, give_back) == repetitions);
    }
    asio::thread_pool pool(4);
    BOOST_TEST(grants_on(pool, servers, give_back) == repetitions);
    pool.join();
}

asio::awaitable<void> drop(client& locks)
{
    const lease held = co_await locks.async_acquire("d", 5s);
}

asio::awaitable<void> overwrite(client& locks)
{
    lease held = co_await locks.async_acquire("d", 5s);
    held = co_await locks.async_acquire("other", 5s);
}

asio::awaitable<void> drop_all_of_an_owner(client& locks)
{
    const acquire_options options{.ttl = 5s, .owner = owner(7)};
    const lease first = co_await locks.async_acquire("d", options);
    const lease second = co_await locks.async_acquire("d", options);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_lease_that_is_dropped_does_not_keep_its_program_from_the_resource)
{
    check_everywhere(drop);
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_assigned_to_does_not_keep_its_program_from_the_resource)
{
    check_everywhere(overwrite);
}

BOOST_AUTO_TEST_CASE(the_last_lease_of_an_owner_does_not_keep_its_program_from_the_resource)
{
    check_everywhere(drop_all_of_an_owner);
}

BOOST_AUTO_TEST_CASE(what_a_close_gives_back_is_free_for_the_next_client)
{
    redis_servers servers(3);
    asio::io_context context{1};
    const auto hand_over = [&]() -> asio::awaitable<int> {
        client first(context, config_for(servers));
        first.async_run(asio::detached);
        client second(context, config_for(servers));
        second.async_run(asio::detached);
        co_await second.async_wait_ready();
        const lease held = co_await first.async_acquire("d", 5s);
        co_await first.async_close();
        const lease next = co_await second.async_try_acquire("d", 5s);
        co_await second.async_close();
        co_return next ? 1 : 0;
    };
    int granted = 0;
    for (int i = 0; i < repetitions / 10; ++i)
        granted += run(context, asio::co_spawn(context, hand_over(), asio::deferred));
    BOOST_TEST(granted == repetitions / 10);
}

BOOST_AUTO_TEST_SUITE_END()
