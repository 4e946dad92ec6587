// The ends of clients, leases and contexts in every order, with operations under way on real
// connections. What is checked is mostly that nothing crashes, hangs or leaks: these are the cases
// that sanitizers are for.

#include <redlock/client.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/client_runner.hpp"
#include "support/eventually.hpp"
#include "support/loop.hpp"
#include "support/needs.hpp"
#include "support/posix.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_proxy.hpp"

BOOST_AUTO_TEST_SUITE(
    test_life,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

/// Three servers, each behind a proxy.
struct nodes
{
    nodes()
    {
        std::vector<std::string> urls;
        for (redis_server& server : servers)
            urls.push_back(proxies.emplace_back(server.port()).url());
        config = config_for(urls);
    }

    void hold_replies()
    {
        for (tcp_proxy& proxy : proxies)
            proxy.hold_replies();
    }

    void pass()
    {
        for (tcp_proxy& proxy : proxies)
            proxy.pass();
    }

    /// What a foreign holder would do.
    void hold(const std::string& resource)
    {
        for (redis_server& server : servers)
            server.command({"SET", resource, "other"});
    }

    [[nodiscard]] bool have_connections() const
    {
        return std::ranges::any_of(proxies, [](const tcp_proxy& proxy) {
            return proxy.open_connections() > 0;
        });
    }

    /// Whether the last connection ends. For clients whose context is gone, or has nothing to do.
    [[nodiscard]] bool are_left_alone()
    {
        pass();  // A proxy that holds replies keeps the connection too.
        return eventually([this] { return !have_connections(); });
    }

    /// The same, while the context runs: the last connection may be closed a step of it after the
    /// end of the client.
    [[nodiscard]] bool are_left_alone(asio::io_context& context)
    {
        pass();
        return run_until(context, [this] { return !have_connections(); });
    }

    [[nodiscard]] bool have_key(const std::string& resource)
    {
        return std::ranges::any_of(servers, [&](redis_server& server) {
            return server.client().exists(resource);
        });
    }

    redis_servers servers{3};
    std::deque<tcp_proxy> proxies;
    client_config config;
};

/// A client that a test ends as it likes.
struct running_client
{
    running_client(asio::io_context& in, const client_config& config)
        : context(in), locks(std::in_place, in, config)
    {
        locks->async_run([to = ended](error_code ec) { *to = ec; });
        const auto ready = [this] {
            const auto all = locks->nodes();
            return std::ranges::count(all, node_state::ready, &node_status::state) ==
                   static_cast<std::ptrdiff_t>(all.size());
        };
        BOOST_TEST_REQUIRE(run_until(context, ready));
    }

    /// Whether async_run completes, without an error.
    [[nodiscard]] bool ends(std::chrono::milliseconds within = 5s)
    {
        return run_until(context, [this] { return ended->has_value(); }, within) && !**ended;
    }

    asio::io_context& context;
    std::optional<client> locks;
    std::shared_ptr<std::optional<error_code>> ended =
        std::make_shared<std::optional<error_code>>();
};

/// Operations that do not complete while replies are held, and what they complete with.
struct pending_operations
{
    pending_operations(client& locks, lease& extended, lease& released)
    {
        const auto note = [this](std::size_t which) {
            return [this, which](error_code ec, auto&&...) { outcomes.at(which) = ec; };
        };
        locks.async_acquire("foreign", {.ttl = 60s, .wait = forever}, note(0));
        locks.async_acquire("fresh", {.ttl = 60s, .wait = forever}, note(1));
        locks.async_try_acquire("another", 60s, note(2));
        extended.async_extend(600s)(note(3));
        released.async_release()(note(4));
    }

    [[nodiscard]] bool are_done() const
    {
        return std::ranges::all_of(outcomes, [](const auto& each) { return each.has_value(); });
    }

    std::array<std::optional<error_code>, 5> outcomes;
};

using body = std::function<asio::awaitable<void>(client&)>;

/// Owns a client, and waits in `work` until its context is destroyed.
asio::awaitable<void> own_a_client(
    asio::io_context& context,
    client_config config,
    body work,
    bool& arrived
)
{
    client locks(context, std::move(config));
    locks.async_run(asio::detached);
    co_await locks.async_wait_ready(asio::use_awaitable);
    lease other = co_await locks.async_acquire("other", 60s, asio::use_awaitable);
    arrived = true;
    co_await work(locks);
}

/// Acquires, extends and gives back, in both ways.
asio::awaitable<void> keep_busy(client& locks, std::string resource)
{
    for (int i = 0; i < 10; ++i)
    {
        acquire_options patient{.ttl = 10s, .wait = 60s};
        lease held = co_await locks.async_acquire(resource, patient, asio::use_awaitable);
        co_await held.async_extend(20s, asio::use_awaitable);
        if (i % 2 == 0)
            co_await held.async_release(asio::use_awaitable);
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_destroyed_client_aborts_its_operations_and_ends)
{
    nodes n;
    n.hold("foreign");
    loop context;
    running_client running(context, n.config);
    lease extended = run(context, running.locks->async_acquire("extended", 60s));
    lease released = run(context, running.locks->async_acquire("released", 60s));
    n.hold_replies();
    pending_operations pending(*running.locks, extended, released);
    context.run_for(20ms);

    running.locks.reset();

    BOOST_TEST(running.ends());
    BOOST_TEST(run_until(context, [&] { return pending.are_done(); }));
    for (const auto& outcome : pending.outcomes)
        BOOST_TEST(outcome.value() == asio::error::operation_aborted);
    // What was asked for before the end is undone: the releases were sent in time.
    BOOST_TEST(run_until(context, [&] {
        return !n.have_key("fresh") && !n.have_key("another") && !n.have_key("released");
    }));
    BOOST_TEST(n.are_left_alone(context));
}

BOOST_AUTO_TEST_CASE(a_client_destroyed_before_its_operations_began_aborts_them)
{
    nodes n;
    loop context;
    running_client running(context, n.config);
    lease extended = run(context, running.locks->async_acquire("extended", 60s));
    lease released = run(context, running.locks->async_acquire("released", 60s));

    pending_operations pending(*running.locks, extended, released);
    running.locks.reset();

    BOOST_TEST(running.ends());
    BOOST_TEST(run_until(context, [&] { return pending.are_done(); }));
    BOOST_TEST(run_until(context, [&] { return !n.have_key("fresh") && !n.have_key("another"); }));
}

BOOST_AUTO_TEST_CASE(a_lease_that_outlives_its_client_expires_by_itself)
{
    nodes n;
    loop context;
    running_client running(context, n.config);
    {
        lease held = run(context, running.locks->async_acquire("r", {.ttl = 1200ms}));
        running.locks.reset();
        BOOST_TEST(running.ends());

        BOOST_TEST(!held.expired());
        BOOST_TEST(held.resource() == "r");
        const auto [extended] = outcome_of(context, held.async_extend(10s));
        BOOST_TEST(extended == error::not_running);
        const auto [released, ignored] = outcome_of(context, held.async_release());
        BOOST_TEST(released == error::not_running);
    }

    BOOST_TEST(n.have_key("r"));
    BOOST_TEST(run_until(context, [&] { return !n.have_key("r"); }));
}

BOOST_AUTO_TEST_CASE(leases_destroyed_just_before_their_client_are_released)
{
    nodes n;
    loop context;
    running_client running(context, n.config);
    std::vector<lease> held;
    for (int i = 0; i < 100; ++i)
        held.push_back(run(context, running.locks->async_acquire(std::to_string(i), 60s)));

    held.clear();
    running.locks.reset();

    BOOST_TEST(running.ends());
    for (redis_server& server : n.servers)
        BOOST_TEST(eventually([&] { return server.command({"DBSIZE"}) == "(integer) 0"; }));
}

BOOST_AUTO_TEST_CASE(a_lease_destroyed_just_after_its_client_does_no_harm)
{
    nodes n;
    loop context;
    running_client running(context, n.config);
    std::optional<lease> held(run(context, running.locks->async_acquire("r", 60s)));

    running.locks.reset();
    held.reset();

    BOOST_TEST(running.ends());
}

BOOST_AUTO_TEST_CASE(pending_releases_have_one_node_timeout_to_arrive)
{
    nodes n;
    n.config.node_timeout = 10s;
    loop context;
    running_client running(context, n.config);
    lease held = run(context, running.locks->async_acquire("r", 60s));
    // Slow, but faster than the timeout.
    for (tcp_proxy& proxy : n.proxies)
        proxy.delay_replies(100ms);
    std::optional<error_code> outcome;
    held.async_release()([&](error_code ec, release_outcome) { outcome = ec; });
    const auto start = deadline_clock::now();

    running.locks->cancel();

    BOOST_TEST(running.ends());
    const auto took = deadline_clock::now() - start;
    BOOST_TEST((took >= 90ms));  // It waited for the answers.
    BOOST_TEST((took < 5s));     // And no longer.
    BOOST_TEST(run_until(context, [&] { return outcome.has_value(); }));
    BOOST_TEST(!n.have_key("r"));
}

BOOST_AUTO_TEST_CASE(pending_releases_that_nobody_answers_end_with_the_node_timeout)
{
    nodes n;
    n.config.node_timeout = 200ms;
    loop context;
    running_client running(context, n.config);
    {
        const lease held = run(context, running.locks->async_acquire("r", 60s));
        n.hold_replies();
    }
    const auto start = deadline_clock::now();

    running.locks->cancel();

    BOOST_TEST(running.ends());
    BOOST_TEST((deadline_clock::now() - start < 5s));
    BOOST_TEST(run_until(context, [&] { return !n.have_key("r"); }));
}

BOOST_AUTO_TEST_CASE(a_cancelled_client_says_that_it_does_not_run)
{
    nodes n;
    loop context;
    running_client running(context, n.config);
    lease held = run(context, running.locks->async_acquire("r", 60s));
    running.locks->cancel();
    BOOST_TEST(running.ends());
    client& locks = *running.locks;

    BOOST_TEST(
        std::get<0>(outcome_of(context, locks.async_acquire("s", 10s))) == error::not_running
    );
    BOOST_TEST(
        std::get<0>(outcome_of(context, locks.async_try_acquire("s", 10s))) == error::not_running
    );
    BOOST_TEST(std::get<0>(outcome_of(context, locks.async_wait_ready())) == error::not_running);
    BOOST_TEST(std::get<0>(outcome_of(context, held.async_extend())) == error::not_running);
    BOOST_TEST(!n.have_key("s"));
    // And again.
    locks.cancel();
    BOOST_TEST(bool(std::get<0>(outcome_of(context, locks.async_run()))));
    BOOST_TEST(n.are_left_alone(context));
}

BOOST_AUTO_TEST_CASE(run_ends_when_it_is_cancelled_itself)
{
    nodes n;
    loop context;
    client locks(context, n.config);
    asio::cancellation_signal signal;
    std::optional<error_code> ended;
    locks.async_run(asio::bind_cancellation_slot(signal.slot(), [&](error_code ec) { ended = ec; })
    );
    run(context, locks.async_wait_ready());

    signal.emit(asio::cancellation_type::terminal);

    BOOST_TEST(run_until(context, [&] { return ended.has_value(); }));
    BOOST_TEST(*ended == asio::error::operation_aborted);
    BOOST_TEST(n.are_left_alone(context));
}

BOOST_AUTO_TEST_CASE(run_ends_whatever_its_nodes_are_doing)
{
    redis_server ready;
    redis_server frozen;
    redis_server killed;
    redis_server silent_server;
    tcp_proxy silent(silent_server.port());
    const loopback_port refusing;
    loop context;
    client_config config = config_for({
        ready.url(),
        frozen.url(),
        killed.url(),
        silent.url(),
        "redis://127.0.0.1:" + std::to_string(refusing.number()),
    });
    config.node_timeout = 200ms;
    silent.hold_requests();
    for (const auto wait : {0ms, 1ms, 20ms, 300ms})
    {
        BOOST_TEST_CONTEXT("after " << wait.count() << " ms")
        {
            std::optional<client> locks(std::in_place, context, config);
            std::optional<error_code> ended;
            locks->async_run([&ended](error_code ec) { ended = ec; });
            locks->async_acquire("r", {.ttl = 60s, .wait = forever}, asio::detached);
            context.run_for(wait);
            frozen.pause();
            killed.kill();
            context.run_for(wait);

            locks->cancel();

            BOOST_TEST(run_until(context, [&] { return ended.has_value(); }, 2s));
            locks.reset();
            frozen.resume();
            killed.start();
        }
    }
}

BOOST_AUTO_TEST_CASE(a_client_that_was_never_run_ends_too)
{
    nodes n;
    loop context;
    std::optional<error_code> outcome;
    {
        client locks(context, n.config);
        locks.async_acquire("r", {.ttl = 60s, .wait = forever}, [&](error_code ec, lease) {
            outcome = ec;
        });
        context.run_for(5ms);
    }

    BOOST_TEST(run_until(context, [&] { return outcome.has_value(); }));
    BOOST_TEST(*outcome == asio::error::operation_aborted);
}

BOOST_AUTO_TEST_CASE(a_moved_client_goes_on)
{
    nodes n;
    n.hold("foreign");
    loop context;
    running_client running(context, n.config);
    std::optional<error_code> outcome;
    running.locks
        ->async_acquire("foreign", {.ttl = 60s, .wait = 60s}, [&](error_code ec, lease got) {
            BOOST_TEST(bool(got));
            outcome = ec;
        });

    client moved(std::move(*running.locks));
    running.locks.reset();
    for (redis_server& server : n.servers)
        server.command({"DEL", "foreign"});

    BOOST_TEST(run_until(context, [&] { return outcome.has_value(); }));
    BOOST_TEST(!*outcome);
    moved = client(context, n.config);
    BOOST_TEST(running.ends());
}

// The frame of the coroutine owns the client and a lease. All of it goes when the context does.
BOOST_AUTO_TEST_CASE(a_context_may_go_while_coroutines_wait_in_a_client_that_they_own)
{
    const std::vector<std::pair<const char*, body>> waits{
        {"acquire of a held resource",
         [](client& locks) -> asio::awaitable<void> {
             acquire_options patient{.ttl = 60s, .wait = forever};
             lease held = co_await locks.async_acquire("foreign", patient, asio::use_awaitable);
         }},
        {"acquire without an answer",
         [](client& locks) -> asio::awaitable<void> {
             acquire_options patient{.ttl = 60s, .wait = forever};
             lease held = co_await locks.async_acquire("held back", patient, asio::use_awaitable);
         }},
        {"extend without an answer",
         [](client& locks) -> asio::awaitable<void> {
             lease held = co_await locks.async_acquire("r", 60s, asio::use_awaitable);
             for (;;)
                 co_await held.async_extend(60s, asio::use_awaitable);
         }},
        {"release without an answer",
         [](client& locks) -> asio::awaitable<void> {
             for (;;)
             {
                 lease held = co_await locks.async_acquire("r", 60s, asio::use_awaitable);
                 co_await held.async_release(asio::use_awaitable);
             }
         }},
        {"a timer",
         [](client& locks) -> asio::awaitable<void> {
             lease held = co_await locks.async_acquire("r", 60s, asio::use_awaitable);
             asio::steady_timer timer(co_await asio::this_coro::executor, 1h);
             co_await timer.async_wait(asio::use_awaitable);
         }},
    };
    for (const auto& [what, work] : waits)
    {
        for (const bool answered : {true, false})
        {
            BOOST_TEST_CONTEXT(what << (answered ? ", with replies" : ", without replies"))
            {
                nodes n;
                n.hold("foreign");
                bool arrived = false;
                std::optional<loop> context(std::in_place);
                asio::co_spawn(
                    *context, own_a_client(*context, n.config, work, arrived), asio::detached
                );
                BOOST_TEST(run_until(*context, [&arrived] { return arrived; }));
                if (!answered)
                    n.hold_replies();
                context->run_for(15ms);

                context.reset();

                BOOST_TEST(n.are_left_alone());
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_context_may_go_with_a_client_that_has_ended_half_way)
{
    nodes n;
    n.hold_replies();
    std::optional<loop> context(std::in_place);
    {
        client locks(*context, n.config);
        locks.async_run(asio::detached);
        locks.async_acquire("r", {.ttl = 60s, .wait = forever}, asio::detached);
        context->run_for(10ms);
    }
    context->poll_one();

    context.reset();

    BOOST_TEST(n.are_left_alone());
}

BOOST_AUTO_TEST_CASE(clients_that_end_at_random_moments_leave_neither_connections_nor_keys)
{
    nodes n;
    std::mt19937 random(20260101);
    std::uniform_int_distribution<int> moment(0, 8000);
    loop context;
    for (int i = 0; i < 100; ++i)
    {
        client locks(context, n.config);
        locks.async_run(asio::detached);
        for (int operation = 0; operation < 5; ++operation)
        {
            locks.async_acquire(
                "r:" + std::to_string(operation), {.ttl = 60s, .wait = forever}, asio::detached
            );
        }
        context.run_for(std::chrono::microseconds(moment(random)));
    }

    BOOST_TEST(run_until(context, [&] { return !n.have_connections(); }));
    for (redis_server& server : n.servers)
        BOOST_TEST(eventually([&] { return server.command({"DBSIZE"}) == "(integer) 0"; }));
}

// In between they run a few handlers, each some more than the one before, so that one also stops
// after it asked a node for a sign of life and before it reads the answer, for longer than a node
// has to give one.
BOOST_AUTO_TEST_CASE(a_process_that_stood_still_drops_no_healthy_node)
{
    redis_servers servers(1);
    client_config config = config_for(servers);
    std::vector<std::string> complaints;
    config.log = [&complaints](log_level, std::string_view line) { complaints.emplace_back(line); };
    std::deque<loop> contexts;
    std::deque<client_runner> clients;
    while (clients.size() < 7)
    {
        clients.emplace_back(contexts.emplace_back(), config);
        clients.back().wait_for_all_nodes();
    }
    complaints.clear();

    for (int round = 0; round < 2; ++round)
    {
        std::this_thread::sleep_for(1050ms);  // The standstill itself, not a wait for something.
        for (std::size_t handlers = 1; handlers <= contexts.size(); ++handlers)
        {
            for (std::size_t i = 0; i < handlers; ++i)
                contexts[handlers - 1].poll_one();
        }
        std::this_thread::sleep_for(1050ms);  // The standstill itself, not a wait for something.
        const auto go_on = deadline_clock::now() + 300ms;
        while (deadline_clock::now() < go_on)
        {
            for (loop& each : contexts)
                run_for_a_moment(each);
        }
    }

    BOOST_TEST(complaints == std::vector<std::string>(), boost::test_tools::per_element());
    for (const client_runner& each : clients)
        BOOST_TEST(each.status(0).state == node_state::ready);
}

BOOST_AUTO_TEST_CASE(a_client_may_be_used_from_many_threads)
{
    constexpr std::size_t tasks = 40;
    nodes n;
    n.config.retry.max_delay = 5ms;
    asio::io_context context;
    std::optional<client> locks(std::in_place, context, n.config);
    std::atomic<std::size_t> over = 0;
    std::atomic<std::size_t> failures = 0;
    locks->async_run([&failures](error_code ec) { failures += ec.failed(); });
    for (std::size_t i = 0; i < tasks; ++i)
    {
        asio::co_spawn(
            context,
            keep_busy(*locks, "r:" + std::to_string(i % 8)),
            [&](const std::exception_ptr& failure) {
                failures += failure != nullptr;
                ++over;
            }
        );
    }

    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&context] { context.run(); });
    const bool all_over = eventually(
        [&] {
            std::ignore = locks->nodes();
            return over == tasks;
        },
        30s
    );
    locks.reset();
    threads.clear();

    BOOST_TEST(all_over);
    BOOST_TEST(failures == 0u);
    for (redis_server& server : n.servers)
        BOOST_TEST(eventually([&] { return server.command({"DBSIZE"}) == "(integer) 0"; }));
}

BOOST_AUTO_TEST_SUITE_END()
