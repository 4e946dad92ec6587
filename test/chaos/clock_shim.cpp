// The shim, proven before anything is proven with it.

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <time.h>

#include "chaos/wall_clock.hpp"
#include "support/child_process.hpp"
#include "support/eventually.hpp"
#include "support/needs.hpp"
#include "support/posix.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"

BOOST_AUTO_TEST_SUITE(test_clock_shim)

using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds ten_years = 87'660h;

/// How far apart two clocks may be read, on a busy machine.
constexpr nanoseconds moment = 5s;

const nanoseconds offsets[] = {0ns, ten_years, -ten_years, 1h, -1500ms, 999'999'999ns, -1ns};

nanoseconds true_time()
{
    return std::chrono::system_clock::now().time_since_epoch();
}

nanoseconds since_boot()
{
    timespec time{};
    ::clock_gettime(CLOCK_BOOTTIME, &time);
    return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

bool is_near(nanoseconds one, nanoseconds other)
{
    return std::chrono::abs(one - other) < moment;
}

/// What a process with this wall clock sees.
std::string clocks_of_a_process(const wall_clock& clock)
{
    const temp_folder folder;
    const auto output = folder.path() / "output";
    child_process teller({REDLOCK_CLOCK_TELLER, {"teller"}, clock.environment(), output});
    BOOST_TEST_REQUIRE(eventually([&teller] { return teller.has_ended(); }, 20s));
    BOOST_TEST((teller.exit_status() == 0));
    return read_file(output);
}

nanoseconds time_of(const redis_server& server)
{
    std::istringstream reply(server.command({"TIME"}));
    std::int64_t seconds = 0;
    std::int64_t microseconds = 0;
    reply >> seconds >> microseconds;
    BOOST_TEST_REQUIRE(bool(reply));
    return std::chrono::seconds(seconds) + std::chrono::microseconds(microseconds);
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_wall_clock_of_a_process_is_shifted_and_no_other_one)
{
    wall_clock clock;
    for (const nanoseconds offset : offsets)
    {
        clock.set_offset(offset);

        std::istringstream lines(clocks_of_a_process(clock));

        int count = 0;
        std::int64_t read = 0;
        for (std::string kind; lines >> kind >> read; ++count)
        {
            BOOST_TEST_CONTEXT("offset " << offset.count() << ", " << kind << ' ' << read)
            {
                const nanoseconds monotonic = std::chrono::steady_clock::now().time_since_epoch();
                if (kind == "wall")
                    BOOST_TEST(is_near(nanoseconds(read), true_time() + offset));
                else if (kind == "monotonic")
                    BOOST_TEST(is_near(nanoseconds(read), monotonic));
                else
                    BOOST_TEST(is_near(nanoseconds(read), since_boot()));
            }
        }
        BOOST_TEST(count == 9);
    }
}

BOOST_AUTO_TEST_CASE(
    a_server_follows_its_clock_while_it_runs,
    *boost::unit_test::precondition(needs("redis-server"))
)
{
    wall_clock clock;
    const redis_server server({.environment = clock.environment()});
    for (const nanoseconds offset : offsets)
    {
        BOOST_TEST_CONTEXT("offset " << offset.count())
        {
            clock.set_offset(offset);
            BOOST_TEST(is_near(time_of(server), true_time() + offset));
        }
    }
}

BOOST_AUTO_TEST_CASE(
    a_key_of_a_server_expires_when_its_clock_steps,
    *boost::unit_test::precondition(needs("redis-server"))
)
{
    wall_clock clock;
    const redis_server server({.environment = clock.environment()});
    server.command({"SET", "key", "value", "PX", "600000"});

    clock.set_offset(599s);
    BOOST_TEST(server.client().exists("key"));
    clock.set_offset(601s);
    BOOST_TEST(!server.client().exists("key"));
}

BOOST_AUTO_TEST_CASE(a_process_without_the_file_of_its_clock_does_not_start)
{
    const std::string file = "REDLOCK_CLOCK_FILE=";
    std::vector<std::string> environment = wall_clock().environment();
    for (std::string& each : environment)
        if (each.starts_with(file))
            each = file + "/nonexistent";

    const temp_folder folder;
    child_process teller({REDLOCK_CLOCK_TELLER, {"teller"}, environment, folder.path() / "output"});

    BOOST_TEST_REQUIRE(eventually([&teller] { return teller.has_ended(); }, 20s));
    BOOST_TEST((teller.exit_status() == 126));
}

BOOST_AUTO_TEST_SUITE_END()
