// Operations that are cancelled at any moment, on real connections.

#include <redlock/client.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>
#include <boost/version.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/client_runner.hpp"
#include "support/loop.hpp"
#include "support/needs.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_proxy.hpp"

#if BOOST_VERSION >= 108600
#include <boost/asio/cancel_after.hpp>
#endif

BOOST_AUTO_TEST_SUITE(
    test_cancellation,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

/// Five servers, the last one behind a proxy that delays every reply.
struct fixture
{
    explicit fixture(milliseconds delay)
    {
        std::vector<std::string> urls = servers.urls();
        urls.back() = slow.url();
        config = config_for(urls);
        locks.emplace(context, config);
        locks->wait_for_all_nodes();
        slow.delay_replies(delay);
    }

    /// Waits until no server has a key.
    [[nodiscard]] bool is_empty(milliseconds within)
    {
        return run_until(
            context,
            [this] {
                return std::ranges::all_of(servers, [](redis_server& server) {
                    return server.command({"DBSIZE"}) == "(integer) 0";
                });
            },
            within
        );
    }

    redis_servers servers{5};
    tcp_proxy slow{servers[4].port()};
    loop context;
    client_config config;
    std::optional<client_runner> locks;
};

/// An acquisition, and a timer that cancels it.
class attempt
{
public:
    attempt(fixture& in, const std::string& resource, std::chrono::microseconds cancelled_after)
        : timer_(in.context, cancelled_after)
    {
        // A timer that has fired calls its handler even if it is destroyed meanwhile.
        timer_.async_wait([this, alive = std::weak_ptr<int>(alive_)](error_code ec) {
            if (!ec && !alive.expired())
                signal_.emit(asio::cancellation_type::terminal);
        });
        (*in.locks)->async_acquire(
            resource,
            {.ttl = 60s, .wait = 60s},
            asio::bind_cancellation_slot(
                signal_.slot(),
                [this](error_code ec, lease held) {
                    timer_.cancel();
                    // What was granted before is given back by the end of the lease.
                    BOOST_TEST(bool(held) == !ec);
                    if (ec)
                        BOOST_TEST(ec == asio::error::operation_aborted);
                    outcome_ = ec;
                }
            )
        );
    }

    attempt(const attempt&) = delete;
    attempt& operator=(const attempt&) = delete;

    [[nodiscard]] const std::optional<error_code>& outcome() const noexcept { return outcome_; }

private:
    asio::cancellation_signal signal_;
    std::shared_ptr<int> alive_ = std::make_shared<int>();
    asio::steady_timer timer_;
    std::optional<error_code> outcome_;
};

/// What became of many attempts.
struct counts
{
    std::size_t granted = 0;
    std::size_t cancelled = 0;
};

/// Makes some attempts at once, each cancelled at a random moment up to `latest`.
counts attempt_some(
    fixture& f,
    const std::vector<std::string>& resources,
    std::chrono::microseconds latest,
    std::mt19937& random
)
{
    std::uniform_int_distribution<std::chrono::microseconds::rep> moment(0, latest.count());
    std::deque<attempt> attempts;
    for (const std::string& resource : resources)
        attempts.emplace_back(f, resource, std::chrono::microseconds(moment(random)));
    const auto is_done = [](const attempt& each) { return each.outcome().has_value(); };
    BOOST_TEST_REQUIRE(run_until(f.context, [&] { return std::ranges::all_of(attempts, is_done); })
    );

    counts result;
    for (const attempt& each : attempts)
        ++(*each.outcome() ? result.cancelled : result.granted);
    return result;
}

/** Makes many attempts, a hundred at once.

    How fast they are depends on the machine. So the moments follow: cancelling should win as often
    as it loses.
*/
counts attempt_all(fixture& f, std::size_t total, std::size_t resources)
{
    constexpr std::size_t at_once = 100;
    std::mt19937 random(20260101);
    std::chrono::microseconds latest = 3ms;
    counts result;
    for (std::size_t made = 0; made < total; made += at_once)
    {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < at_once; ++i)
            names.push_back("r:" + std::to_string((made + i) % resources));

        const counts some = attempt_some(f, names, latest, random);

        result.granted += some.granted;
        result.cancelled += some.cancelled;
        latest = some.granted < some.cancelled ? latest * 5 / 4 : latest * 4 / 5;
        latest = std::clamp<std::chrono::microseconds>(latest, 100us, 100ms);
    }
    return result;
}

std::size_t number_of_attempts()
{
    return std::getenv("REDLOCK_TEST_LONG") != nullptr ? 10'000 : 2'000;
}

}  // namespace

BOOST_AUTO_TEST_CASE(attempts_cancelled_at_random_moments_leave_no_key)
{
    fixture f(20ms);

    const counts made = attempt_all(f, number_of_attempts(), number_of_attempts());

    BOOST_TEST(f.is_empty(5s));  // A ttl is 60 s.
    // Both happened often, so the moments were those that matter.
    BOOST_TEST_MESSAGE(made.granted << " granted, " << made.cancelled << " cancelled");
    BOOST_TEST(made.granted > number_of_attempts() / 20);
    BOOST_TEST(made.cancelled > number_of_attempts() / 20);
}

BOOST_AUTO_TEST_CASE(attempts_for_few_resources_cancelled_at_random_moments_leave_no_key)
{
    fixture f(20ms);

    const counts made = attempt_all(f, number_of_attempts(), 10);

    BOOST_TEST(f.is_empty(5s));
    BOOST_TEST_MESSAGE(made.granted << " granted, " << made.cancelled << " cancelled");
    BOOST_TEST(made.cancelled > number_of_attempts() / 10);
}

// The quorum itself is slow, so that the cancellation comes between the requests and the replies.
BOOST_AUTO_TEST_CASE(an_attempt_cancelled_while_its_keys_are_set_is_undone)
{
    redis_server server;
    tcp_proxy proxy(server.port());
    loop context;
    client_config config = config_for({proxy.url()});
    config.node_timeout = 20s;
    client_runner locks(context, config);
    locks.wait_for_all_nodes();
    proxy.hold_replies();
    asio::cancellation_signal signal;
    std::optional<error_code> outcome;
    locks->async_acquire(
        "r",
        60s,
        asio::bind_cancellation_slot(
            signal.slot(),
            [&outcome](error_code ec, lease held) {
                BOOST_TEST(!held);
                outcome = ec;
            }
        )
    );
    BOOST_TEST(run_until(context, [&] { return server.client().exists("r"); }));

    signal.emit(asio::cancellation_type::partial);

    // Neither the completion nor the release waits for a reply.
    BOOST_TEST(run_until(context, [&outcome] { return outcome.has_value(); }, 10s));
    BOOST_TEST(*outcome == asio::error::operation_aborted);
    BOOST_TEST(run_until(context, [&] { return !server.client().exists("r"); }, 10s));
    proxy.pass();
}

#if BOOST_VERSION >= 108600  // Before, Asio had no cancel_after.
BOOST_AUTO_TEST_CASE(a_wait_cancelled_by_a_deadline_leaves_the_holder_alone)
{
    fixture f(20ms);
    for (redis_server& server : f.servers)
        server.command({"SET", "r", "other"});

    const auto [ec, none] = outcome_of(
        f.context,
        (*f.locks)->async_acquire("r", {.ttl = 60s, .wait = forever}, asio::cancel_after(100ms))
    );

    BOOST_TEST(ec == asio::error::operation_aborted);
    for (redis_server& server : f.servers)
        BOOST_TEST(server.client().get("r").value() == "other");
}
#endif

#if BOOST_VERSION >= 108600  // Before, Asio had no cancel_after.
// To stop waiting is not to stop releasing.
BOOST_AUTO_TEST_CASE(a_cancelled_release_goes_on)
{
    redis_server server;
    tcp_proxy proxy(server.port());
    loop context;
    client_runner locks(context, config_for({proxy.url()}));
    lease held = run(context, locks->async_acquire("r", 60s));
    proxy.hold_requests();

    const auto [ec, ignored] = outcome_of(context, held.async_release(asio::cancel_after(50ms)));
    BOOST_TEST(ec == asio::error::operation_aborted);
    BOOST_TEST(held.expired());
    BOOST_TEST(server.client().exists("r"));
    proxy.pass();

    BOOST_TEST(run_until(context, [&] { return !server.client().exists("r"); }));
}
#endif

#if BOOST_VERSION >= 108600  // Before, Asio had no cancel_after.
BOOST_AUTO_TEST_CASE(a_cancelled_extension_leaves_the_deadline_as_it_was)
{
    redis_server server;
    tcp_proxy proxy(server.port());
    loop context;
    client_runner locks(context, config_for({proxy.url()}));
    lease held = run(context, locks->async_acquire("r", 60s));
    const auto deadline = held.valid_until();
    proxy.hold_requests();

    const auto [ec] = outcome_of(context, held.async_extend(600s, asio::cancel_after(50ms)));

    BOOST_TEST(ec == asio::error::operation_aborted);
    BOOST_TEST(!held.expired());
    BOOST_TEST((held.valid_until() == deadline));
    proxy.pass();
    BOOST_TEST(run(context, held.async_release()) == release_outcome::released);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
