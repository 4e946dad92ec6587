// Locks for programs that block: real servers, and threads that wait.

#include <redlock/blocking.hpp>
#include <redlock/initialize.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/client_runner.hpp"
#include "support/contains.hpp"
#include "support/eventually.hpp"
#include "support/guarded_nodes.hpp"
#include "support/needs.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"

BOOST_AUTO_TEST_SUITE(
    test_blocking,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* resource = "orders:42";
constexpr acquire_options impatient{.ttl = 10s, .wait = 100ms};

/// Three nodes, and clients that need no fencing: what blocks is the same in both modes.
struct blocking_fixture
{
    blocking_fixture() : servers(3), config(config_for(servers))
    {
        config.node_timeout = 200ms;  // Shorter than the shortest ttl.
    }

    [[nodiscard]] bool is_free()
    {
        return eventually([this] {
            for (redis_server& node : servers)
            {
                if (node.client().exists(resource))
                    return false;
            }
            return true;
        });
    }

    void take_away()
    {
        for (redis_server& node : servers)
            node.command({"SET", resource, "another"});
    }

    redis_servers servers;
    client_config config;
};

/// What a call throws. Empty: nothing.
template <class Call>
error_code thrown_by(Call call)
{
    try
    {
        call();
        return {};
    }
    catch (const boost::system::system_error& failure)
    {
        return failure.code();
    }
}

/// What this process writes to its standard error, from now on until the object is destroyed.
class captured_errors
{
public:
    captured_errors() : file_(std::tmpfile()), before_(::dup(STDERR_FILENO))
    {
        BOOST_TEST_REQUIRE(file_ != nullptr);
        ::dup2(::fileno(file_), STDERR_FILENO);
    }

    captured_errors(const captured_errors&) = delete;
    captured_errors& operator=(const captured_errors&) = delete;

    ~captured_errors()
    {
        ::dup2(before_, STDERR_FILENO);
        ::close(before_);
        std::fclose(file_);
    }

    [[nodiscard]] std::string text() const
    {
        std::string read(64 * 1024, '\0');
        const ssize_t size = ::pread(::fileno(file_), read.data(), read.size(), 0);
        read.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
        return read;
    }

private:
    std::FILE* file_;
    int before_;
};

/// Whether a child process exits with 0, and soon.
bool ends_well(pid_t child)
{
    int status = -1;
    const bool ended = eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; });
    if (!ended)
        ::kill(child, SIGKILL);
    return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Whether `what` is true in a child process, and soon.
bool in_child(const std::function<bool()>& what)
{
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(what() ? 0 : 1);
    return ends_well(child);
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_resource_is_acquired_extended_and_given_back, blocking_fixture)
{
    blocking::client locks(config);
    blocking::lease held = locks.acquire(resource, 2s);

    BOOST_TEST(static_cast<bool>(held));
    BOOST_TEST(held.resource() == resource);
    BOOST_TEST(!held.expired());
    BOOST_TEST(held.remaining() <= 2s);
    held.extend(20s);
    BOOST_TEST(held.remaining() > 10s);
    held.extend();  // By the ttl it was acquired with, and never shorter.
    BOOST_TEST(held.remaining() > 10s);
    BOOST_TEST(held.last_extension() == error_code());
    BOOST_TEST(held.votes() > 0u);
    BOOST_TEST(held.release() == release_outcome::released);
    BOOST_TEST(held.expired());
    BOOST_TEST(is_free());
    BOOST_TEST(locks.metrics().released == 1u);
}

BOOST_FIXTURE_TEST_CASE(leases_have_tokens_in_guarded_mode, blocking_fixture)
{
    config = guarded_config(servers);
    blocking::client locks(config);
    fencing_token last;
    for (int i = 0; i < 2; ++i)
    {
        blocking::lease held = locks.acquire(resource, {.ttl = 1s, .wait = 10s});
        BOOST_TEST(held.fence() > last);
        last = held.fence();
        held.release();
    }
}

BOOST_FIXTURE_TEST_CASE(a_list_of_urls_makes_a_client, blocking_fixture)
{
    const std::string urls = servers[0].url() + "," + servers[1].url() + "," + servers[2].url();
    boost::asio::io_context context;
    client_config with_defaults;
    with_defaults.nodes = parse_nodes(urls);
    run(context, async_initialize_nodes(context, with_defaults));

    blocking::client locks(urls);

    BOOST_TEST(static_cast<bool>(locks.acquire(resource, 2s)));
}

BOOST_FIXTURE_TEST_CASE(an_acquisition_blocks_until_the_holder_is_done, blocking_fixture)
{
    blocking::client mine(config);
    blocking::client theirs(config);
    blocking::lease held = theirs.acquire(resource);
    auto acquiring = std::async(std::launch::async, [&] { return mine.acquire(resource); });
    BOOST_TEST(eventually([&] { return mine.metrics().rounds > 0; }));
    BOOST_TEST((acquiring.wait_for(0s) == std::future_status::timeout));

    held.release();

    BOOST_TEST(!acquiring.get().expired());
}

BOOST_FIXTURE_TEST_CASE(
    what_somebody_else_holds_is_an_error_after_the_wait_and_none_for_a_try,
    blocking_fixture
)
{
    blocking::client mine(config);
    blocking::client theirs(config);
    const blocking::lease held = theirs.acquire(resource);

    BOOST_TEST(thrown_by([&] { mine.acquire(resource, impatient).abandon(); }) == error::contended);
    BOOST_TEST(!mine.try_acquire(resource, 10s));
    BOOST_TEST(mine.try_acquire(resource).resource().empty());
}

BOOST_FIXTURE_TEST_CASE(nodes_that_are_down_are_an_error_and_not_for_ever, blocking_fixture)
{
    for (redis_server& node : servers)
        node.kill();
    blocking::client locks(config);

    BOOST_TEST(!locks.wait_ready(50ms));
    const error_code failure = thrown_by([&] { locks.acquire(resource, impatient).abandon(); });
    BOOST_TEST(failure == error::quorum_unreachable);
    BOOST_TEST(locks.nodes().at(0).reason == reason::down);

    for (redis_server& node : servers)
        node.start();
    BOOST_TEST(locks.wait_ready(10s));
    BOOST_TEST(locks.wait_ready(milliseconds::max()));
}

BOOST_FIXTURE_TEST_CASE(a_body_runs_under_a_lease_that_is_extended, blocking_fixture)
{
    blocking::client locks(config);
    const int result = locks.with_lock(resource, 300ms, [&](blocking::lease& held) {
        BOOST_TEST(eventually([&] { return locks.metrics().extended >= 3; }));
        BOOST_TEST(!held.expired());
        return 42;
    });
    BOOST_TEST(result == 42);
    BOOST_TEST(locks.metrics().released == 1u);
    BOOST_TEST(is_free());
}

BOOST_FIXTURE_TEST_CASE(a_body_that_throws_gives_the_resource_back, blocking_fixture)
{
    blocking::client locks(config);
    const auto fails = [](blocking::lease&) { throw std::runtime_error("no stamps"); };
    BOOST_CHECK_THROW(locks.with_lock(resource, 10s, fails), std::runtime_error);
    BOOST_TEST(is_free());
}

BOOST_FIXTURE_TEST_CASE(a_body_may_release_its_lease_by_itself, blocking_fixture)
{
    blocking::client locks(config);
    locks.with_lock(resource, [](blocking::lease& held) { held.release(); });
    locks.with_lock(resource, [](blocking::lease& held) { held.abandon(); });
}

BOOST_FIXTURE_TEST_CASE(a_body_whose_lease_is_lost_is_told_when_it_ends, blocking_fixture)
{
    blocking::client locks(config);
    const error_code failure = thrown_by([&] {
        locks.with_lock(resource, 300ms, [&](blocking::lease& held) {
            take_away();
            BOOST_TEST(eventually([&] { return held.expired(); }));
        });
    });
    BOOST_TEST(failure == error::lease_lost);
}

BOOST_FIXTURE_TEST_CASE(a_body_is_told_that_its_hold_came_to_the_limit, blocking_fixture)
{
    blocking::client locks(config);
    const acquire_options options{.ttl = 1s, .hold_max = 1200ms};
    const error_code failure = thrown_by([&] {
        locks.with_lock(resource, options, [&](blocking::lease& held) {
            BOOST_TEST(eventually([&] { return held.expired(); }));
            BOOST_TEST(eventually([&] { return locks.metrics().lost == 1; }));
        });
    });
    BOOST_TEST(failure == error::hold_limit_reached);
}

BOOST_FIXTURE_TEST_CASE(another_thread_cancels_what_blocks, blocking_fixture)
{
    blocking::client theirs(config);
    const blocking::lease held = theirs.acquire(resource);
    blocking::client mine(config);
    auto acquiring = std::async(std::launch::async, [&] {
        return thrown_by([&] { mine.acquire(resource, {.wait = forever}).abandon(); });
    });
    BOOST_TEST(eventually([&] { return mine.metrics().rounds > 0; }));

    mine.cancel();

    BOOST_TEST(acquiring.get() == boost::asio::error::operation_aborted);
    BOOST_TEST(thrown_by([&] { mine.acquire(resource).abandon(); }) == error::not_running);
}

BOOST_FIXTURE_TEST_CASE(
    a_client_that_closes_or_is_destroyed_releases_what_is_held,
    blocking_fixture
)
{
    blocking::client first(config);
    const blocking::lease of_first = first.acquire(resource);
    BOOST_TEST(first.close(10s));
    BOOST_TEST(is_free());

    auto second = std::make_unique<blocking::client>(config);
    const blocking::lease of_second = second->acquire(resource);
    second.reset();
    BOOST_TEST(is_free());
    BOOST_TEST(of_second.expired());
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_outlives_its_client_still_answers, blocking_fixture)
{
    auto locks = std::make_unique<blocking::client>(config);
    blocking::lease held = locks->acquire(resource);
    locks.reset();

    BOOST_TEST(held.resource() == resource);
    BOOST_TEST(held.expired());
    BOOST_TEST(thrown_by([&] { held.extend(); }) == error::not_running);
    // It was released with its client, or the client could not any more.
    const error_code release = thrown_by([&] { held.release(); });
    BOOST_TEST((!release || release == error::not_running));
}

BOOST_FIXTURE_TEST_CASE(the_holder_is_inspected_and_watched, blocking_fixture)
{
    config = guarded_config(servers);
    config.ttl_max = 20s;
    boost::asio::io_context context;
    run(context, async_initialize_nodes(context, config));
    blocking::client locks(config);
    blocking::client other(config);
    BOOST_TEST_REQUIRE(locks.wait_ready(10s));
    BOOST_TEST_REQUIRE(other.wait_ready(10s));
    BOOST_TEST(other.inspect(resource).state == holding_state::free);
    blocking::watcher watcher = other.watch(resource);
    BOOST_TEST(watcher.next().value().state == holding_state::free);
    BOOST_TEST(!watcher.next(100ms).has_value());

    blocking::lease held = locks.acquire(resource, {.ttl = 10s, .note = "begins"});
    BOOST_TEST(watcher.next(5s).value().note.text() == "begins");
    held.announce("ends");
    BOOST_TEST(watcher.next(5s).value().note.text() == "ends");
    BOOST_TEST(other.inspect(resource).token == held.fence());
    BOOST_TEST(held.release() == release_outcome::released);
    BOOST_TEST(watcher.next(5s).value().state == holding_state::free);

    other.cancel();
    BOOST_CHECK_THROW((void)watcher.next(5s), boost::system::system_error);
}

BOOST_FIXTURE_TEST_CASE(an_empty_lease_has_nothing_and_refuses_everything, blocking_fixture)
{
    blocking::lease none;

    BOOST_TEST(!none);
    BOOST_TEST(none.expired());
    BOOST_TEST(none.resource().empty());
    BOOST_TEST(none.remaining() == 0ms);
    BOOST_TEST(!none.fence());
    none.abandon();
    BOOST_TEST(thrown_by([&] { none.extend(1s); }) == error::invalid_argument);
    BOOST_TEST(thrown_by([&] { none.release(); }) == error::invalid_argument);
}

BOOST_FIXTURE_TEST_CASE(a_log_function_that_would_wait_for_itself_is_refused, blocking_fixture)
{
    std::optional<std::string> refused;
    blocking::client* locks = nullptr;
    std::promise<void> made;
    std::promise<void> told;
    config.log = [&, ready = made.get_future().share()](log_level, std::string_view) {
        ready.wait();
        try
        {
            locks->acquire(resource).abandon();
        }
        catch (const std::logic_error& error)
        {
            if (!std::exchange(refused, error.what()))
                told.set_value();
        }
    };
    {
        blocking::client made_now(config);
        locks = &made_now;
        made.set_value();
        BOOST_TEST(made_now.wait_ready(10s));
        BOOST_TEST((told.get_future().wait_for(10s) == std::future_status::ready));
    }
    BOOST_TEST_REQUIRE(refused.has_value());
    BOOST_TEST(refused->find("must not block") != std::string::npos);
}

// An operation of a client that has ended is logged. One that the log function started would be
// logged too, and so on, until the stack ends.
BOOST_FIXTURE_TEST_CASE(what_is_refused_in_the_log_function_is_not_even_started, blocking_fixture)
{
    int lines = 0;
    blocking::client* locks = nullptr;
    config.log = [&](log_level level, std::string_view line) {
        const bool refused = line.ends_with("the client has ended");
        if (refused && level == log_level::info && ++lines < 1000)
            BOOST_CHECK_THROW(locks->acquire(resource).abandon(), std::logic_error);
    };
    {
        blocking::client made(config);
        locks = &made;
        made.cancel();
        BOOST_TEST(thrown_by([&] { made.acquire(resource).abandon(); }) == error::not_running);
    }
    BOOST_TEST(lines == 1);
}

BOOST_FIXTURE_TEST_CASE(bad_configurations_are_refused_before_there_is_a_thread, blocking_fixture)
{
    config.nodes.clear();
    BOOST_CHECK_THROW(blocking::client{config}, std::invalid_argument);
}

BOOST_FIXTURE_TEST_CASE(a_first_program_sees_at_once_why_nothing_is_granted, blocking_fixture)
{
    // Guarded mode, fresh nodes, and the log of who sets none.
    client_config first{.nodes = config.nodes};
    first.node_timeout = 2s;  // Beside a compiler, connecting takes its time.
    const captured_errors errors;
    blocking::client locks(first);

    const error_code thrown = thrown_by([&] { locks.try_acquire(resource).abandon(); });

    BOOST_TEST(thrown == error::quarantined);
    const std::string said = errors.text();
    BOOST_TEST(contains(said, "redlock: warning: node 127.0.0.1:"), said);
    BOOST_TEST(contains(said, "is quarantined: it may have lost locks"), said);
    BOOST_TEST(contains(said, "run `redlock init`"), said);
}

BOOST_FIXTURE_TEST_CASE(
    a_body_is_refused_with_the_resource_and_what_the_nodes_said,
    blocking_fixture
)
{
    blocking::client mine(config);
    blocking::client theirs(config);
    const blocking::lease held = theirs.acquire(resource);

    try
    {
        mine.with_lock(resource, impatient, [](blocking::lease&) {});
        BOOST_TEST(false, "it is refused");
    }
    catch (const boost::system::system_error& failure)
    {
        BOOST_TEST(failure.code() == error::contended);
        const std::string_view said = failure.what();
        BOOST_TEST(said.starts_with("orders:42 (need 2 of 3: 127.0.0.1:"), said);
    }
}

BOOST_FIXTURE_TEST_CASE(in_a_child_process_every_function_fails_at_once, blocking_fixture)
{
    std::optional<blocking::client> locks(std::in_place, config);
    std::optional<blocking::lease> held(locks->acquire(resource, 10s));
    const auto is_of_no_use = [&] {
        const auto fails = [](auto call) { return thrown_by(call) == error::not_running; };
        const bool useless =
            fails([&] { locks->acquire("another").abandon(); }) &&
            fails([&] { locks->try_acquire("another").abandon(); }) &&
            fails([&] { locks->with_lock("another", [](blocking::lease&) {}); }) &&
            fails([&] { locks->wait_ready(1s); }) && fails([&] { locks->close(1s); }) &&
            fails([&] { static_cast<void>(locks->nodes()); }) && fails([&] { held->extend(1s); }) &&
            fails([&] { held->release(); }) && held->expired();
        locks->cancel();
        held.reset();
        locks.reset();
        return useless;
    };

    BOOST_TEST(in_child(is_of_no_use));

    BOOST_TEST(!held->expired());
    BOOST_TEST(held->release() == release_outcome::released);
}

BOOST_FIXTURE_TEST_CASE(a_body_that_returns_in_a_child_process_too_fails_there, blocking_fixture)
{
    blocking::client locks(config);
    pid_t child = 0;

    const error_code thrown = thrown_by([&] {
        locks.with_lock(resource, 10s, [&](blocking::lease&) { child = ::fork(); });
    });
    if (child == 0)
        ::_exit(thrown == error::not_running ? 0 : 1);

    BOOST_TEST(thrown == error_code());
    BOOST_TEST(ends_well(child));
    BOOST_TEST(is_free());
}

BOOST_FIXTURE_TEST_CASE(threads_of_one_client_exclude_each_other, blocking_fixture)
{
    blocking::client locks(config);
    int counter = 0;  // Guarded by the lock alone.
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 4; ++thread)
        {
            threads.emplace_back([&] {
                for (int i = 0; i < 25; ++i)
                    locks.with_lock(resource, 10s, [&](blocking::lease&) { ++counter; });
            });
        }
    }
    BOOST_TEST(counter == 100);
}

BOOST_AUTO_TEST_SUITE_END()
