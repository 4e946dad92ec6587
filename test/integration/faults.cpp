// Nodes that are down, frozen, cut off in mid-reply, forgetful or not Redis at all.

#include <redlock/client.hpp>
#include <redlock/diagnostics.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

#include "support/client_runner.hpp"
#include "support/contains.hpp"
#include "support/eventually.hpp"
#include "support/loop.hpp"
#include "support/needs.hpp"
#include "support/posix.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_proxy.hpp"

BOOST_AUTO_TEST_SUITE(
    test_faults,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

constexpr const char* resource = "orders:42";

/// Five servers.
struct five_nodes
{
    explicit five_nodes(milliseconds node_timeout = 1s) : config(config_for(servers))
    {
        config.node_timeout = node_timeout;
    }

    void kill(std::initializer_list<std::size_t> which)
    {
        for (const std::size_t node : which)
            servers[node].kill();
    }

    void pause(std::initializer_list<std::size_t> which)
    {
        for (const std::size_t node : which)
            servers[node].pause();
    }

    void resume(std::initializer_list<std::size_t> which)
    {
        for (const std::size_t node : which)
            servers[node].resume();
    }

    redis_servers servers{5};
    loop context;
    client_config config;
};

/// Servers, each behind a proxy that the clients connect to.
struct proxied_nodes
{
    explicit proxied_nodes(std::size_t count, milliseconds node_timeout = 1s) : servers(count)
    {
        std::vector<std::string> urls;
        for (redis_server& server : servers)
            urls.push_back(proxies.emplace_back(server.port()).url());
        config = config_for(urls);
        config.node_timeout = node_timeout;
    }

    /// Waits until a key exists on a server, or does not.
    [[nodiscard]] bool has_key(std::size_t node, const std::string& key, bool there = true)
    {
        const auto matches = [&] { return servers[node].client().exists(key) == there; };
        return run_until(context, matches);
    }

    redis_servers servers;
    std::deque<tcp_proxy> proxies;
    loop context;
    client_config config;
};

/// Of a client whose only node was asked, and whose answer has not come.
class unanswered_attempt
{
public:
    unanswered_attempt()
    {
        locks_.wait_for_all_nodes();
        proxy().hold_replies();
        locks_->async_try_acquire(
            resource,
            {.ttl = 60s, .report = &report_},
            [this](error_code ec, lease) { outcome_ = ec; }
        );
        BOOST_TEST(nodes_.has_key(0, resource));
    }

    [[nodiscard]] tcp_proxy& proxy() { return nodes_.proxies[0]; }

    /// Checks that it fails and says why, and is undone on the next connection.
    void check_that_its_connection_is_lost()
    {
        proxy().pass();

        BOOST_TEST(run_until(nodes_.context, [this] { return outcome_.has_value(); }));
        BOOST_TEST(*outcome_ == error::quorum_unreachable);
        BOOST_TEST(report_.votes.at(0).reason == reason::connection_lost);
        BOOST_TEST(report_.votes.at(0).code.failed(), to_string(report_));
        BOOST_TEST(contains(to_string(report_), "connection lost: "));
        BOOST_TEST(nodes_.has_key(0, resource, false));
    }

private:
    proxied_nodes nodes_{1, 20s};
    client_runner locks_{nodes_.context, nodes_.config};
    diagnostics report_;
    std::optional<error_code> outcome_;
};

std::size_t occurrences(std::string_view text, std::string_view part)
{
    std::size_t count = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size()))
        ++count;
    return count;
}

auto has_reason(reason wanted)
{
    return [wanted](const node_vote& each) { return each.reason == wanted; };
}

/// Acquires, extends and releases with a client that should be able to.
void check_that_it_works(asio::io_context& context, client_runner& locks, const std::string& name)
{
    lease held = run(context, locks->async_try_acquire(name, 60s));
    BOOST_TEST_REQUIRE(bool(held));
    run(context, held.async_extend(70s));
    BOOST_TEST(held.remaining() > 60s);
    BOOST_TEST(run(context, held.async_release()) == release_outcome::released);
}

/// A server that is no Redis: says something to everybody who connects or sends, then nothing.
class stranger
{
public:
    enum class manners : std::uint8_t
    {
        stays,
        hangs_up,  ///< As soon as it has spoken.
    };

    explicit stranger(std::string says, manners has = manners::stays)
        : says_(std::move(says)),
          manners_(has),
          listener_(port_.listen()),
          thread_([this](const std::stop_token& stop) { serve(stop); })
    {
    }

    [[nodiscard]] std::string url() const
    {
        return "redis://127.0.0.1:" + std::to_string(port_.number());
    }

    /// Connections so far.
    [[nodiscard]] std::size_t guests() const noexcept { return guests_; }

private:
    void serve(const std::stop_token& stop)
    {
        std::vector<descriptor> guests;
        while (!stop.stop_requested())
        {
            descriptor guest(::accept(listener_.get(), nullptr, nullptr));
            if (!guest.is_open())
            {
                pollfd entry{listener_.get(), POLLIN, 0};
                ::poll(&entry, 1, 5);
                continue;
            }
            // A peer that closes at once makes this fail, which is as well.
            std::ignore = ::send(guest.get(), says_.data(), says_.size(), MSG_NOSIGNAL);
            if (manners_ == manners::stays)
                guests.push_back(std::move(guest));
            ++guests_;
        }
    }

    std::string says_;
    manners manners_;
    std::atomic<std::size_t> guests_{0};
    loopback_port port_;
    descriptor listener_;
    std::jthread thread_;
};

/// Acquisitions of one node whose commands share one write.
template <std::size_t count>
class batch_of_attempts
{
public:
    explicit batch_of_attempts(client_runner& locks)
    {
        for (std::size_t i = 0; i < count; ++i)
        {
            locks->async_try_acquire(name(i), 60s, [this, i](error_code ec, lease got) {
                outcomes_[i] = ec;
                held_[i] = std::move(got);
            });
        }
    }

    batch_of_attempts(const batch_of_attempts&) = delete;
    batch_of_attempts& operator=(const batch_of_attempts&) = delete;

    [[nodiscard]] static std::string name(std::size_t i) { return "batch:" + std::to_string(i); }

    [[nodiscard]] bool are_done() const
    {
        return std::ranges::all_of(outcomes_, [](const auto& each) { return each.has_value(); });
    }

    /// The node answers in order. @return How many it granted; the others are unreachable.
    [[nodiscard]] std::size_t check_that_the_first_ones_were_granted() const
    {
        const auto granted = static_cast<std::size_t>(std::ranges::count(outcomes_, error_code()));
        for (std::size_t i = 0; i < count; ++i)
        {
            const error_code expected = i < granted ? error_code() : error::quorum_unreachable;
            BOOST_TEST(*outcomes_[i] == expected);
        }
        return granted;
    }

private:
    std::array<std::optional<error_code>, count> outcomes_;
    std::array<lease, count> held_;
};

/// One client of one node whose connection breaks once, after some bytes of replies.
struct broken_once
{
    broken_once(asio::io_context& context, std::uint16_t target, std::size_t count)
        : proxy(target), bytes(count), name("broken:" + std::to_string(count))
    {
        proxy.reset_after_reply_bytes(count);
        client_config config = config_for({proxy.url()});
        config.retry.max_delay = 10ms;
        locks.emplace(context, std::move(config));
        (*locks)->async_acquire(name, {.ttl = 60s, .wait = 20s}, [this](error_code ec, lease got) {
            outcome = ec;
            held = std::move(got);
        });
    }

    tcp_proxy proxy;
    std::size_t bytes;
    std::string name;
    std::optional<client_runner> locks;
    std::optional<error_code> outcome;
    lease held;
};

}  // namespace

BOOST_AUTO_TEST_CASE(two_of_five_nodes_that_were_never_up_do_not_matter)
{
    five_nodes f;
    f.kill({1, 3});
    client_runner locks(f.context, f.config);

    check_that_it_works(f.context, locks, resource);

    BOOST_TEST(locks.reaches(3));
    BOOST_TEST(locks.reaches(1, node_state::down));
    BOOST_TEST(locks.status(1).because == "Connection refused");
    BOOST_TEST(locks.status(1).reason == reason::down);
    BOOST_TEST(locks.status(1).code == boost::asio::error::connection_refused);
}

BOOST_AUTO_TEST_CASE(two_of_five_nodes_that_go_down_do_not_matter)
{
    five_nodes f;
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();
    lease held = run(f.context, locks->async_acquire("held before", 60s));

    f.kill({0});
    check_that_it_works(f.context, locks, "after the first");
    f.kill({4});
    check_that_it_works(f.context, locks, "after the second");

    run(f.context, held.async_extend(70s));
    BOOST_TEST(held.remaining() > 60s);
    BOOST_TEST(run(f.context, held.async_release()) == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(three_of_five_nodes_down_are_unreachable_each_with_its_reason)
{
    five_nodes f;
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();
    f.kill({0, 2, 4});
    for (const std::size_t node : {0, 2, 4})
        BOOST_TEST(locks.reaches(node, node_state::down));
    BOOST_TEST(run_until(f.context, [&] {
        return locks.status(0).because == "Connection refused" &&
               locks.status(2).because == "Connection refused" &&
               locks.status(4).because == "Connection refused";
    }));
    diagnostics report;

    const auto [ec, none] =
        outcome_of(f.context, locks->async_try_acquire(resource, {.ttl = 10s, .report = &report}));

    BOOST_TEST(ec == error::quorum_unreachable);
    BOOST_TEST(ec == condition::not_acquired);
    BOOST_TEST(ec == condition::nodes_unavailable);
    BOOST_TEST(!none);
    for (const std::size_t node : {0, 2, 4})
    {
        BOOST_TEST((report.votes[node].vote == vote::unknown));
        BOOST_TEST(report.votes[node].reason == reason::down);
        BOOST_TEST(report.votes[node].code == asio::error::connection_refused);
    }
    BOOST_TEST(occurrences(to_string(report), "down: Connection refused") == 3u);
    for (const std::size_t node : {1, 3})
    {
        const auto has_key = [&] { return f.servers[node].client().exists(resource); };
        BOOST_TEST(run_until(f.context, [&] { return !has_key(); }, 2s));
    }
}

BOOST_AUTO_TEST_CASE(who_waits_waits_for_an_unreachable_quorum_and_asks_nobody)
{
    five_nodes f;
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();
    f.kill({0, 1, 2});
    const auto start = deadline_clock::now();
    diagnostics report;

    const auto [ec, none] = outcome_of(
        f.context, locks->async_acquire(resource, {.ttl = 10s, .wait = 400ms, .report = &report})
    );

    BOOST_TEST(ec == error::quorum_unreachable);
    BOOST_TEST(report.rounds <= 1u);
    BOOST_TEST((deadline_clock::now() - start > 300ms));
}

BOOST_AUTO_TEST_CASE(nodes_that_are_up_again_vote_again)
{
    five_nodes f;
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();
    f.kill({0, 1, 2, 3, 4});
    BOOST_TEST(locks.reaches(0, node_state::down));
    std::optional<error_code> outcome;
    lease held;
    locks->async_acquire(resource, {.ttl = 60s, .wait = 20s}, [&](error_code ec, lease got) {
        outcome = ec;
        held = std::move(got);
    });
    BOOST_TEST(!run_until(f.context, [&] { return outcome.has_value(); }, 50ms));

    for (redis_server& server : f.servers)
        server.start();

    BOOST_TEST(run_until(f.context, [&] { return outcome.has_value(); }, 5s));
    BOOST_TEST(!outcome.value());
    BOOST_TEST(run_until(f.context, [&] { return locks.reaches(5); }, 5s));
    check_that_it_works(f.context, locks, "another");
}

BOOST_AUTO_TEST_CASE(a_lease_survives_a_short_outage_and_the_loss_of_its_keys)
{
    proxied_nodes f(5);
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();
    lease held = run(f.context, locks->async_acquire(resource, 60s));
    const auto deadline = held.valid_until();
    const auto cut_off = [&](bool off) {
        for (const std::size_t node : {0, 1, 2})
        {
            if (off)
                f.proxies[node].refuse();
            else
                f.proxies[node].accept();
            f.proxies[node].reset_all();
        }
    };

    cut_off(true);
    for (const std::size_t node : {0, 1, 2})
        BOOST_TEST(locks.reaches(node, node_state::down));
    const auto [during] = outcome_of(f.context, held.async_extend(70s));
    BOOST_TEST(during == error::quorum_unreachable);
    BOOST_TEST(!held.expired());
    BOOST_TEST((held.valid_until() == deadline));

    cut_off(false);
    BOOST_TEST(locks.reaches(5));
    run(f.context, held.async_extend(80s));
    BOOST_TEST((held.valid_until() > deadline));

    for (const std::size_t node : {0, 1, 2})
        f.servers[node].restart();
    BOOST_TEST(run_until(f.context, [&] {
        const auto [ec] = outcome_of(f.context, held.async_extend(90s));
        return !ec && held.votes() == 5;
    }));
    for (redis_server& server : f.servers)
        BOOST_TEST(run_until(f.context, [&] { return server.client().pttl(resource) > 85'000; }));
}

BOOST_AUTO_TEST_CASE(two_of_five_frozen_nodes_cost_no_time)
{
    five_nodes f(20s);
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();
    f.pause({1, 2});
    const auto start = deadline_clock::now();

    for (int i = 0; i < 10; ++i)
        check_that_it_works(f.context, locks, resource + std::to_string(i));

    // Less than one node timeout, with thirty operations.
    BOOST_TEST((deadline_clock::now() - start < 10s));
    f.resume({1, 2});
}

BOOST_AUTO_TEST_CASE(three_of_five_frozen_nodes_are_unreachable_by_timeout)
{
    five_nodes f(200ms);
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();
    f.pause({0, 1, 2});
    diagnostics report;
    const auto start = deadline_clock::now();

    const auto [ec, none] =
        outcome_of(f.context, locks->async_try_acquire(resource, {.ttl = 60s, .report = &report}));

    BOOST_TEST(ec == error::quorum_unreachable);
    BOOST_TEST((deadline_clock::now() - start >= 200ms));
    BOOST_TEST(std::ranges::count_if(report.votes, has_reason(reason::timeout)) == 3);
    BOOST_TEST(occurrences(to_string(report), " timeout") == 3u);
}

// What a frozen node was asked to do, it does when it wakes up: the release behind it must not have
// been forgotten.
BOOST_AUTO_TEST_CASE(resumed_nodes_work_and_keep_no_key_of_what_they_were_asked_meanwhile)
{
    five_nodes f(100ms);
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();
    f.pause({0, 1, 2});
    for (const char* name : {"a", "b", "c"})
    {
        const auto [ec, none] =
            outcome_of(f.context, locks->async_acquire(name, {.ttl = 600s, .wait = 300ms}));
        BOOST_TEST(ec == error::quorum_unreachable);
    }

    f.resume({0, 1, 2});

    BOOST_TEST(locks.reaches(5));
    check_that_it_works(f.context, locks, resource);
    for (redis_server& server : f.servers)
    {
        BOOST_TEST_CONTEXT("keys " << server.command({"KEYS", "*"}))
        {
            BOOST_TEST(run_until(f.context, [&] {
                return server.command({"DBSIZE"}) == "(integer) 0";
            }));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_node_that_stays_frozen_is_noticed_and_comes_back)
{
    five_nodes f;
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();

    f.pause({3});
    BOOST_TEST(locks.reaches(3, node_state::down));
    BOOST_TEST(!locks.status(3).because.empty());
    check_that_it_works(f.context, locks, resource);

    f.resume({3});
    BOOST_TEST(locks.reaches(5));
}

BOOST_AUTO_TEST_CASE(two_nodes_down_and_one_denial_are_contention)
{
    five_nodes f;
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();
    f.kill({0, 1});
    f.servers[2].command({"SET", resource, "other", "PX", "60000"});

    const lease none = run(f.context, locks->async_try_acquire(resource, 10s));
    const auto [ec, nothing] =
        outcome_of(f.context, locks->async_acquire(resource, {.ttl = 10s, .wait = 0ms}));

    BOOST_TEST(!none);
    BOOST_TEST(ec == error::contended);
}

BOOST_AUTO_TEST_CASE(two_frozen_nodes_and_one_denial_are_contention)
{
    five_nodes f(200ms);
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();
    f.pause({3, 4});
    f.servers[2].command({"SET", resource, "other", "PX", "60000"});

    BOOST_TEST(!run(f.context, locks->async_try_acquire(resource, 10s)));
}

BOOST_AUTO_TEST_CASE(a_single_node_that_is_down_is_unreachable_and_comes_back)
{
    redis_server server;
    loop context;
    client_runner locks(context, config_for({server.url()}));
    locks.wait_for_all_nodes();
    server.kill();

    const auto [ec, none] = outcome_of(context, locks->async_try_acquire(resource, 10s));
    BOOST_TEST(ec == error::quorum_unreachable);

    server.start();
    BOOST_TEST(locks.reaches(1));
    check_that_it_works(context, locks, resource);
}

BOOST_AUTO_TEST_CASE(a_node_that_refuses_at_first_joins_when_it_accepts)
{
    proxied_nodes f(3);
    f.proxies[2].refuse();
    client_runner locks(f.context, f.config);
    check_that_it_works(f.context, locks, "with two");
    BOOST_TEST(locks.reaches(2, node_state::down));

    f.proxies[2].accept();

    BOOST_TEST(locks.reaches(3));
    f.proxies[0].refuse();
    f.proxies[0].reset_all();
    check_that_it_works(f.context, locks, "with the other two");
}

BOOST_AUTO_TEST_CASE(a_question_on_a_connection_that_breaks_fails_and_says_so)
{
    unanswered_attempt attempt;

    attempt.proxy().reset_all();

    attempt.check_that_its_connection_is_lost();
}

BOOST_AUTO_TEST_CASE(an_answer_that_cannot_be_read_ends_the_connection_and_says_so)
{
    unanswered_attempt attempt;

    attempt.proxy().precede_replies("not RESP\r\n");

    attempt.check_that_its_connection_is_lost();
}

// A context may be configured to read what came and not the end behind it: see docs/threading.md.
BOOST_AUTO_TEST_CASE(an_answer_with_the_end_of_its_connection_behind_it_counts)
{
    proxied_nodes f(1, 20s);
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();
    tcp_proxy& proxy = f.proxies[0];
    proxy.hold_replies();
    std::optional<error_code> outcome;
    lease held;
    locks->async_try_acquire(resource, 60s, [&](error_code ec, lease acquired) {
        outcome = ec;
        held = std::move(acquired);
    });
    BOOST_TEST(f.has_key(0, resource));

    // While the context does not run, so that both are there when it looks.
    f.servers[0].command({"CLIENT", "KILL", "TYPE", "normal"});
    proxy.pass();
    BOOST_TEST(eventually([&] { return proxy.reply_bytes().ended == 1; }));

    BOOST_TEST(run_until(f.context, [&] { return outcome.has_value(); }));
    BOOST_TEST(*outcome == error_code());
    BOOST_TEST(run_until(f.context, [&] { return proxy.connections() == 2; }));
    BOOST_TEST(locks.reaches(1));
    BOOST_TEST(run(f.context, held.async_release()) == release_outcome::released);
    check_that_it_works(f.context, locks, resource);
}

// The replies of the first commands, up to and including that of the SET, cut off after every byte.
BOOST_AUTO_TEST_CASE(a_connection_may_break_after_any_byte_of_a_reply)
{
    redis_server server;
    loop context;
    std::size_t first_replies = 0;
    {
        const tcp_proxy proxy(server.port());
        client_runner locks(context, config_for({proxy.url()}));
        const lease held = run(context, locks->async_acquire("measured", 10s));
        first_replies = proxy.reply_bytes().forwarded;
        BOOST_TEST_REQUIRE(first_replies > 100u);
    }

    constexpr std::size_t at_once = 128;  // Six descriptors each.
    for (std::size_t first = 0; first <= first_replies; first += at_once)
    {
        std::deque<broken_once> trials;
        for (std::size_t k = first; k < first + at_once && k <= first_replies; ++k)
            trials.emplace_back(context, server.port(), k);
        for (broken_once& trial : trials)
        {
            BOOST_TEST_CONTEXT("reset after " << trial.bytes << " bytes")
            {
                BOOST_TEST_REQUIRE(run_until(context, [&] { return trial.outcome.has_value(); }));
                BOOST_TEST(!*trial.outcome);
                BOOST_TEST(server.client().exists(trial.name));
                // After the last byte the lease is not hurt by the reset, but its release may have
                // to wait for the next connection.
                run(context, trial.held.async_release());
                BOOST_TEST(run_until(context, [&] { return !server.client().exists(trial.name); }));
                BOOST_TEST(run_until(context, [&] { return trial.proxy.connections() >= 2; }));
            }
        }
    }
}

// A batch of commands is cut off after k of n replies, in the middle of the next one, while another
// command is queued. Nothing of the old connection is sent or counted on the new one. A reply that
// arrived may be lost, if the client notices the reset first; it is never made up.
BOOST_AUTO_TEST_CASE(a_half_answered_batch_is_neither_repeated_nor_mistaken)
{
    constexpr std::size_t batch = 5;
    constexpr std::size_t reply_size = 5;  // +OK\r\n
    redis_server server;
    loop context;
    std::size_t all_granted = 0;
    for (std::size_t bytes = 0; bytes < batch * reply_size; ++bytes)
    {
        BOOST_TEST_CONTEXT("reset after " << bytes << " bytes")
        {
            server.command({"FLUSHALL"});
            tcp_proxy proxy(server.port());
            client_runner locks(context, config_for({proxy.url()}));
            locks.wait_for_all_nodes();
            lease before = run(context, locks->async_acquire("held-before", 60s));
            proxy.reset_after_reply_bytes(bytes);

            batch_of_attempts<batch> attempts(locks);
            context.poll_one();
            std::optional<error_code> extended;
            before.async_extend(600s)([&](error_code ec) { extended = ec; });
            BOOST_TEST_REQUIRE(run_until(context, [&] { return extended && attempts.are_done(); }));

            BOOST_TEST(locks.reaches(1));
            const std::size_t granted = attempts.check_that_the_first_ones_were_granted();
            BOOST_TEST(granted <= bytes / reply_size);
            all_granted += granted;
            for (std::size_t i = 0; i < batch; ++i)
            {
                BOOST_TEST(run_until(context, [&] {
                    return server.client().exists(attempts.name(i)) == (i < granted);
                }));
            }
            if (!*extended)
                BOOST_TEST(server.client().pttl("held-before") > 500'000);
            else
                BOOST_TEST(*extended == error::quorum_unreachable);

            const auto requests = proxy.requests();
            BOOST_TEST_REQUIRE(requests.size() == 2u);
            BOOST_TEST(occurrences(requests[1], "\r\nHELLO\r\n") == 1u);
            BOOST_TEST(occurrences(requests[1], "\r\nSET\r\n") == 0u);
            if (*extended)
                BOOST_TEST(occurrences(requests[1], "600000") == 0u);
            // What failed is released. The rest is extended: the node may have forgotten it.
            for (std::size_t i = granted; i < batch; ++i)
                BOOST_TEST(occurrences(requests[1], "\r\n" + attempts.name(i) + "\r\n") == 1u);
            BOOST_TEST(occurrences(requests[1], "held-before") <= 1u);
        }
    }
    BOOST_TEST(all_granted > 0u);
}

BOOST_AUTO_TEST_CASE(flushed_scripts_are_not_noticed)
{
    five_nodes f;
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();
    const auto flush = [&f] {
        for (redis_server& server : f.servers)
            BOOST_TEST(server.command({"SCRIPT", "FLUSH"}) == "OK");
    };
    lease held = run(f.context, locks->async_acquire(resource, 60s));
    for (redis_server& server : f.servers)
        BOOST_TEST(run_until(f.context, [&] { return server.client().exists(resource); }));

    flush();
    run(f.context, held.async_extend(600s));
    BOOST_TEST(held.remaining() > 500s);
    for (redis_server& server : f.servers)
    {
        const auto extended = [&] { return server.client().pttl(resource) > 500'000; };
        BOOST_TEST(run_until(f.context, extended));
    }

    flush();
    BOOST_TEST(run(f.context, held.async_release()) == release_outcome::released);
    for (redis_server& server : f.servers)
        BOOST_TEST(run_until(f.context, [&] { return !server.client().exists(resource); }));
}

BOOST_AUTO_TEST_CASE(flushed_scripts_are_not_noticed_by_many_operations_at_once)
{
    redis_server server;
    loop context;
    client_runner locks(context, config_for({server.url()}));
    std::vector<lease> held;
    for (int i = 0; i < 50; ++i)
        held.push_back(run(context, locks->async_acquire(std::to_string(i), 60s)));
    int extended = 0;
    int released = 0;

    server.command({"SCRIPT", "FLUSH"});
    for (lease& each : held)
    {
        each.async_extend(600s)([&extended](error_code ec) {
            BOOST_TEST(!ec);
            ++extended;
        });
    }
    BOOST_TEST(run_until(context, [&extended] { return extended == 50; }));
    server.command({"SCRIPT", "FLUSH"});
    for (lease& each : held)
    {
        each.async_release()([&released](error_code ec, release_outcome outcome) {
            BOOST_TEST(!ec);
            BOOST_TEST(outcome == release_outcome::released);
            ++released;
        });
    }
    BOOST_TEST(run_until(context, [&released] { return released == 50; }));
    BOOST_TEST(server.command({"DBSIZE"}) == "(integer) 0");
}

BOOST_AUTO_TEST_CASE(a_release_that_never_arrived_is_sent_on_the_next_connection)
{
    proxied_nodes f(1, 200ms);
    client_runner locks(f.context, f.config);
    lease held = run(f.context, locks->async_acquire(resource, 600s));
    f.proxies[0].hold_requests();

    BOOST_TEST(run(f.context, held.async_release()) == release_outcome::unconfirmed);
    BOOST_TEST(f.has_key(0, resource));

    f.proxies[0].reset_all();
    f.proxies[0].pass();

    BOOST_TEST(f.has_key(0, resource, false));
    BOOST_TEST(occurrences(f.proxies[0].requests().at(1), resource) == 1u);
}

BOOST_AUTO_TEST_CASE(a_release_whose_answer_was_lost_is_sent_again)
{
    proxied_nodes f(1, 200ms);
    client_runner locks(f.context, f.config);
    lease held = run(f.context, locks->async_acquire(resource, 600s));
    f.proxies[0].drop_replies();

    BOOST_TEST(run(f.context, held.async_release()) == release_outcome::unconfirmed);
    BOOST_TEST(f.has_key(0, resource, false));

    f.proxies[0].reset_all();
    f.proxies[0].pass();

    BOOST_TEST(run_until(f.context, [&] {
        const auto requests = f.proxies[0].requests();
        return requests.size() == 2 && occurrences(requests[1], resource) == 1;
    }));
    check_that_it_works(f.context, locks, "another");
}

BOOST_AUTO_TEST_CASE(a_background_release_reaches_a_node_that_was_cut_off)
{
    proxied_nodes f(3);
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();
    {
        const lease held = run(f.context, locks->async_acquire(resource, 600s));
        BOOST_TEST(f.has_key(2, resource));
        f.proxies[2].refuse();
        f.proxies[2].reset_all();
        BOOST_TEST(locks.reaches(2, node_state::down));
    }
    BOOST_TEST(f.has_key(0, resource, false));
    BOOST_TEST(f.servers[2].client().exists(resource));

    f.proxies[2].accept();

    BOOST_TEST(f.has_key(2, resource, false));
}

BOOST_AUTO_TEST_CASE(a_release_reaches_a_node_that_was_cut_off)
{
    proxied_nodes f(3);
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();
    lease held = run(f.context, locks->async_acquire(resource, 600s));
    BOOST_TEST(f.has_key(2, resource));
    f.proxies[2].refuse();
    f.proxies[2].reset_all();
    BOOST_TEST(locks.reaches(2, node_state::down));

    BOOST_TEST(run(f.context, held.async_release()) == release_outcome::released);
    BOOST_TEST(f.servers[2].client().exists(resource));
    f.proxies[2].accept();

    BOOST_TEST(f.has_key(2, resource, false));
}

BOOST_AUTO_TEST_CASE(a_release_that_was_kept_for_longer_than_its_ttl_is_not_sent)
{
    proxied_nodes f(3, 200ms);
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();
    lease is_long = run(f.context, locks->async_acquire("orders:long", 600s));
    lease is_short = run(f.context, locks->async_acquire("orders:short", 300ms));
    BOOST_TEST(f.has_key(2, "orders:long"));
    f.proxies[2].refuse();
    f.proxies[2].reset_all();
    BOOST_TEST(locks.reaches(2, node_state::down));
    run(f.context, is_long.async_release());
    run(f.context, is_short.async_release());

    f.context.run_for(310ms);
    f.proxies[2].accept();

    BOOST_TEST(f.has_key(2, "orders:long", false));
    const std::string sent = f.proxies[2].requests().at(1);
    BOOST_TEST(contains(sent, "orders:long"));
    BOOST_TEST(!contains(sent, "orders:short"));
}

BOOST_AUTO_TEST_CASE(an_attempt_that_a_cut_off_node_granted_is_undone_there_later)
{
    proxied_nodes f(1, 200ms);
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();
    f.proxies[0].hold_replies();

    const auto [ec, none] = outcome_of(f.context, locks->async_try_acquire(resource, 600s));
    BOOST_TEST(ec == error::quorum_unreachable);
    f.proxies[0].reset_all();
    f.proxies[0].pass();

    BOOST_TEST(f.has_key(0, resource, false));
}

BOOST_AUTO_TEST_CASE(slow_replies_are_late_votes_and_their_keys_are_released)
{
    proxied_nodes f(3, 100ms);
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();
    f.proxies[0].delay_replies(300ms);
    f.proxies[1].delay_replies(300ms);

    const auto [ec, none] = outcome_of(f.context, locks->async_try_acquire(resource, 600s));

    BOOST_TEST(ec == error::quorum_unreachable);
    for (const std::size_t node : {0, 1, 2})
        BOOST_TEST(f.has_key(node, resource, false));
    f.proxies[0].pass();
    f.proxies[1].pass();
    check_that_it_works(f.context, locks, "another");
}

BOOST_AUTO_TEST_CASE(a_server_that_is_no_redis_is_down_and_the_others_go_on)
{
    const std::vector<std::string> greetings{
        "",
        "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2\r\n",
        std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x00", 12),
        "\r\n\r\n\r\n",
        "+",
        "*1000000000\r\n",
        "$1000000000\r\n" + std::string(100'000, 'x'),
        std::string(3'000'000, '+'),
        "%1\r\n$6\r\nserver\r\n$5\r\nredis\r\n$3\r\nxyz\r\n",
    };
    redis_servers servers(2);
    loop context;
    std::deque<stranger> strangers;
    std::deque<client_runner> clients;
    for (const std::string& greeting : greetings)
    {
        auto urls = servers.urls();
        urls.push_back(strangers.emplace_back(greeting).url());
        clients.emplace_back(context, config_for(urls));
    }

    for (std::size_t i = 0; i < greetings.size(); ++i)
    {
        BOOST_TEST_CONTEXT("greeting " << greetings[i].substr(0, 20))
        {
            check_that_it_works(context, clients[i], resource);
            BOOST_TEST(clients[i].reaches(2, node_state::down));
            BOOST_TEST(!clients[i].status(2).because.empty());
            check_that_it_works(context, clients[i], resource);
            BOOST_TEST_MESSAGE(clients[i].status(2).because);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_server_that_hangs_up_is_rejected_in_its_words_and_logged_once)
{
    const stranger server(
        "-DENIED Redis is running in protected mode because protected mode is enabled and no "
        "password is set for the default user. In this mode connections are only accepted from the "
        "loopback interface. If you want to connect from external computers to Redis you may adopt "
        "one of the following solutions: 1) Just disable protected mode sending the command\r\n",
        stranger::manners::hangs_up
    );
    std::vector<std::string> log;
    loop context;
    client_config config = config_for({server.url()});
    config.log = [&log](log_level, std::string_view line) { log.emplace_back(line); };
    client_runner locks(context, config);
    BOOST_TEST(run_until(context, [&] { return server.guests() == 6; }));

    BOOST_TEST(locks.status(0).state == node_state::rejected);
    BOOST_TEST(locks.status(0).because.starts_with("DENIED Redis is running in protected mode"));
    BOOST_TEST(log.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_server_without_room_for_another_client_is_rejected_until_there_is)
{
    redis_server server({.extra = {"--maxclients", "1"}});
    std::optional<resp_client> other = server.client();
    loop context;
    client_runner locks(context, config_for({server.url()}));

    BOOST_TEST(locks.reaches(0, node_state::rejected));
    BOOST_TEST(locks.status(0).because == "ERR max number of clients reached");
    other.reset();
    BOOST_TEST(locks.reaches(1));
}

BOOST_AUTO_TEST_CASE(a_node_that_does_not_answer_is_waited_for_once)
{
    const stranger silent("");
    loop context;
    client_config config = config_for({silent.url()});
    config.node_timeout = 100ms;
    client_runner locks(context, config);
    diagnostics report;

    const auto [ec, none] =
        outcome_of(context, locks->async_try_acquire(resource, {.ttl = 10s, .report = &report}));

    BOOST_TEST(ec == error::quorum_unreachable);
    BOOST_TEST(report.votes.at(0).reason == reason::down);
    BOOST_TEST(contains(to_string(report), "timed out"));
}

BOOST_AUTO_TEST_CASE(a_server_that_answers_errors_only_is_rejected_with_its_words)
{
    const stranger server("-ERR go away\r\n-ERR go away\r\n-ERR go away\r\n-ERR go away\r\n");
    loop context;
    client_runner locks(context, config_for({server.url()}));

    BOOST_TEST(run_until(context, [&] {
        return locks.status(0).state == node_state::rejected ||
               locks.status(0).state == node_state::down;
    }));

    const auto [ec, none] = outcome_of(context, locks->async_try_acquire(resource, 10s));
    BOOST_TEST(ec == condition::nodes_unavailable);
}

// User code that blocks the only thread must not cost the connections whose answers wait meanwhile.
BOOST_AUTO_TEST_CASE(a_program_that_stood_still_keeps_its_connections)
{
    proxied_nodes f(3, 20s);
    client_runner locks(f.context, f.config);
    locks.wait_for_all_nodes();
    lease held = run(f.context, locks->async_acquire(resource, 60s));
    for (tcp_proxy& proxy : f.proxies)
        proxy.delay_replies(40ms);

    for (int i = 0; i < 3; ++i)
    {
        std::optional<error_code> extended;
        held.async_extend(70s)([&extended](error_code ec) { extended = ec; });
        f.context.run_for(20ms);
        BOOST_TEST(!eventually([] { return false; }, 1100ms));  // Runs nothing of ours.
        BOOST_TEST(run_until(f.context, [&extended] { return extended.has_value(); }));
        BOOST_TEST(*extended == error_code());
    }

    for (tcp_proxy& proxy : f.proxies)
        BOOST_TEST(proxy.connections() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
