#include "core/faster_clock.hpp"

#include <boost/test/unit_test.hpp>

#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_faster_clock)

using namespace std::chrono_literals;
using redlock::time_point;
using redlock::core::faster_clock;
using redlock::core::instant;

namespace {

instant at(std::chrono::milliseconds steady, std::chrono::milliseconds boot)
{
    instant result;
    result.steady = time_point(steady);
    result.boot = boot;
    return result;
}

}  // namespace

BOOST_AUTO_TEST_CASE(it_moves_with_the_clock_that_moves_further)
{
    faster_clock clock;
    const auto start = clock.read(at(1s, 1s));
    BOOST_TEST(clock.read(at(2s, 2s)) - start == 1s);
    // The machine was suspended: one clock stands still.
    BOOST_TEST(clock.read(at(2s, 5s)) - start == 4s);
    // Whatever the other one measures.
    BOOST_TEST(clock.read(at(4s, 5s)) - start == 6s);
}

BOOST_AUTO_TEST_CASE(it_never_goes_back)
{
    faster_clock clock;
    const auto start = clock.read(at(2s, 2s));
    BOOST_TEST(clock.read(at(1s, 1s)) == start);
    BOOST_TEST(clock.read(at(2s, 2s)) == start);
    BOOST_TEST(clock.read(at(3s, 3s)) - start == 1s);
}

BOOST_AUTO_TEST_CASE(an_earlier_time_is_as_early_as_the_clock_says_that_moved_further_since)
{
    faster_clock clock;
    const auto now = clock.read(at(2s, 5s));
    BOOST_TEST(now - clock.at(at(1s, 1s)) == 4s);
    BOOST_TEST(now - clock.at(at(2s, 5s)) == 0s);
}

BOOST_AUTO_TEST_SUITE_END()
