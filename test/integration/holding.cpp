// Leases that live, and how they end, on real servers.

#include <redlock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/client_runner.hpp"
#include "support/needs.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"

BOOST_AUTO_TEST_SUITE(
    test_holding,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using clock_type = std::chrono::steady_clock;

namespace {

/// Five guarded servers and a client that is ready.
struct world
{
    world() : servers(5), config(make_config(servers))
    {
        run(context, async_initialize_nodes(context, config));
        locks.emplace(context, config);
        locks->wait_for_all_nodes();
    }

    static client_config make_config(const redis_servers& servers)
    {
        client_config config = config_for(servers);
        config.mode = mode::guarded;
        config.ttl_max = 5s;
        config.node_timeout = 100ms;
        return config;
    }

    client& operator*() { return *locks->operator->(); }

    [[nodiscard]] lease acquire(const std::string& resource, const acquire_options& options)
    {
        return run(context, (*locks)->async_acquire(resource, options));
    }

    void pause(std::size_t first, std::size_t last)
    {
        for (std::size_t node = first; node < last; ++node)
            servers[node].pause();
    }

    void resume(std::size_t first, std::size_t last)
    {
        for (std::size_t node = first; node < last; ++node)
            servers[node].resume();
    }

    redis_servers servers;
    asio::io_context context{1};
    client_config config;
    std::optional<client_runner> locks;
};

/// How a coroutine ended.
struct ending
{
    bool done = false;
    error_code code;
    clock_type::time_point at;
};

/// Starts a coroutine and notes how and when it ends.
std::shared_ptr<ending> start(asio::io_context& context, asio::awaitable<void> work)
{
    auto result = std::make_shared<ending>();
    asio::co_spawn(context, std::move(work), [result](const std::exception_ptr& failure) {
        result->done = true;
        result->at = clock_type::now();
        try
        {
            if (failure)
                std::rethrow_exception(failure);
        }
        catch (const boost::system::system_error& error)
        {
            result->code = error.code();
        }
    });
    return result;
}

/// What an operation completed with, and when.
template <class Op>
std::shared_ptr<ending> write_down(Op op)
{
    auto result = std::make_shared<ending>();
    std::move(op)([result](error_code ec) { *result = {true, ec, clock_type::now()}; });
    return result;
}

}  // namespace

BOOST_AUTO_TEST_CASE(with_all_nodes_frozen_the_loss_is_told_at_the_deadline_and_the_body_cancelled)
{
    world on;
    std::optional<clock_type::time_point> deadline;
    std::optional<clock_type::time_point> cancelled;
    std::optional<clock_type::time_point> rang;
    asio::steady_timer bell(on.context);
    bool future_deadline = false;
    const auto body = [&](lease& held) -> asio::awaitable<void> {
        on.pause(0, 5);
        // A busy machine is late with every timer, and so with this one.
        bell.expires_at(held.valid_until());
        bell.async_wait([&rang](error_code) { rang = clock_type::now(); });
        asio::steady_timer work(on.context, 1min);
        try
        {
            co_await work.async_wait(asio::use_awaitable);
        }
        catch (const boost::system::system_error&)
        {
            cancelled = clock_type::now();
            deadline = held.valid_until();
            future_deadline = held.valid_until() > *cancelled || !held.expired();
        }
        on.resume(0, 5);
    };

    const auto user = start(on.context, with_lock(*on, "orders:42", {.ttl = 1s}, body));
    BOOST_TEST(run_until(on.context, [&] { return user->done; }));

    BOOST_TEST_REQUIRE(cancelled.has_value());
    BOOST_TEST(user->code == error::lease_lost);
    BOOST_TEST(!future_deadline);
    BOOST_TEST((*cancelled >= *deadline));
    // The bell may be the later of the two.
    const auto possible = rang.value_or(*cancelled);
    BOOST_TEST((*cancelled <= possible + 10ms));
}

BOOST_AUTO_TEST_CASE(a_majority_that_is_frozen_for_half_a_ttl_loses_nothing)
{
    world on;
    lease held = on.acquire("orders:42", {.ttl = 2s, .auto_extend = true});
    const auto lost = write_down(held.async_wait_lost());

    for (int round = 0; round < 3; ++round)
    {
        const auto until = held.valid_until();
        BOOST_TEST_REQUIRE(run_until(on.context, [&] { return held.valid_until() > until; }));
        on.pause(0, 3);
        on.context.run_for(1s);
        on.resume(0, 3);
        on.context.run_for(1s);
        BOOST_TEST(!held.expired());
    }

    BOOST_TEST(!lost->done);
    BOOST_TEST(run(on.context, held.async_release()) == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(after_a_blocked_executor_the_first_that_code_sees_is_an_expired_lease)
{
    world on;
    constexpr auto ttl = 500ms;
    lease held = on.acquire("orders:42", {.ttl = ttl, .auto_extend = true});
    std::vector<std::string> seen;
    const auto see = [&](const char* what) {
        BOOST_TEST(held.expired());
        seen.push_back(what);
    };
    held.async_wait_lost([&](error_code) { see("lost"); });
    // Its answers arrive while nobody can read them.
    asio::post(on.context, [&] {
        held.async_extend(5s, [&](error_code ec) {
            BOOST_TEST(ec == error::lease_lost);
            see("not extended");
        });
        asio::post(on.context, [&] {
            asio::post(on.context, [&] {
                std::this_thread::sleep_for(3 * ttl);  // The stall itself.
                asio::post(on.context, [&] { see("next handler"); });
            });
        });
    });

    BOOST_TEST(run_until(on.context, [&] { return seen.size() == 3; }));

    BOOST_TEST(held.expired());
    // Nothing of it is left that an extension which came too late could keep.
    BOOST_TEST(run_until(on.context, [&] {
        return on.servers[0].command({"EXISTS", "orders:42"}) == "(integer) 0";
    }));
}

BOOST_AUTO_TEST_CASE(a_lease_whose_keys_an_operator_deletes_is_taken_again_with_its_old_token)
{
    world on;
    lease held = on.acquire("orders:42", {.ttl = 2s});
    for (redis_server& server : on.servers)
        server.command({"DEL", "orders:42"});
    {
        client_runner rival(on.context, on.config);
        rival.wait_for_all_nodes();
        lease other = run(on.context, rival->async_acquire("orders:42", 1s));
        BOOST_TEST((other.fence() > held.fence()));
        BOOST_TEST(run(on.context, other.async_release()) == release_outcome::released);
    }

    run(on.context, held.async_extend());

    BOOST_TEST(!held.expired());
    // So a store refuses it.
    for (redis_server& server : on.servers)
        BOOST_TEST(server.command({"GET", "redlock:fence:orders:42"}) > to_string(held.fence()));
}

BOOST_AUTO_TEST_CASE(an_extension_that_fails_for_a_while_deletes_nothing)
{
    world on;
    lease held = on.acquire("orders:42", {.ttl = 2s, .auto_extend = true});
    for (std::size_t node = 0; node < 3; ++node)
        on.servers[node].command({"CONFIG", "SET", "maxmemory", "1"});

    on.context.run_for(1500ms);
    BOOST_TEST(!held.expired());
    for (redis_server& server : on.servers)
        BOOST_TEST(server.command({"EXISTS", "orders:42"}) == "(integer) 1");
    for (std::size_t node = 0; node < 3; ++node)
        on.servers[node].command({"CONFIG", "SET", "maxmemory", "0"});
    on.context.run_for(2s);

    BOOST_TEST(!held.expired());
}

BOOST_AUTO_TEST_CASE(closing_gives_everything_back_to_the_next_client_at_once)
{
    world on;
    std::vector<lease> held;
    for (int i = 0; i < 100; ++i)
    {
        held.push_back(on.acquire("r" + std::to_string(i), {.ttl = 5s, .auto_extend = true}));
    }
    client_runner next(on.context, on.config);
    next.wait_for_all_nodes();

    const auto [ec] = outcome_of(on.context, (*on).async_close());
    BOOST_TEST(ec == error_code());

    for (int i = 0; i < 100; ++i)
    {
        const std::string resource = "r" + std::to_string(i);
        BOOST_TEST(static_cast<bool>(run(on.context, next->async_try_acquire(resource, 1s))));
    }
}

BOOST_AUTO_TEST_CASE(the_state_of_nodes_comes_with_their_round_trip)
{
    world on;
    const auto before = clock_type::now();
    std::vector<lease> held;
    for (int i = 0; i < 10; ++i)
        held.push_back(on.acquire("r" + std::to_string(i), {.ttl = 1s}));

    // A quorum has answered, and the others will.
    const auto is_measured = [](const node_status& each) { return each.round_trip > 0us; };
    BOOST_TEST(run_until(on.context, [&] {
        return std::ranges::all_of((*on).nodes(), is_measured);
    }));
    const auto elapsed = clock_type::now() - before;
    for (const node_status& each : (*on).nodes())
        BOOST_TEST((each.round_trip <= elapsed));
}

BOOST_AUTO_TEST_SUITE_END()
