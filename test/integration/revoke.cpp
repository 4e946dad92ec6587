// Holders that are asked to stop, on real servers and under load. With REDLOCK_TEST_LONG=1 each is
// asked 100 times.

#include <redlock/initialize.hpp>
#include <redlock/lead.hpp>
#include <redlock/with_lock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/client_runner.hpp"
#include "support/guarded_nodes.hpp"
#include "support/loop.hpp"
#include "support/needs.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"

BOOST_AUTO_TEST_SUITE(
    test_revoke_nodes,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

constexpr const char* resource = "orders:42";
constexpr milliseconds ttl = 1s;

using clock = std::chrono::steady_clock;

std::size_t rounds(std::size_t few)
{
    return std::getenv("REDLOCK_TEST_LONG") != nullptr ? 100 : few;
}

/// A body, and what became of it.
struct body_record
{
    std::size_t begun = 0;
    std::size_t ended = 0;
    fencing_token token{};
    time_point valid_until{};
    time_point told{};
    time_point end{};

    /// Runs until it is cancelled, and takes some time to stop.
    asio::awaitable<void> run(const lease& held)
    {
        co_await asio::this_coro::throw_if_cancelled(false);
        token = held.fence();
        ++begun;
        asio::steady_timer timer(co_await asio::this_coro::executor, clock::time_point::max());
        co_await timer.async_wait(asio::as_tuple(asio::deferred));
        told = clock::now();
        co_await asio::this_coro::reset_cancellation_state();
        timer.expires_after(5ms);
        co_await timer.async_wait(asio::as_tuple(asio::deferred));
        valid_until = held.valid_until();
        end = clock::now();
        ++ended;
    }
};

/// Three nodes under load, a holder, a rival, and an operator who revokes.
struct stage
{
    explicit stage(bool queues)
    {
        config.node_timeout = 100ms;
        run(context, async_initialize_nodes(context, config));
        operators = start();
        rival = start();
        config.waiting.queue = queues;
        holder = start();
        for (int task = 0; task < 4; ++task)
            asio::co_spawn(context, work(task), asio::detached);
    }

    ~stage() { over = true; }

    std::unique_ptr<client_runner> start()
    {
        auto made = std::make_unique<client_runner>(context, config);
        made->wait_for_all_nodes();
        return made;
    }

    [[nodiscard]] client& locks() { return *holder->operator->(); }

    /// The load.
    asio::awaitable<void> work(int task)
    {
        const std::string name = "load" + std::to_string(task);
        while (!over)
        {
            auto [ec, held] =
                co_await (*rival)->async_try_acquire(name, 1s, asio::as_tuple(asio::deferred));
            if (!ec)
                co_await held.async_release(asio::as_tuple(asio::deferred));
        }
    }

    /// Revokes what a body holds, and checks what follows. @return When the body was told.
    std::chrono::duration<double, std::milli> revoke(body_record& body)
    {
        const std::size_t ended = body.ended;
        std::optional<lease> next;
        time_point granted;
        (*rival)->async_acquire(
            resource,
            {.ttl = ttl, .wait = 20s},
            asio::bind_executor(
                context.get_executor(),
                [&](error_code ec, lease held) {
                    BOOST_TEST(ec == error_code());
                    granted = clock::now();
                    next.emplace(std::move(held));
                }
            )
        );
        const time_point asked = clock::now();
        const revocation made = run(context, (*operators)->async_revoke(resource, body.token));
        const bool went_on = run_until(context, [&] { return body.ended > ended && next; });
        BOOST_TEST_REQUIRE(went_on);
        BOOST_TEST((granted >= body.end || granted >= body.valid_until));
        BOOST_TEST((body.valid_until <= made.until));
        BOOST_TEST(next->fence() > body.token);
        run(context, next->async_release());
        return body.told - asked;
    }

    redis_servers servers{3};
    loop context;
    client_config config = guarded_config(servers);
    std::unique_ptr<client_runner> operators;
    std::unique_ptr<client_runner> rival;
    std::unique_ptr<client_runner> holder;
    bool over = false;
};

/// Revokes again and again, for the second half without one of the nodes.
/// @param begin Starts another body, if that does not come by itself.
template <class Begin>
std::vector<double> revoke_often(stage& on, std::size_t count, body_record& body, Begin begin)
{
    std::vector<double> delays;
    for (std::size_t round = 0; round < count; ++round)
    {
        if (round == count / 2)
            on.servers[2].kill();
        begin();
        const bool holds =
            run_until(on.context, [&, round] { return body.begun == round + 1; }, 20s);
        BOOST_TEST_REQUIRE(holds);
        delays.push_back(on.revoke(body).count());
    }
    std::ranges::sort(delays);
    return delays;
}

void tell(const char* what, const std::vector<double>& delays)
{
    BOOST_TEST_MESSAGE(
        what << ": told " << delays.size() << " times, after " << delays[delays.size() / 2]
             << " ms at the median, " << delays.back() << " at most"
    );
}

std::vector<double> revoke_bodies(stage& on, std::size_t count)
{
    body_record body;
    const auto function = [&body](lease& held) { return body.run(held); };
    return revoke_often(on, count, body, [&] {
        asio::co_spawn(
            on.context,
            with_lock(on.locks(), resource, {.ttl = ttl}, function),
            [](const std::exception_ptr&) {}
        );
    });
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_body_under_a_lock_is_told_by_push)
{
    stage on(true);
    const auto delays = revoke_bodies(on, rounds(6));
    tell("with_lock, by push", delays);
    BOOST_TEST(delays[delays.size() / 2] <= 10);
}

BOOST_AUTO_TEST_CASE(a_body_under_a_lock_without_push_is_told_by_its_next_extension)
{
    stage on(false);
    const auto delays = revoke_bodies(on, rounds(4));
    tell("with_lock, by extension", delays);
    const auto round = on.config.node_timeout;
    BOOST_TEST(delays.back() <= static_cast<double>((ttl / 3 + round).count()));
}

BOOST_AUTO_TEST_CASE(a_leader_is_told_by_push)
{
    stage on(true);
    body_record body;
    asio::cancellation_signal stop;
    bool ended = false;
    asio::co_spawn(
        on.context,
        lead(
            on.locks(),
            resource,
            {.ttl = ttl, .pause = 0ms},
            [&body](term& now) { return body.run(now.held()); }
        ),
        asio::bind_cancellation_slot(
            stop.slot(), [&ended](const std::exception_ptr&) { ended = true; }
        )
    );
    const auto delays = revoke_often(on, rounds(4), body, [] {});
    tell("lead, by push", delays);
    BOOST_TEST(delays[delays.size() / 2] <= 10);
    stop.emit(asio::cancellation_type::terminal);
    BOOST_TEST(run_until(on.context, [&] { return ended; }));
}

BOOST_AUTO_TEST_SUITE_END()
