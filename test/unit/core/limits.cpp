#include "core/limits.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(test_limits)

using namespace redlock;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(a_stop_leaves_time_for_two_extensions_and_is_never_negative)
{
    const auto longest =
        [](milliseconds ttl, milliseconds node_timeout, double drift_rate, milliseconds grace = 0ms
        ) { return core::longest_stop_before({ttl, grace, drift_rate}, node_timeout); };

    BOOST_TEST(longest(3s, 50ms, 0.01) == 1867ms);  // Rounded down.
    BOOST_TEST(longest(10s, 50ms, 0) == 6564ms);
    BOOST_TEST(longest(24h, 1ms, 0) == 16h - 4ms - 1ms);
    BOOST_TEST(longest(60ms, 50ms, 0.01) == 0ms);
    BOOST_TEST(longest(10ms, 1ms, 0.5) == 0ms);
    BOOST_TEST(longest(3s, 50ms, 0.01, 1s) == 1857ms);  // Keys that live for 4 s drift.
}

BOOST_AUTO_TEST_SUITE_END()
