#include "core/overrun.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <optional>
#include <vector>

#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_overrun)

using namespace redlock;
using namespace std::chrono_literals;

namespace {

/// A look at a lease with a ttl of 3 s, of whose last second the body stops.
struct look
{
    std::chrono::milliseconds at;
    std::chrono::milliseconds left;
    std::optional<std::chrono::milliseconds> next;  ///< Empty: an overrun.
};

struct story
{
    const char* what;
    std::vector<look> looks;
};

constexpr auto overrun = std::nullopt;

const std::vector<story> stories{
    {"is asked in time, and does not stop", {{0ms, 3s, 2s}, {2s, 1s, 3s}, {3s, 0ms, overrun}}},
    {"is looked at late, but asked", {{0ms, 3s, 2s}, {2900ms, 100ms, 3s}, {3500ms, 0ms, overrun}}},
    {"is extended",
     {{0ms, 3s, 2s}, {2s, 2s, 3s}, {3s, 1s, 4s}, {4s, 3s, 6s}, {6s, 1s, 7s}, {7s, 0ms, overrun}}},
    {"is extended while it stops, and stands still then",
     {{0ms, 1s, 1s}, {500ms, 3s, 2500ms}, {9s, 0ms, 10s}, {10s, 0ms, overrun}}},
    {"stands still past its deadline", {{0ms, 3s, 2s}, {9s, 0ms, 10s}, {10s, 0ms, overrun}}},
    {"stands still, and is looked at again before its time has passed",
     {{0ms, 3s, 2s}, {9s, 0ms, 10s}, {9500ms, 0ms, 10s}, {11s, 0ms, overrun}}},
    {"is asked, and then stands still past its deadline",
     {{0ms, 3s, 2s}, {2s, 1s, 3s}, {9s, 0ms, overrun}}},
    {"loses its lease early", {{0ms, 3s, 2s}, {500ms, 0ms, 1500ms}, {1500ms, 0ms, overrun}}},
    {"begins with a lease that is over", {{0ms, 0ms, 1s}, {1s, 0ms, overrun}}},
    {"begins with less than it needs to stop", {{0ms, 400ms, 400ms}, {400ms, 0ms, overrun}}},
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_body_is_beyond_its_deadline_when_it_has_had_its_time_to_stop)
{
    for (const story& each : stories)
    {
        BOOST_TEST_CONTEXT("a body that " << each.what)
        {
            core::overrun_watch watch(1s);
            for (const look& one : each.looks)
            {
                BOOST_TEST_CONTEXT("at " << one.at.count() << " ms")
                {
                    const auto next = watch.look(time_point(one.at), one.left);
                    BOOST_TEST_REQUIRE(next.has_value() == one.next.has_value());
                    if (next)
                        BOOST_TEST(*next == time_point(*one.next));
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(an_overrun_stays_one)
{
    core::overrun_watch watch(1s);
    BOOST_TEST(watch.look(time_point(0s), 1s).has_value());
    BOOST_TEST(!watch.look(time_point(1s), 0s).has_value());
    BOOST_TEST(!watch.look(time_point(2s), 0s).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
