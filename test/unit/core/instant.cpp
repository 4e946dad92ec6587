#include "core/instant.hpp"

#include "unit/core/printing.hpp"

#include <boost/test/unit_test.hpp>

#include <sstream>
#include <string>

#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_instant)

using namespace redlock;
using namespace std::chrono_literals;
using core::instant;
using core::nanoseconds;
using core::reached;
using core::remaining;
using core::shifted;
using core::to_nanoseconds;

namespace {

/// Different on both clocks, so that a mix-up shows.
constexpr instant start{time_point(1h), 5h};

std::string text_of(instant value)
{
    std::ostringstream text;
    boost_test_print_type(text, value);
    return text.str();
}

constexpr instant never{time_point::max(), nanoseconds::max()};

}  // namespace

BOOST_AUTO_TEST_CASE(shifting_moves_both_clocks_by_the_same_time)
{
    BOOST_TEST(shifted(start, 250ms) == (instant{time_point(1h + 250ms), 5h + 250ms}));
    BOOST_TEST(shifted(start, -250ms) == (instant{time_point(1h - 250ms), 5h - 250ms}));
    BOOST_TEST(shifted(start, 0ms) == start);
    BOOST_TEST(shifted(start, 1ns) == (instant{time_point(1h + 1ns), 5h + 1ns}));
}

BOOST_AUTO_TEST_CASE(shifting_below_the_epoch_is_negative_time)
{
    BOOST_TEST(shifted(start, milliseconds(-2h)) == (instant{time_point(-1h), 3h}));
}

BOOST_AUTO_TEST_CASE(shifting_for_ever_never_comes)
{
    BOOST_TEST(shifted(start, forever) == never);
    BOOST_TEST(shifted(never, forever) == never);
    BOOST_TEST(shifted(never, 1ns) == never);
    BOOST_TEST(shifted(start, nanoseconds::max()) == never);
    BOOST_TEST(!reached(shifted(start, milliseconds(1'000'000h)), shifted(start, forever)));
}

BOOST_AUTO_TEST_CASE(each_clock_stops_at_its_own_limit)
{
    const instant late{time_point(nanoseconds::max() - 1s), 5h};

    BOOST_TEST(shifted(late, 1000ms) == (instant{time_point::max(), 5h + 1s}));
    BOOST_TEST(shifted(late, 2000ms) == (instant{time_point::max(), 5h + 2s}));
}

BOOST_AUTO_TEST_CASE(shifting_back_stops_at_the_earliest_time)
{
    const instant earliest{time_point::min(), nanoseconds::min()};
    const instant early = shifted(earliest, 1000ms);

    BOOST_TEST(shifted(early, -1000ms) == earliest);
    BOOST_TEST(shifted(early, -2000ms) == earliest);
    BOOST_TEST(shifted(earliest, nanoseconds::min()) == earliest);
    BOOST_TEST(shifted({time_point(-1ns), -1ns}, nanoseconds::min()) == earliest);
    BOOST_TEST(shifted({time_point(0ns), 0ns}, nanoseconds::min()) == earliest);
}

BOOST_AUTO_TEST_CASE(milliseconds_beyond_the_range_of_nanoseconds_are_cut_off)
{
    constexpr auto limit = std::chrono::duration_cast<milliseconds>(nanoseconds::max());

    BOOST_TEST(to_nanoseconds(limit) == nanoseconds(limit));
    BOOST_TEST(to_nanoseconds(limit + 1ms) == nanoseconds::max());
    BOOST_TEST(to_nanoseconds(forever) == nanoseconds::max());
    BOOST_TEST(to_nanoseconds(-limit) == -nanoseconds(limit));
    BOOST_TEST(to_nanoseconds(-limit - 1ms) == -nanoseconds::max());
    BOOST_TEST(to_nanoseconds(milliseconds::min()) == -nanoseconds::max());
    BOOST_TEST(to_nanoseconds(0ms) == 0ns);
    BOOST_TEST(to_nanoseconds(-1ms) == -1'000'000ns);
}

// -1, 0 or +1 ns from the deadline on each of the clocks.
BOOST_AUTO_TEST_CASE(a_deadline_is_reached_when_either_clock_is_at_it_or_past_it)
{
    for (const nanoseconds steady : {-1ns, 0ns, 1ns})
        for (const nanoseconds boot : {-1ns, 0ns, 1ns})
        {
            const instant now{start.steady + steady, start.boot + boot};
            BOOST_TEST(reached(now, start) == (steady >= 0ns || boot >= 0ns), text_of(now));
        }
}

BOOST_AUTO_TEST_CASE(what_remains_is_counted_on_the_clock_that_gets_there_first)
{
    const instant deadline = shifted(start, 10'000ms);

    BOOST_TEST(remaining(start, deadline) == 10s);
    BOOST_TEST(remaining({start.steady + 4s, start.boot}, deadline) == 6s);
    BOOST_TEST(remaining({start.steady, start.boot + 7s}, deadline) == 3s);
}

BOOST_AUTO_TEST_CASE(what_remains_is_negative_after_the_deadline)
{
    const instant deadline = shifted(start, 10'000ms);

    BOOST_TEST(remaining(deadline, deadline) == 0s);
    BOOST_TEST(remaining(shifted(deadline, 2000ms), deadline) == -2s);
    BOOST_TEST(remaining({start.steady, deadline.boot + 1h}, deadline) == -1h);
}

BOOST_AUTO_TEST_CASE(something_remains_exactly_until_the_deadline_is_reached)
{
    for (const nanoseconds steady : {-1ns, 0ns, 1ns})
        for (const nanoseconds boot : {-1ns, 0ns, 1ns})
        {
            const instant now{start.steady + steady, start.boot + boot};
            BOOST_TEST((remaining(now, start) > 0ns) == !reached(now, start), text_of(now));
        }
}

BOOST_AUTO_TEST_CASE(remaining_time_to_a_deadline_that_never_comes_does_not_overflow)
{
    BOOST_TEST(remaining(start, never) == nanoseconds::max() - 5h);
    BOOST_TEST(remaining({}, never) == nanoseconds::max());
}

BOOST_AUTO_TEST_SUITE_END()
