#include "core/validity.hpp"

#include "core/limits.hpp"
#include "unit/core/printing.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_validity)

using namespace redlock;
using namespace std::chrono_literals;
using core::clock_drift;
using core::instant;
using core::lifetime;
using core::nanoseconds;
using core::shifted;

namespace {

constexpr instant start{time_point(1h), 5h};

constexpr double all_rates[] = {0, 1e-9, 0.01, 0.1, 0.25, core::max_clock_drift};

/// All ttls of the first five seconds, and some around each power of two up to the limit.
std::vector<milliseconds> many_ttls()
{
    std::vector<milliseconds> ttls;
    for (milliseconds ttl = core::min_ttl; ttl <= 5s; ++ttl)
        ttls.push_back(ttl);
    for (milliseconds ttl = 8192ms; ttl < core::max_ttl; ttl *= 2)
        for (const milliseconds nearby : {-1ms, 0ms, 1ms})
            ttls.push_back(ttl + nearby);
    ttls.push_back(core::max_ttl);
    return ttls;
}

nanoseconds validity(milliseconds ttl, double rate)
{
    return core::remaining(start, lifetime{ttl, 0ms, rate}.end(start));
}

}  // namespace

BOOST_AUTO_TEST_CASE(drift_is_the_share_of_the_ttl_and_two_milliseconds_rounded_up)
{
    BOOST_TEST(clock_drift(10s, 0) == 2ms + 1ns);
    BOOST_TEST(clock_drift(10s, 0.25) == 2502ms + 1ns);
    BOOST_TEST(clock_drift(1ms, 0.5) == 2500us + 1ns);
    BOOST_TEST(clock_drift(core::max_ttl, 0.5) == 12h + 2ms + 1ns);
}

// In whole numbers: the share of one in `parts` is `ttl / parts`, here without a remainder.
BOOST_AUTO_TEST_CASE(drift_is_never_less_than_the_exact_share_and_at_most_two_nanoseconds_more)
{
    for (const int parts : {2, 4, 5, 8, 10, 100, 1000})
        for (const milliseconds ttl : many_ttls())
            BOOST_TEST_CONTEXT("ttl " << ttl.count() << " ms, rate 1/" << parts)
            {
                const nanoseconds exact = nanoseconds(ttl) / parts + 2ms;
                const nanoseconds drift = clock_drift(ttl, 1.0 / parts);

                BOOST_TEST(drift.count() >= exact.count());
                BOOST_TEST(drift.count() <= (exact + 2ns).count());
            }
}

BOOST_AUTO_TEST_CASE(the_deadline_counts_from_before_the_first_send_on_both_clocks)
{
    BOOST_TEST((lifetime{10s, 0ms, 0.01}.end(start) == shifted(start, 9898ms - 1ns)));
    BOOST_TEST((lifetime{10s, 0ms, 0.01}.end({}) == shifted({}, 9898ms - 1ns)));
    // The nodes count the grace too, and may count it too short.
    BOOST_TEST((lifetime{10s, 5s, 0.01}.end(start) == shifted(start, 9848ms - 1ns)));
}

BOOST_AUTO_TEST_CASE(a_lease_is_never_valid_for_longer_than_its_ttl_less_the_margin)
{
    for (const double rate : all_rates)
        for (const milliseconds ttl : many_ttls())
            BOOST_TEST_CONTEXT("ttl " << ttl.count() << " ms, rate " << rate)
            {
                BOOST_TEST(validity(ttl, rate).count() < nanoseconds(ttl - 2ms).count());
            }
}

BOOST_AUTO_TEST_CASE(every_ttl_and_drift_within_the_limits_leaves_some_validity)
{
    for (const double rate : all_rates)
        for (const milliseconds ttl : many_ttls())
            BOOST_TEST_CONTEXT("ttl " << ttl.count() << " ms, rate " << rate)
            {
                BOOST_TEST(validity(ttl, rate).count() > 0);
            }
    BOOST_TEST(validity(10ms, 0.5) == 3ms - 1ns);
}

BOOST_AUTO_TEST_CASE(a_longer_ttl_is_valid_for_longer)
{
    for (const double rate : all_rates)
        for (const milliseconds ttl : many_ttls())
            BOOST_TEST_CONTEXT("ttl " << ttl.count() << " ms, rate " << rate)
            {
                BOOST_TEST(validity(ttl + 1ms, rate).count() > validity(ttl, rate).count());
            }
}

BOOST_AUTO_TEST_CASE(a_ttl_below_the_margin_has_passed_before_it_began)
{
    BOOST_TEST((core::reached(start, lifetime{2ms, 0ms, 0}.end(start))));
    BOOST_TEST((core::reached(start, lifetime{4ms, 0ms, 0.5}.end(start))));
}

BOOST_AUTO_TEST_CASE(a_ttl_without_end_does_not_overflow)
{
    BOOST_TEST(clock_drift(forever, 0.5) > nanoseconds::max() / 2);
    BOOST_TEST((lifetime{forever, 0ms, 0.5}.end(start).boot > start.boot));
    BOOST_TEST((lifetime{forever, 0ms, 0}.end(start).boot == nanoseconds::max()));
}

BOOST_AUTO_TEST_SUITE_END()
