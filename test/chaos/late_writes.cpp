// A holder is stopped between acquiring and writing, for three times its ttl, while a successor
// acquires and writes. The store refuses the late write, and only the store can.

#include "chaos/late_writes.hpp"

#include <redlock.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "chaos/mode.hpp"
#include "support/child_process.hpp"
#include "support/client_runner.hpp"
#include "support/needs.hpp"
#include "support/posix.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"

BOOST_AUTO_TEST_SUITE(
    test_late_writes,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

constexpr milliseconds ttl = 100ms;

int cycles()
{
    return std::getenv("REDLOCK_TEST_LONG") != nullptr ? 200 : 10;
}

/// Whether a process has been stopped by a signal.
bool is_stopped(pid_t pid)
{
    const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    const auto state = stat.rfind(") ");
    return state != std::string::npos && stat.at(state + 2) == 'T';
}

/// What became of the late writes of a run.
struct outcome
{
    int accepted = 0;
    int refused = 0;
    int in_time = 0;      ///< The holder did not see that its lease was over.
    int overwritten = 0;  ///< Values of a successor that a late write replaced.
    std::string said;
};

outcome run_late_writes(bool checked)
{
    redis_servers nodes(3);
    redis_server store;
    boost::asio::io_context context;
    client_config config = config_for(nodes);
    config.mode = mode::guarded;
    config.node_timeout = 50ms;
    initialize_nodes(config);
    client_runner successor(context, config);
    successor.wait_for_all_nodes();

    std::string urls;
    for (const std::string& url : nodes.urls())
        urls.append(urls.empty() ? "" : ",").append(url);
    temp_folder folder;
    child_process holder({
        .program = REDLOCK_LATE_WRITER,
        .arguments =
            {"late_writer",
             urls,
             std::to_string(store.port()),
             std::to_string(ttl.count()),
             std::to_string(cycles()),
             checked ? "CHECKED" : "UNCHECKED"},
        .output = folder.path() / "output",
    });

    outcome result;
    for (int cycle = 0; cycle < cycles(); ++cycle)
    {
        BOOST_TEST_REQUIRE(run_until(context, [&] { return is_stopped(holder.pid()); }));
        context.run_for(3 * ttl);
        lease held = run(context, successor->async_acquire(late_resource, ttl));
        const std::string value = std::to_string(cycle);
        const std::string written = store.command(write_command(held.fence(), value, checked));
        BOOST_TEST((written == "OK" || written.starts_with("(integer)")), written);
        run(context, held.async_release());

        const auto before = read_file(folder.path() / "output").size();
        holder.resume();
        BOOST_TEST_REQUIRE(run_until(context, [&] {
            return read_file(folder.path() / "output").size() > before;
        }));
        result.overwritten += store.command({"HGET", late_resource, "value"}) != value;
    }
    BOOST_TEST(run_until(context, [&] { return holder.has_ended(); }));

    result.said = read_file(folder.path() / "output");
    std::istringstream lines(result.said);
    for (std::string line; std::getline(lines, line);)
    {
        result.in_time += !line.starts_with("over ");
        (line.find("FENCED") == std::string::npos ? result.accepted : result.refused)++;
    }
    return result;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_store_that_checks_tokens_accepts_no_late_write)
{
    const outcome seen = run_late_writes(true);

    BOOST_TEST_MESSAGE(
        seen.refused << " late writes refused, " << seen.accepted << " accepted, "
                     << seen.overwritten << " values overwritten"
    );
    BOOST_TEST(seen.accepted == 0, seen.said);
    BOOST_TEST(seen.refused == cycles());
    BOOST_TEST(seen.overwritten == 0);
    BOOST_TEST(seen.in_time == 0);
}

// The control: the same run can see a late write. No lock service could have stopped it.
BOOST_AUTO_TEST_CASE(a_store_that_checks_nothing_accepts_them)
{
    const outcome seen = run_late_writes(false);

    BOOST_TEST(seen.accepted == cycles(), seen.said);
    BOOST_TEST(seen.overwritten > 0);
    BOOST_TEST(seen.in_time == 0);
}

BOOST_AUTO_TEST_SUITE_END()
