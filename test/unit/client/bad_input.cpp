#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_bad_input)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

/// Both ways to acquire refuse the input, and no node hears of it.
void check_refused(std::string_view resource, const acquire_options& options)
{
    running_client fixture;
    fixture.log().clear();

    const auto acquired = launch(fixture.locks().async_acquire(resource, options));
    const auto tried = launch(fixture.locks().async_try_acquire(resource, options));
    BOOST_TEST(!acquired->done());
    fixture.run_until_idle();

    BOOST_TEST(acquired->code() == error::invalid_argument);
    BOOST_TEST(tried->code() == error::invalid_argument);
    BOOST_TEST((!acquired->value() && !tried->value()));
    fixture.advance(1s);
    BOOST_TEST(fixture.log().empty());
}

/// A ttl that is refused as an option, as a duration and as an extension.
template <class Duration>
void check_ttl_refused(Duration ttl)
{
    running_client fixture;
    lease held = fixture.acquire("held");
    const time_point before = held.valid_until();
    fixture.log().clear();

    const auto acquired = launch(fixture.locks().async_acquire("orders:42", ttl));
    const auto tried = launch(fixture.locks().async_try_acquire("orders:42", ttl));
    const auto extended = launch(held.async_extend(ttl));
    fixture.run_until_idle();

    BOOST_TEST(acquired->code() == error::invalid_argument);
    BOOST_TEST(tried->code() == error::invalid_argument);
    BOOST_TEST(extended->code() == error::invalid_argument);
    BOOST_TEST(held.valid_until() == before);
    BOOST_TEST(!held.expired());
    fixture.advance(1s);
    BOOST_TEST(fixture.log().empty());
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_resource_has_1_to_512_bytes)
{
    check_refused("", {});
    check_refused(std::string(513, 'x'), {});
    check_refused(std::string(100'000, 'x'), {});

    running_client fixture;
    BOOST_TEST(!fixture.acquire("x").expired());
    BOOST_TEST(!fixture.acquire(std::string(512, 'x')).expired());
    BOOST_TEST(!fixture.acquire(std::string_view("\0", 1)).expired());
}

BOOST_AUTO_TEST_CASE(the_prefix_does_not_count_as_resource)
{
    running_client fixture({.key_prefix = std::string(128, 'p')});

    const lease held = fixture.acquire(std::string(512, 'x'));

    BOOST_TEST(fixture.log().front().key.size() == 640u);
    const auto [ec, none] = fixture.complete(fixture.locks().async_acquire("", 10s));
    BOOST_TEST(ec == error::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_ttl_is_10_ms_to_24_h)
{
    for (const milliseconds ttl :
         {0ms, 1ms, 9ms, -1ms, -10'000ms, milliseconds(24h) + 1ms, milliseconds(1000h)})
    {
        BOOST_TEST_CONTEXT(ttl.count() << " ms")
        {
            check_refused("orders:42", {.ttl = ttl});
            check_ttl_refused(ttl);
        }
    }
    running_client fixture({.node_timeout = 1ms});
    BOOST_TEST(!fixture.acquire("short", {.ttl = 10ms}).expired());
    BOOST_TEST(!fixture.acquire("long", {.ttl = 24h}).expired());
}

BOOST_AUTO_TEST_CASE(an_extreme_ttl_does_not_overflow)
{
    check_refused("orders:42", {.ttl = milliseconds::max()});
    check_refused("orders:42", {.ttl = milliseconds::min()});
    check_ttl_refused(milliseconds::max());
    check_ttl_refused(milliseconds::min());
    check_ttl_refused(std::chrono::hours::max());
    check_ttl_refused(std::chrono::hours::min());
    check_ttl_refused(std::chrono::nanoseconds::max());
    check_ttl_refused(std::chrono::nanoseconds::min());
    check_ttl_refused(std::chrono::duration<double>::max());
    check_ttl_refused(std::chrono::duration<double>::min());
    check_ttl_refused(std::chrono::duration<double>(std::numeric_limits<double>::infinity()));
    check_ttl_refused(std::chrono::duration<double>(-std::numeric_limits<double>::infinity()));
}

BOOST_AUTO_TEST_CASE(a_ttl_that_is_not_a_number_is_refused)
{
    check_ttl_refused(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN()));
}

BOOST_AUTO_TEST_CASE(a_ttl_is_rounded_down_to_milliseconds)
{
    running_client fixture;
    check_ttl_refused(9'999us);

    const auto [ec, held] = fixture.complete(fixture.locks().async_acquire("orders:42", 60'999us));

    BOOST_TEST(ec == error_code());
    BOOST_TEST(fixture.log().front().ttl == 60ms);
}

BOOST_AUTO_TEST_CASE(a_ttl_is_longer_than_the_node_timeout)
{
    check_refused("orders:42", {.ttl = 49ms});
    check_refused("orders:42", {.ttl = 50ms});
    check_ttl_refused(50ms);

    running_client fixture;
    BOOST_TEST(!fixture.acquire("orders:42", {.ttl = 51ms}).expired());
}

BOOST_AUTO_TEST_CASE(a_wait_is_not_negative)
{
    running_client fixture;

    for (const milliseconds wait : {-1ms, milliseconds::min()})
    {
        const auto [ec, held] =
            fixture.complete(fixture.locks().async_acquire("orders:42", {.wait = wait}));
        BOOST_TEST(ec == error::invalid_argument);
    }

    BOOST_TEST(fixture.log().empty());
}

BOOST_AUTO_TEST_CASE(an_attempt_ignores_the_wait)
{
    running_client fixture;

    const auto [ec, held] =
        fixture.complete(fixture.locks().async_try_acquire("orders:42", {.wait = -1ms}));

    BOOST_TEST(ec == error_code());
    BOOST_TEST(static_cast<bool>(held));
}

BOOST_AUTO_TEST_CASE(a_hold_max_is_at_least_1_ms)
{
    check_refused("orders:42", {.hold_max = 0ms});
    check_refused("orders:42", {.hold_max = -1ms});
    check_refused("orders:42", {.hold_max = milliseconds::min()});

    running_client fixture;
    BOOST_TEST(!fixture.acquire("orders:42", {.hold_max = 1ms}).expired());
}

BOOST_AUTO_TEST_CASE(a_stop_leaves_time_for_two_extensions)
{
    check_refused("orders:42", {.ttl = 3s, .stop_before = -1ms});
    check_refused("orders:42", {.ttl = 3s, .stop_before = 1868ms});
    check_refused("orders:42", {.ttl = 60ms, .stop_before = 1ms});
    check_refused("orders:42", {.stop_before = forever});
    check_refused("orders:42", {.stop_before = milliseconds::min()});

    running_client fixture;
    BOOST_TEST(!fixture.acquire("orders:42", {.ttl = 3s, .stop_before = 1867ms}).expired());
    BOOST_TEST(!fixture.acquire("orders:43", {.ttl = 60ms, .stop_before = 0ms}).expired());
}

BOOST_AUTO_TEST_CASE(an_extreme_hold_max_does_not_overflow)
{
    for (const milliseconds limit : {forever, milliseconds::max(), milliseconds::max() - 1ms})
    {
        running_client fixture;
        const acquire_options options{.ttl = 1s, .auto_extend = true, .hold_max = limit};
        lease held = fixture.acquire("orders:42", options);

        fixture.advance(10s);

        BOOST_TEST(!held.expired());
        BOOST_TEST(fixture.code_of(held.async_extend(24h)) == error_code());
    }
}

BOOST_AUTO_TEST_CASE(any_number_is_an_owner)
{
    running_client fixture;

    for (const owner who : {owner(1), owner(std::numeric_limits<std::uint64_t>::max())})
    {
        const lease held = fixture.acquire("orders:42", {.owner = who});
        BOOST_TEST(!fixture.acquire("orders:42", {.owner = who}).expired());
    }
}

BOOST_AUTO_TEST_CASE(who_joins_with_bad_input_is_refused_and_the_hold_stays_as_it_was)
{
    running_client fixture;
    const lease held = fixture.acquire("orders:42", {.owner = owner(1)});
    const time_point before = held.valid_until();
    fixture.log().clear();

    for (const acquire_options& bad :
         {acquire_options{.ttl = 9ms, .owner = owner(1)},
          acquire_options{.ttl = 25h, .auto_extend = true, .owner = owner(1)},
          acquire_options{.hold_max = 0ms, .owner = owner(1)}})
    {
        const auto [ec, joined] =
            fixture.complete(fixture.locks().async_try_acquire("orders:42", bad));
        BOOST_TEST(ec == error::invalid_argument);
        BOOST_TEST(!joined);
    }

    BOOST_TEST(fixture.log().empty());
    BOOST_TEST(held.valid_until() == before);
    BOOST_TEST(!held.expired());
}

BOOST_AUTO_TEST_CASE(bad_input_is_found_before_run)
{
    client_fixture fixture;

    const auto acquired = launch(fixture.locks().async_acquire("", 10s));
    fixture.run_until_idle();

    BOOST_TEST(acquired->code() == error::invalid_argument);
}

BOOST_AUTO_TEST_CASE(bad_input_leaves_the_report_empty_or_as_it_was)
{
    running_client fixture;
    diagnostics report;

    fixture.complete(fixture.locks().async_acquire("", {.report = &report}));

    BOOST_TEST(report.quorum == 0u);
    BOOST_TEST(report.rounds == 0u);
    BOOST_TEST(report.votes.empty());
}

BOOST_AUTO_TEST_SUITE_END()
