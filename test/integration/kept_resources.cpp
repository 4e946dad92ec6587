// Resources that stay taken on real servers: after a loss for a grace, after a release for a time.

#include <redlock/client.hpp>
#include <redlock/initialize.hpp>

#include "client/client_impl.hpp"
#include "loop/ground.hpp"
#include "node/redis_node.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/client_runner.hpp"
#include "support/guarded_nodes.hpp"
#include "support/loop.hpp"
#include "support/needs.hpp"
#include "support/other_process.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_proxy.hpp"

BOOST_AUTO_TEST_SUITE(
    test_kept_resources,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

constexpr std::size_t count = 1000;
constexpr acquire_options lingering{.ttl = 700ms, .wait = 20s, .grace = 300ms};

std::string name_of(std::size_t number)
{
    return "r" + std::to_string(number);
}

/// What came of acquiring all resources at once.
struct grants
{
    std::vector<lease> leases = std::vector<lease>(count);
    std::vector<time_point> at = std::vector<time_point>(count);
    std::size_t ended = 0;
};

/// Acquires all resources at once, and waits until each is granted.
grants acquire_all(loop& context, client& locks, const acquire_options& how)
{
    grants made;
    for (std::size_t i = 0; i < count; ++i)
    {
        const auto take = [&made, i](error_code ec, lease held) {
            BOOST_TEST(ec == error_code());
            made.at[i] = time_point::clock::now();
            made.leases[i] = std::move(held);
            ++made.ended;
        };
        locks.async_acquire(name_of(i), how, asio::bind_executor(context.get_executor(), take));
    }
    BOOST_TEST_REQUIRE(run_until(context, [&] { return made.ended == count; }, 60s));
    return made;
}

/// Nodes, and a client that acquires what another one has lost.
struct succession
{
    succession() { run(context, async_initialize_nodes(context, config)); }

    /// Acquires all, and checks that each is granted after the grace.
    void succeed(const std::vector<time_point>& deadlines)
    {
        client_runner heir(context, config);
        heir.wait_for_all_nodes();
        const grants next = acquire_all(context, *heir.operator->(), {.ttl = 900ms, .wait = 20s});
        std::size_t early = 0;
        milliseconds latest{0};
        for (std::size_t i = 0; i < count; ++i)
        {
            const auto after = next.at[i] - deadlines[i] - lingering.grace;
            early += after < 0ms;
            latest = std::max(latest, std::chrono::ceil<milliseconds>(after));
        }
        BOOST_TEST_MESSAGE(
            count << " lost holds: " << early << " granted before deadline and grace, the last "
                  << latest.count() << " ms after it"
        );
        BOOST_TEST(early == 0u);
    }

    redis_servers servers{3};
    loop context;
    client_config config = guarded_config(servers);
};

std::vector<time_point> deadlines_of(const grants& held)
{
    std::vector<time_point> result;
    for (const lease& each : held.leases)
        result.push_back(each.valid_until());
    return result;
}

bool all_lost(const grants& held)
{
    return std::ranges::all_of(held.leases, [](const lease& each) { return each.expired(); });
}

/// A client behind proxies.
struct remote_holder
{
    explicit remote_holder(succession& at)
    {
        client_config config = at.config;
        config.node_timeout = 50ms;
        for (std::size_t i = 0; i < 3; ++i)
            config.nodes[i].port = proxies.emplace_back(at.servers[i].port()).port();
        locks.emplace(at.context, config);
        locks->wait_for_all_nodes();
    }

    std::deque<tcp_proxy> proxies;
    std::optional<client_runner> locks;
};

/// The clocks of this machine, but the wall clock is off.
class shifted_clock final : public detail::clock
{
public:
    shifted_clock(std::shared_ptr<clock> of, std::chrono::microseconds by)
        : of_(std::move(of)), by_(by)
    {
    }

    core::instant now() const noexcept override { return of_->now(); }
    std::chrono::microseconds wall() const noexcept override { return of_->wall() + by_; }
    std::unique_ptr<detail::alarm> make_alarm() override { return of_->make_alarm(); }

private:
    std::shared_ptr<clock> of_;
    std::chrono::microseconds by_;
};

client make_shifted_client(loop& context, client_config config, std::chrono::microseconds by)
{
    detail::ground on = detail::make_ground(context.get_executor());
    on.time = std::make_shared<shifted_clock>(on.time, by);
    auto nodes = detail::make_redis_nodes(on, config);
    return detail::make_client(std::make_shared<detail::client_impl>(
        context.get_executor(), std::move(config), on, std::move(nodes)
    ));
}

std::chrono::microseconds wall_time()
{
    return std::chrono::floor<std::chrono::microseconds>(
        std::chrono::system_clock::now().time_since_epoch()
    );
}

/// Releases all. @return How many releases a quorum has confirmed.
std::size_t release_all(loop& context, grants& held)
{
    std::size_t ended = 0;
    std::size_t confirmed = 0;
    for (lease& each : held.leases)
    {
        each.async_release([&](error_code ec, release_outcome outcome) {
            ++ended;
            confirmed += !ec && outcome == release_outcome::released;
        });
    }
    BOOST_TEST_REQUIRE(run_until(context, [&] { return ended == count; }));
    return confirmed;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(nobody_is_granted_in_the_grace_of_a_process_that_was_killed, succession)
{
    other_process victim([this](int output) {
        loop own;
        client_runner locks(own, config);
        locks.wait_for_all_nodes();
        const grants held = acquire_all(own, *locks.operator->(), lingering);
        for (const lease& each : held.leases)
            other_process::write(output, each.valid_until());
        own.run();
    });
    std::vector<time_point> deadlines;
    while (deadlines.size() < count)
        deadlines.push_back(victim.read<time_point>());
    victim.kill();
    succeed(deadlines);
}

BOOST_FIXTURE_TEST_CASE(nobody_is_granted_in_the_grace_of_a_client_that_was_cut_off, succession)
{
    remote_holder victim(*this);
    acquire_options how = lingering;
    how.auto_extend = true;
    const grants held = acquire_all(context, *victim.locks->operator->(), how);
    for (tcp_proxy& each : victim.proxies)
        each.refuse();
    for (tcp_proxy& each : victim.proxies)
        each.reset_all();
    BOOST_TEST_REQUIRE(run_until(context, [&] { return all_lost(held); }));
    for (tcp_proxy& each : victim.proxies)
        each.accept();  // It may say what it has to say.
    succeed(deadlines_of(held));
}

BOOST_FIXTURE_TEST_CASE(
    nobody_is_granted_in_the_grace_of_a_lease_whose_extensions_failed,
    succession
)
{
    remote_holder victim(*this);
    acquire_options how = lingering;
    how.auto_extend = true;
    const grants held = acquire_all(context, *victim.locks->operator->(), how);
    // The nodes extend, and the client never hears of it.
    for (tcp_proxy& each : victim.proxies)
        each.hold_replies();
    BOOST_TEST_REQUIRE(run_until(context, [&] { return all_lost(held); }));
    for (tcp_proxy& each : victim.proxies)
        each.pass();
    succeed(deadlines_of(held));
}

BOOST_AUTO_TEST_CASE(nobody_is_granted_before_the_time_that_releases_keep)
{
    redis_servers servers(3);
    loop context;
    client_config config = guarded_config(servers);
    config.ttl_max = 5s;
    run(context, async_initialize_nodes(context, config));
    std::deque<client> clients;
    for (const auto off : {37s, -3600s})
    {
        clients.push_back(make_shifted_client(context, config, off));
        clients.back().async_run(asio::detached);
        run(context, clients.back().async_wait_ready());
    }
    const acquire_options how{.ttl = 5s, .wait = 20s, .at_least = 400ms};
    grants held = acquire_all(context, clients[0], how);
    for (std::size_t turn = 1; turn <= 4; ++turn)
    {
        std::vector<std::chrono::microseconds> until;
        for (const lease& each : held.leases)
        {
            const auto token = static_cast<std::int64_t>(each.fence().value());
            until.push_back(std::chrono::microseconds(token) + how.at_least);
        }
        BOOST_TEST(release_all(context, held) == count);
        // Both want them all, and half of the rounds are lost.
        grants next;
        std::size_t early = 0;
        for (std::size_t i = 0; i < count; ++i)
        {
            const auto take = [&, i](error_code ec, lease granted) {
                early += !ec && wall_time() < until[i];
                ++next.ended;
                if (!ec)
                    next.leases[i] = std::move(granted);
            };
            for (client& each : clients)
            {
                each.async_acquire(
                    name_of(i),
                    {.ttl = 5s, .wait = 1s, .at_least = 400ms},
                    asio::bind_executor(context.get_executor(), take)
                );
            }
        }
        BOOST_TEST_REQUIRE(run_until(context, [&] { return next.ended == 2 * count; }, 60s));
        BOOST_TEST_MESSAGE("turn " << turn << ": " << early << " grants before their time");
        BOOST_TEST(early == 0u);
        held = std::move(next);
        const auto is_held = [](const lease& each) { return !each.expired(); };
        BOOST_TEST(std::ranges::all_of(held.leases, is_held));
        // Lost rounds have kept nothing: all that is there is held.
        std::size_t kept = 0;
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t node = 0; node < 3; ++node)
                kept += servers[node].command({"GET", name_of(i)}).starts_with("kept ");
        BOOST_TEST(kept == 0u);
    }
}

BOOST_AUTO_TEST_SUITE_END()
