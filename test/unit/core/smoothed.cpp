#include "core/smoothed.hpp"

#include <boost/test/unit_test.hpp>

#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_smoothed)

using namespace std::chrono_literals;
using redlock::core::nanoseconds;
using redlock::core::smoothed;

BOOST_AUTO_TEST_CASE(there_is_no_average_before_the_first_sample)
{
    BOOST_TEST(smoothed().value() == 0ns);
}

BOOST_AUTO_TEST_CASE(the_first_sample_is_the_average)
{
    smoothed round;
    round.add(800us);

    BOOST_TEST(round.value() == 800us);
}

BOOST_AUTO_TEST_CASE(each_further_sample_counts_for_an_eighth)
{
    smoothed round;
    round.add(800us);

    round.add(1600us);
    BOOST_TEST(round.value() == 900us);
    round.add(100us);
    BOOST_TEST(round.value() == 800us);
}

BOOST_AUTO_TEST_CASE(the_average_stays_between_the_samples)
{
    smoothed round;
    for (int i = 0; i < 1000; ++i)
    {
        round.add(i % 3 == 0 ? 50us : 4ms);
        BOOST_TEST(round.value() >= 50us);
        BOOST_TEST(round.value() <= 4ms);
    }
}

BOOST_AUTO_TEST_CASE(the_average_follows_a_lasting_change)
{
    smoothed round;
    round.add(100ms);
    for (int i = 0; i < 200; ++i)
        round.add(1ms);

    BOOST_TEST(round.value() >= 1ms);
    BOOST_TEST(round.value() < 1ms + 8ns);
}

// Zero means "not known yet": a known average must not turn into it.
BOOST_AUTO_TEST_CASE(samples_of_zero_do_not_make_an_average_unknown_again)
{
    smoothed round;
    round.add(1ms);
    for (int i = 0; i < 1000; ++i)
        round.add(0ns);

    BOOST_TEST(round.value() > 0ns);
}

BOOST_AUTO_TEST_CASE(the_longest_sample_does_not_overflow)
{
    smoothed round;
    round.add(nanoseconds::max());
    round.add(1ns);
    round.add(nanoseconds::max());

    BOOST_TEST(round.value() > nanoseconds::max() / 2);
}

BOOST_AUTO_TEST_SUITE_END()
