#include "core/quarantine.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(test_quarantine)

using namespace redlock;
using namespace redlock::core;

namespace {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(a_quarantine_outlasts_every_lease_that_may_be_forgotten)
{
    for (const milliseconds ttl_max : {10ms, 1000ms, 30'000ms, 86'400'000ms})
        BOOST_TEST(quarantine_for(ttl_max, 1ms) > ttl_max);
}

BOOST_AUTO_TEST_CASE(a_quarantine_outlasts_the_window_on_both_sides_and_a_clock_set_back)
{
    for (const milliseconds window : {1ms, 500ms, 60'000ms})
        BOOST_TEST(quarantine_for(10ms, window) > 2 * window + max_clock_step);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
