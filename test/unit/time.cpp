#include <redlock/time.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>
#include <ratio>

#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_time)

using namespace redlock;
using namespace std::chrono_literals;

namespace {

using namespace std::chrono;
using float_seconds = duration<double>;

constexpr milliseconds longest_ago = -milliseconds::max();

}  // namespace

BOOST_AUTO_TEST_CASE(whole_milliseconds_are_kept)
{
    BOOST_TEST(saturate(0ms).count() == 0);
    BOOST_TEST(saturate(1ms).count() == 1);
    BOOST_TEST(saturate(-1ms).count() == -1);
    BOOST_TEST(saturate(10s).count() == 10'000);
    BOOST_TEST(saturate(24h).count() == 86'400'000);
    BOOST_TEST(saturate(duration<std::uint8_t>(200)).count() == 200'000);
}

BOOST_AUTO_TEST_CASE(forever_stays_forever)
{
    BOOST_TEST(saturate(forever) == forever);
    BOOST_TEST(saturate(forever - 1ms) == forever - 1ms);
}

BOOST_AUTO_TEST_CASE(parts_of_a_millisecond_are_rounded_towards_zero)
{
    BOOST_TEST(saturate(999us).count() == 0);
    BOOST_TEST(saturate(1999us).count() == 1);
    BOOST_TEST(saturate(-999us).count() == 0);
    BOOST_TEST(saturate(-1999us).count() == -1);
    BOOST_TEST(saturate(nanoseconds::max()).count() == 9'223'372'036'854);
    BOOST_TEST(saturate(nanoseconds::min()).count() == -9'223'372'036'854);
    BOOST_TEST(saturate(duration<double, std::milli>(10.9)).count() == 10);
    BOOST_TEST(saturate(float_seconds(-0.0019)).count() == -1);
}

BOOST_AUTO_TEST_CASE(what_is_too_long_for_milliseconds_is_forever)
{
    BOOST_TEST(saturate(seconds::max()) == forever);
    BOOST_TEST(saturate(minutes(std::numeric_limits<std::int64_t>::max())) == forever);
    BOOST_TEST(saturate(hours::max()) == forever);
    BOOST_TEST(saturate(duration<std::uint64_t, std::milli>::max()) == forever);
    BOOST_TEST(saturate(duration<std::int64_t, std::peta>(10)) == forever);
}

BOOST_AUTO_TEST_CASE(what_is_too_negative_for_milliseconds_is_minus_forever)
{
    BOOST_TEST(saturate(milliseconds::min()) == longest_ago);
    BOOST_TEST(saturate(seconds::min()) == longest_ago);
    BOOST_TEST(saturate(hours::min()) == longest_ago);
}

BOOST_AUTO_TEST_CASE(the_last_seconds_before_the_limit_are_exact)
{
    constexpr auto last = duration_cast<seconds>(milliseconds::max());

    BOOST_TEST(saturate(last) == milliseconds(last));
    BOOST_TEST(saturate(last + 1s) == forever);
    BOOST_TEST(saturate(-last) == -milliseconds(last));
    BOOST_TEST(saturate(-last - 1s) == longest_ago);
}

BOOST_AUTO_TEST_CASE(a_factor_that_would_overflow_on_the_way_does_not)
{
    using ticks = duration<std::int64_t, std::ratio<1, 60>>;
    const ticks many(std::numeric_limits<std::int64_t>::max() / 40);

    BOOST_TEST(saturate(ticks(120)) == 2s);
    BOOST_TEST(saturate(many) > 0ms);
    BOOST_TEST(saturate(-many) < 0ms);
}

BOOST_AUTO_TEST_CASE(what_is_not_a_number_is_nothing)
{
    BOOST_TEST(saturate(float_seconds(std::numeric_limits<double>::quiet_NaN())).count() == 0);
}

BOOST_AUTO_TEST_CASE(floating_point_durations_saturate_too)
{
    BOOST_TEST(saturate(float_seconds(0.25)).count() == 250);
    BOOST_TEST(saturate(float_seconds(1e300)) == forever);
    BOOST_TEST(saturate(float_seconds(-1e300)) == longest_ago);
    BOOST_TEST(saturate(float_seconds(std::numeric_limits<double>::infinity())) == forever);
    // The double nearest to the limit is the first one above it.
    BOOST_TEST(saturate(duration<double, std::milli>(9223372036854775807.0)) == forever);
    BOOST_TEST(
        saturate(duration<double, std::milli>(9223372036854774784.0)).count() ==
        9'223'372'036'854'774'784
    );
}

BOOST_AUTO_TEST_CASE(saturating_is_done_at_compile_time_if_wanted)
{
    static_assert(saturate(hours::max()) == forever);
    static_assert(saturate(1999us) == 1ms);
}

BOOST_AUTO_TEST_SUITE_END()
