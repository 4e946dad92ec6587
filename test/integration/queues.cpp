// Waiting in the queues of real servers: who is woken, when and by whom.

#include <redlock/client.hpp>
#include <redlock/initialize.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/client_runner.hpp"
#include "support/contains.hpp"
#include "support/guarded_nodes.hpp"
#include "support/loop.hpp"
#include "support/needs.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"

BOOST_AUTO_TEST_SUITE(
    test_queues,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* resource = "orders:42";
constexpr acquire_options patient{.ttl = 20s, .wait = 10s};

/// An acquisition under way.
struct waiter
{
    std::optional<error_code> outcome;
    lease held;
    diagnostics report;
    boost::asio::cancellation_signal cancel;
};

/** Servers and clients, none of which asks again by itself while a test lasts.

    So whatever is acquired after a denial shows that somebody was woken.
*/
struct queue_fixture
{
    queue_fixture() : servers(3), config(config_for(servers))
    {
        config.mode = mode::guarded;
        config.node_timeout = 12s;  // A quarter of this, and more, is the first sleep.
        config.waiting.poll = 10s;
        run(context, async_initialize_nodes(context, config));
    }

    std::unique_ptr<client_runner> make_client()
    {
        auto made = std::make_unique<client_runner>(context, config);
        made->wait_for_all_nodes();
        return made;
    }

    /// Starts an acquisition and lets it be denied.
    std::shared_ptr<waiter> wait_in_line(client_runner& as)
    {
        auto made = std::make_shared<waiter>();
        acquire_options options = patient;
        options.report = &made->report;
        const std::uint64_t before = as->metrics().rounds;
        as->async_acquire(
            resource,
            options,
            boost::asio::bind_cancellation_slot(
                made->cancel.slot(),
                boost::asio::bind_executor(
                    context.get_executor(),
                    [made](error_code ec, lease held) {
                        made->outcome = ec;
                        made->held = std::move(held);
                    }
                )
            )
        );
        BOOST_TEST_REQUIRE(run_until(context, [&] { return as->metrics().rounds > before; }));
        return made;
    }

    [[nodiscard]] bool gets_it(const waiter& who, std::chrono::milliseconds within = 2s)
    {
        return run_until(
                   context, [&] { return who.outcome.has_value(); }, within
               ) &&
               *who.outcome == error_code();
    }

    /// How many wait at a server.
    [[nodiscard]] std::string queue_at(std::size_t server)
    {
        return servers[server].command({"ZCARD", std::string("redlock:queue:") + resource});
    }

    [[nodiscard]] bool queue_has(const std::string& count)
    {
        return run_until(context, [&] {
            for (std::size_t each = 0; each < 3; ++each)
            {
                if (queue_at(each) != "(integer) " + count)
                    return false;
            }
            return true;
        });
    }

    /// Until each server tells of the key: the first in a queue asks for that after a while.
    [[nodiscard]] bool is_watched()
    {
        return run_until(context, [&] {
            for (redis_server& each : servers)
            {
                if (!contains(each.command({"INFO", "stats"}), "tracking_total_keys:1\r"))
                    return false;
            }
            return true;
        });
    }

    redis_servers servers;
    loop context;
    client_config config;
};

const std::string reservation = std::string("redlock:reserved:") + resource;

}  // namespace

BOOST_AUTO_TEST_CASE(a_release_wakes_who_waits)
{
    queue_fixture on;
    const auto first = on.make_client();
    const auto second = on.make_client();
    lease held = run(on.context, (*first)->async_acquire(resource, patient));
    const auto waiting = on.wait_in_line(*second);
    BOOST_TEST(on.queue_has("1"));

    run(on.context, held.async_release());

    BOOST_TEST(on.gets_it(*waiting));
    BOOST_TEST(waiting->report.rounds == 2u);
    BOOST_TEST(on.queue_has("0"));
}

BOOST_AUTO_TEST_CASE(clients_are_granted_in_the_order_of_their_arrival)
{
    queue_fixture on;
    const auto first = on.make_client();
    lease held = run(on.context, (*first)->async_acquire(resource, patient));
    std::vector<std::unique_ptr<client_runner>> others;
    std::vector<std::shared_ptr<waiter>> waiting;
    for (int i = 0; i < 4; ++i)
    {
        others.push_back(on.make_client());
        waiting.push_back(on.wait_in_line(*others.back()));
    }
    BOOST_TEST(on.queue_has("4"));

    for (const auto& next : waiting)
    {
        run(on.context, held.async_release());
        BOOST_TEST(on.gets_it(*next));
        held = std::move(next->held);
    }
    // A node that denied the last one, because it hadn't read the release yet, still has its place.
    run(on.context, held.async_release());
    BOOST_TEST(on.queue_has("0"));
}

// Those in it here have gone, so the release passes them all over.
BOOST_AUTO_TEST_CASE(a_queue_has_at_most_4096_clients)
{
    const char* const fill =
        "for i = 1, 4096 do "
        "redis.call('ZADD', KEYS[1], i, string.format('%x', i)) end";
    const std::string queue = std::string("redlock:queue:") + resource;
    queue_fixture on;
    const auto holder = on.make_client();
    const auto other = on.make_client();
    lease held = run(on.context, (*holder)->async_acquire(resource, patient));
    for (redis_server& each : on.servers)
        each.command({"EVAL", fill, "1", queue});

    const auto early = on.wait_in_line(*other);
    BOOST_TEST(on.queue_has("4096"));
    BOOST_TEST(!early->report.votes.at(0).position);

    early->cancel.emit(boost::asio::cancellation_type::terminal);
    BOOST_TEST(run_until(on.context, [&] { return early->outcome.has_value(); }));
    for (redis_server& each : on.servers)
        each.command({"ZREM", queue, "1"});
    const auto late = on.wait_in_line(*other);
    BOOST_TEST(on.queue_has("4096"));
    run(on.context, held.async_release());
    BOOST_TEST(on.gets_it(*late));
    BOOST_TEST(on.queue_has("0"));
}

BOOST_AUTO_TEST_CASE(a_client_that_has_gone_is_passed_over_at_once)
{
    queue_fixture on;
    const auto first = on.make_client();
    auto second = on.make_client();
    const auto third = on.make_client();
    lease held = run(on.context, (*first)->async_acquire(resource, patient));
    const auto gone = on.wait_in_line(*second);
    const auto waiting = on.wait_in_line(*third);
    second.reset();

    run(on.context, held.async_release());

    BOOST_TEST(on.gets_it(*waiting));
    BOOST_TEST(waiting->report.rounds == 2u);
}

BOOST_AUTO_TEST_CASE(who_is_cancelled_leaves_the_queue)
{
    queue_fixture on;
    const auto first = on.make_client();
    const auto second = on.make_client();
    const lease held = run(on.context, (*first)->async_acquire(resource, patient));
    const auto waiting = on.wait_in_line(*second);
    BOOST_TEST(on.queue_has("1"));

    waiting->cancel.emit(boost::asio::cancellation_type::terminal);

    // The nodes may know it first.
    BOOST_TEST_REQUIRE(run_until(on.context, [&] { return waiting->outcome.has_value(); }));
    BOOST_TEST(*waiting->outcome == boost::asio::error::operation_aborted);
    BOOST_TEST(on.queue_has("0"));
}

BOOST_AUTO_TEST_CASE(a_place_that_is_given_up_after_it_was_woken_goes_to_the_next)
{
    queue_fixture on;
    const auto first = on.make_client();
    const auto second = on.make_client();
    lease held = run(on.context, (*first)->async_acquire(resource, patient));
    const auto waiting = on.wait_in_line(*second);
    // A client that was there before, and never comes.
    for (redis_server& each : on.servers)
        each.command({"ZADD", std::string("redlock:queue:") + resource, "1", "feed"});

    run(on.context, held.async_release());

    BOOST_TEST(on.gets_it(*waiting));
}

BOOST_AUTO_TEST_CASE(what_is_reserved_is_denied_to_who_comes_later)
{
    queue_fixture on;
    const auto first = on.make_client();
    for (redis_server& each : on.servers)
        each.command({"SET", reservation, "feed:1", "PX", "9000"});

    BOOST_TEST(!run(on.context, (*first)->async_try_acquire(resource, 20s)));
}

BOOST_AUTO_TEST_CASE(a_reservation_for_who_came_later_does_not_hold)
{
    queue_fixture on;
    const auto first = on.make_client();
    for (redis_server& each : on.servers)
        each.command({"SET", reservation, "feed:9007199254740000", "PX", "9000"});
    acquire_options before_it_ends = patient;
    before_it_ends.wait = 5s;

    const lease held = run(on.context, (*first)->async_acquire(resource, before_it_ends));
    BOOST_TEST(!held.expired());
}

BOOST_AUTO_TEST_CASE(a_release_by_another_library_wakes_the_first_in_the_queue)
{
    queue_fixture on;
    const auto second = on.make_client();
    for (redis_server& each : on.servers)
        each.command({"SET", resource, "theirs", "PX", "60000"});
    const auto waiting = on.wait_in_line(*second);
    BOOST_TEST(on.queue_has("1"));
    BOOST_TEST(on.is_watched());

    for (redis_server& each : on.servers)
        each.command({"DEL", resource});

    BOOST_TEST(on.gets_it(*waiting));
    BOOST_TEST(waiting->report.rounds == 2u);
}

BOOST_AUTO_TEST_CASE(the_first_in_the_queue_has_what_expires_at_once)
{
    queue_fixture on;
    const auto second = on.make_client();
    for (redis_server& each : on.servers)
        each.command({"SET", resource, "theirs", "PX", "600"});
    const auto waiting = on.wait_in_line(*second);

    BOOST_TEST(on.gets_it(*waiting, 3s));
    BOOST_TEST(waiting->report.rounds <= 3u);
}

BOOST_AUTO_TEST_CASE(nonsense_in_the_keys_of_the_queue_grants_nothing_and_stops_nobody)
{
    queue_fixture on;
    const auto first = on.make_client();
    const auto second = on.make_client();
    const std::string queue = std::string("redlock:queue:") + resource;
    const std::string reserved = reservation;
    const std::vector<std::vector<std::string>> nonsense{
        {"SET", queue, "x"},
        {"RPUSH", queue, "x"},
        {"ZADD", queue, "inf", "x"},
        {"ZADD", queue, "-1", ""},
        {"SET", reserved, ""},
        {"SET", reserved, "::::"},
        {"SET", reserved, "feed:-5"},
        {"SET", reserved, "feed:1"},
        {"SET", reserved, "feed:1", "PX", "3600000"},
        {"RPUSH", reserved, "x"},
    };
    for (const auto& command : nonsense)
    {
        BOOST_TEST_CONTEXT(command[0] << ' ' << command[1] << ' ' << command.back())
        {
            for (redis_server& each : on.servers)
            {
                each.command({"DEL", queue, reserved});
                each.command(command);
            }
            lease held = run(on.context, (*first)->async_acquire(resource, patient));
            BOOST_TEST(!run(on.context, (*second)->async_try_acquire(resource, 20s)));
            const auto outcome = run(on.context, held.async_release());
            BOOST_TEST(outcome == release_outcome::released);
        }
    }
}

BOOST_AUTO_TEST_CASE(who_never_waits_writes_no_queue)
{
    queue_fixture on;
    const auto first = on.make_client();
    lease held = run(on.context, (*first)->async_acquire(resource, patient));
    run(on.context, held.async_release());

    for (redis_server& each : on.servers)
    {
        BOOST_TEST(each.command({"KEYS", "redlock:queue:*"}) == "(empty array)");
        BOOST_TEST(each.command({"KEYS", "redlock:reserved:*"}) == "(empty array)");
    }
}

BOOST_AUTO_TEST_CASE(a_client_that_polls_gets_its_turn_beside_those_in_the_queue)
{
    queue_fixture on;
    const auto first = on.make_client();
    lease held = run(on.context, (*first)->async_acquire(resource, patient));
    on.config.waiting.queue = false;
    on.config.node_timeout = 500ms;
    const auto polls = on.make_client();
    const auto waiting = on.wait_in_line(*polls);
    BOOST_TEST(on.queue_has("0"));

    run(on.context, held.async_release());

    BOOST_TEST(on.gets_it(*waiting, 5s));
}

BOOST_AUTO_TEST_SUITE_END()
