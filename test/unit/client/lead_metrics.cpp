#include <redlock/lead.hpp>

#include <boost/asio/cancellation_type.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>

#include "support/elector.hpp"

BOOST_AUTO_TEST_SUITE(test_lead_metrics)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(terms_and_losses_are_counted)
{
    lead_metrics counts;
    lead_options options = three_seconds;
    options.metrics = &counts;
    elector fixture;
    BOOST_TEST(!counts.leading());
    const auto user = fixture.start(options);
    BOOST_TEST(counts.leading());
    BOOST_TEST(counts.terms == 1u);

    fixture.silence(detail::verb::extend);
    fixture.advance(2s);
    BOOST_TEST(counts.losses == 1u);
    BOOST_TEST(counts.leading());
    BOOST_TEST(counts.terms == 2u);

    user->signal.emit(asio::cancellation_type::terminal);
    fixture.run_until_idle();
    BOOST_TEST(!counts.leading());
    BOOST_TEST(counts.losses == 1u);
    BOOST_TEST(counts.overruns == 0u);
}

BOOST_AUTO_TEST_CASE(a_term_that_ends_by_resignation_or_at_hold_max_is_no_loss)
{
    lead_metrics counts;
    elector fixture;
    const auto user = fixture.start(
        {.ttl = 3s, .hold_max = 10s, .pause = 0ms, .watchdog = false, .metrics = &counts}
    );
    fixture.now->resign();
    fixture.advance(11s);

    BOOST_TEST(counts.terms == 3u);
    BOOST_TEST(counts.losses == 0u);
}

BOOST_AUTO_TEST_CASE(the_time_of_leading_counts_from_the_beginning_of_the_term)
{
    lead_metrics counts;
    BOOST_TEST(counts.led_for() == 0ms);
    counts.leading_since = std::chrono::steady_clock::now() - 1h;
    BOOST_TEST(counts.led_for() >= 1h);
    BOOST_TEST(counts.led_for() < 2h);
}

BOOST_AUTO_TEST_SUITE_END()
