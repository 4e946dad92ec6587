// Several processes, some of which end or stand still while they hold a resource.

#include <redlock/client.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <deque>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "support/client_runner.hpp"
#include "support/eventually.hpp"
#include "support/loop.hpp"
#include "support/needs.hpp"
#include "support/other_process.hpp"
#include "support/posix.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"

BOOST_AUTO_TEST_SUITE(
    test_processes,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

constexpr const char* resource = "orders:42";

/// When a lease ends, on a clock that all processes of a machine share.
using deadline = std::chrono::steady_clock::time_point;

/// Acquires, tells until when, and then does nothing for ever.
auto hold_for_ever(const client_config& config, milliseconds ttl)
{
    return [config, ttl](int output) {
        loop context;
        client locks(context, config);
        locks.async_run(asio::detached);
        const lease held = run(context, locks.async_acquire(resource, ttl));
        other_process::write(output, held.valid_until());
        context.run();
    };
}

/// Takes turns with other processes on one resource.
/// @return From the other process: how often somebody else was in there too.
asio::awaitable<void> take_turns(
    client& locks,
    std::filesystem::path door,
    int turns,
    int* violations
)
{
    for (int turn = 0; turn < turns; ++turn)
    {
        lease held = co_await locks.async_acquire(
            resource, acquire_options{.ttl = 10s, .wait = 60s}, asio::use_awaitable
        );
        const int file = ::open(door.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0)
            ++*violations;
        else
            ::close(file);
        ::poll(nullptr, 0, 1);  // Another may try to come in.
        ::unlink(door.c_str());
        co_await held.async_release(asio::use_awaitable);
    }
}

/// A client of ready nodes with a lease on all of them that is extended automatically.
struct holder
{
    explicit holder(const client_config& config)
    {
        locks.emplace(context, config);
        locks->async_run(asio::detached);
        const auto is_ready = [](const node_status& each) {
            return each.state == node_state::ready;
        };
        BOOST_TEST_REQUIRE(run_until(context, [&] {
            return std::ranges::all_of(locks->nodes(), is_ready);
        }));
        held = run(context, locks->async_acquire(resource, {.ttl = 1500ms, .auto_extend = true}));
    }

    /// Whether everything fails in a child process that has a copy of this.
    [[nodiscard]] bool is_of_no_use()
    {
        const auto fails = [this](auto operation) {
            return std::get<0>(outcome_of(context, std::move(operation))) == error::not_running;
        };
        return fails(locks->async_acquire("another", 10s)) &&
               fails(locks->async_try_acquire("another", 10s)) && fails(held.async_extend()) &&
               fails(held.async_wait_lost()) && fails(locks->async_wait_ready()) &&
               fails(locks->async_close()) && fails(locks->async_run()) &&
               fails(held.async_release());
    }

    loop context;
    std::optional<client> locks;
    lease held;
};

/// The parent still has its connections, and its lease is extended over them.
void check_unharmed(holder& parent, redis_servers& servers)
{
    const auto before = parent.locks->metrics();
    const auto until = parent.held.valid_until();
    BOOST_TEST(run_until(parent.context, [&] { return parent.held.valid_until() > until + 1s; }));
    BOOST_TEST(!parent.held.expired());
    BOOST_TEST(parent.locks->metrics().extensions_failed == before.extensions_failed);
    for (const node_status& each : parent.locks->nodes())
        BOOST_TEST(each.state == node_state::ready);
    for (redis_server& server : servers)
        BOOST_TEST(server.client().exists(resource));
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_resource_of_a_killed_process_is_taken_over_after_its_ttl)
{
    redis_servers servers(5);
    const client_config config = config_for(servers);
    other_process holder(hold_for_ever(config, 1500ms));
    const auto until = holder.read<deadline>();
    loop context;
    client_runner locks(context, config);
    BOOST_TEST(!run(context, locks->async_try_acquire(resource, 10s)));

    holder.kill();
    const lease taken = run(context, locks->async_acquire(resource, {.ttl = 10s, .wait = 20s}));

    const auto now = std::chrono::steady_clock::now();
    BOOST_TEST((now >= until));
    BOOST_TEST((now < until + 5s));
    BOOST_TEST(bool(taken));
}

// The process stands still from before its deadline until after somebody else got the resource.
BOOST_AUTO_TEST_CASE(a_process_that_stood_still_knows_that_its_lease_is_over)
{
    redis_servers servers(3);
    const client_config config = config_for(servers);
    other_process holder([&config](int output) {
        loop context;
        client locks(context, config);
        locks.async_run(asio::detached);
        lease held = run(context, locks.async_acquire(resource, 1500ms));
        other_process::write(output, held.valid_until());
        ::raise(SIGSTOP);
        other_process::write(output, held.expired());
        const auto [ec] = outcome_of(context, held.async_extend(10s));
        other_process::write(output, ec == error::lease_lost);
        other_process::write(output, run(context, held.async_release()));
    });
    const auto until = holder.read<deadline>();
    loop context;
    client_runner locks(context, config);

    lease taken = run(context, locks->async_acquire(resource, {.ttl = 60s, .wait = 20s}));
    BOOST_TEST((std::chrono::steady_clock::now() >= until));
    // A quorum was enough: on the last node the old key may end a moment later, without a new one.
    const auto stays = [&](redis_server& server) { return server.client().pttl(resource) > 2000; };
    const auto has_ended = [&](redis_server& server) {
        return stays(server) || !server.client().exists(resource);
    };
    for (redis_server& server : servers)
        BOOST_TEST(eventually([&] { return has_ended(server); }));
    const auto count = std::ranges::count_if(servers, stays);
    BOOST_TEST(count >= 2);
    holder.signal(SIGCONT);

    BOOST_TEST(holder.read<bool>());
    BOOST_TEST(holder.read<bool>());
    BOOST_TEST(holder.read<release_outcome>() == release_outcome::already_gone);
    BOOST_TEST(holder.wait() == 0);
    BOOST_TEST(std::ranges::count_if(servers, stays) == count);
    BOOST_TEST(run(context, taken.async_release()) == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(processes_that_compete_are_never_in_there_together)
{
    redis_servers servers(3);
    client_config config = config_for(servers);
    config.retry.max_delay = 10ms;
    const temp_folder folder;
    std::deque<other_process> processes;
    for (int i = 0; i < 4; ++i)
    {
        processes.emplace_back([&](int) {
            loop context;
            client locks(context, config);
            locks.async_run(asio::detached);
            int violations = 0;
            auto turns = take_turns(locks, folder.path() / "door", 25, &violations);
            run(context,
                asio::co_spawn(context, std::move(turns), asio::deferred),
                std::chrono::seconds(60));
            ::_exit(violations == 0 ? 0 : 1);
        });
    }

    for (other_process& each : processes)
        BOOST_TEST(each.wait() == 0);

    for (redis_server& server : servers)
        BOOST_TEST(eventually([&] { return !server.client().exists(resource); }));
}

BOOST_AUTO_TEST_CASE(a_child_that_destroys_its_copies_of_lease_and_client_releases_nothing)
{
    redis_servers servers(3);
    holder parent(config_for(servers));
    const auto body = [&parent](int output) {
        parent.held = lease();
        parent.locks.reset();
        parent.context.run_for(500ms);
        other_process::write(output, true);
    };
    other_process child(body, &parent.context);

    BOOST_TEST(run_until(parent.context, [&] { return child.has_written(); }));
    BOOST_TEST(child.wait() == 0);

    check_unharmed(parent, servers);
    BOOST_TEST(run(parent.context, parent.held.async_release()) == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(a_child_that_goes_on_with_its_copies_gets_errors_and_disturbs_nobody)
{
    redis_servers servers(3);
    holder parent(config_for(servers));
    const auto body = [&parent](int output) {
        const bool useless = parent.is_of_no_use();
        parent.context.run_for(2s);  // Longer than the ttl and any probe of a connection.
        other_process::write(output, useless);
    };
    other_process child(body, &parent.context);

    BOOST_TEST(run_until(parent.context, [&] { return child.has_written(); }));
    BOOST_TEST(child.read<bool>());
    BOOST_TEST(child.wait() == 0);

    check_unharmed(parent, servers);
    BOOST_TEST(run(parent.context, parent.held.async_release()) == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(a_child_may_make_a_client_of_its_own)
{
    redis_servers servers(3);
    const client_config config = config_for(servers);
    holder parent(config);
    const auto body = [&config](int output) {
        loop context;
        client locks(context, config);
        locks.async_run(asio::detached);
        const bool denied = !run(context, locks.async_try_acquire(resource, 10s));
        lease held = run(context, locks.async_acquire("another", 10s));
        run(context, held.async_release());
        other_process::write(output, denied);
    };
    other_process child(body, &parent.context);

    BOOST_TEST(run_until(parent.context, [&] { return child.has_written(); }));
    BOOST_TEST(child.read<bool>());
    BOOST_TEST(child.wait() == 0);

    check_unharmed(parent, servers);
}

BOOST_AUTO_TEST_SUITE_END()
