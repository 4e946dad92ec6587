#include <redlock/diagnostics.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_bad_input)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

/// A ttl that is refused as an option, as a duration and as an extension.
template <class Duration>
void check_ttl_refused(Duration ttl)
{
    running_client fixture;
    lease held = fixture.acquire("held");
    const time_point before = held.valid_until();
    fixture.log().clear();

    const auto option = launch(fixture.locks().async_acquire("orders:42", {.ttl = saturate(ttl)}));
    const auto acquired = launch(fixture.locks().async_acquire("orders:42", ttl));
    const auto tried = launch(fixture.locks().async_try_acquire("orders:42", ttl));
    const auto extended = launch(held.async_extend(ttl));
    fixture.run_until_idle();

    BOOST_TEST(option->code() == error::invalid_argument);
    BOOST_TEST(acquired->code() == error::invalid_argument);
    BOOST_TEST(tried->code() == error::invalid_argument);
    BOOST_TEST(extended->code() == error::invalid_argument);
    BOOST_TEST(held.valid_until() == before);
    BOOST_TEST(!held.expired());
    fixture.advance(1s);
    BOOST_TEST(fixture.log().empty());
}

struct wrong_call
{
    std::string resource;
    acquire_options options;
    std::string problem;
    redlock::mode mode = redlock::mode::guarded;
};

// What is in range and what is not: unit/validate.cpp.
const wrong_call wrong_calls[] = {
    {"", {}, "resource has 0 bytes, must have 1 to 512"},
    {std::string(513, 'x'), {}, "resource has 513 bytes, must have 1 to 512"},
    {"redlock:x",
     {},
     "key_prefix and resource make a key that begins with 'redlock:', which is "
     "reserved for guarded mode"},
    {"x", {.ttl = 5ms}, "ttl is 5 ms, must be 10 to 30000 ms"},
    {"x", {.ttl = 25h}, "ttl is 90000000 ms, must be 10 to 86400000 ms", mode::plain},
    {"x", {.ttl = milliseconds::min()}, "ttl is -9223372036854775808 ms, must be 10 to 30000 ms"},
    {"x",
     {.ttl = 40ms},
     "ttl is 40 ms, must be longer than the client's node_timeout, which is 50 ms"},
    {"x",
     {.ttl = 60s},
     "ttl is 60000 ms, must be 10 to 30000 ms, which is the client's ttl_max; auto_extend "
     "keeps a lease for longer, and docs/operations.md says how to raise ttl_max"},
    {"x", {.wait = -1ms}, "wait is -1 ms, must be 0 ms or more"},
    {"x", {.wait = milliseconds::min()}, "wait is -9223372036854775808 ms, must be 0 ms or more"},
    {"x", {.hold_max = 0ms}, "hold_max is 0 ms, must be 1 ms or more"},
    {"x",
     {.ttl = 3s, .stop_before = 1867ms + 1ms},
     "stop_before is 1868 ms, must be 0 to 1867 ms, which is 2/3 of ttl minus the clock "
     "drift of ttl and grace and two node_timeouts"},
    {"x",
     {.ttl = 60ms, .stop_before = 1ms},
     "stop_before is 1 ms, must be 0 to 0 ms, which is 2/3 of ttl minus the clock "
     "drift of ttl and grace and two node_timeouts"},
    {"x", {.grace = -1ms}, "grace is -1 ms, must be 0 or more"},
    {"x",
     {.ttl = 20s, .grace = 11s},
     "ttl and grace are 20000 ms and 11000 ms, must add up to at most 30000 ms, which is the "
     "client's ttl_max"},
    {"x", {.at_least = -1ms}, "at_least is -1 ms, must be 0 to 86400000 ms"},
    {"x", {.at_least = 24h + 1ms}, "at_least is 86400001 ms, must be 0 to 86400000 ms"},
    {"x", {.grace = 1s}, "grace needs guarded mode, but the client is in plain mode", mode::plain},
    {"x",
     {.at_least = 1s},
     "at_least needs guarded mode, but the client is in plain mode",
     mode::plain},
    {"x", {.note = "x"}, "note needs guarded mode, but the client is in plain mode", mode::plain},
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_call_that_is_wrong_is_refused_by_name_value_and_limit_and_nothing_is_sent)
{
    for (const wrong_call& each : wrong_calls)
    {
        BOOST_TEST_CONTEXT(each.problem)
        {
            std::vector<std::string> lines;
            running_client fixture({.mode = each.mode, .lines = &lines});
            lines.clear();
            diagnostics report;
            report.rounds = 7;
            acquire_options options = each.options;
            options.report = &report;

            const auto acquired = launch(fixture.locks().async_acquire(each.resource, options));
            BOOST_TEST(!acquired->done());
            fixture.run_until_idle();

            BOOST_TEST(acquired->code() == error::invalid_argument);
            BOOST_TEST(!acquired->value());
            BOOST_TEST(report.problem == each.problem);
            BOOST_TEST(to_string(report) == "no round was started: " + each.problem);
            BOOST_TEST(report.quorum == 0u);
            BOOST_TEST(report.rounds == 0u);
            BOOST_TEST(report.votes.empty());
            BOOST_TEST_REQUIRE(lines.size() == 1u);
            BOOST_TEST(lines.back() == "acquire of '" + each.resource + "': " + each.problem);
            if (options.wait >= 0ms)  // A try has none.
            {
                const auto [ec, held] =
                    fixture.complete(fixture.locks().async_try_acquire(each.resource, options));
                BOOST_TEST(ec == error::invalid_argument);
                BOOST_TEST(!held);
            }
            fixture.advance(1s);
            BOOST_TEST(fixture.log().empty());
        }
    }
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
            check_ttl_refused(ttl);
        }
    }
    running_client fixture({.node_timeout = 1ms});
    BOOST_TEST(!fixture.acquire("short", {.ttl = 10ms}).expired());
    BOOST_TEST(!fixture.acquire("long", {.ttl = 24h}).expired());
}

BOOST_AUTO_TEST_CASE(an_extreme_ttl_does_not_overflow_and_one_that_is_no_number_is_refused)
{
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
    check_ttl_refused(49ms);
    check_ttl_refused(50ms);

    running_client fixture;
    BOOST_TEST(!fixture.acquire("orders:42", {.ttl = 51ms}).expired());
}

BOOST_AUTO_TEST_CASE(an_attempt_ignores_the_wait)
{
    running_client fixture;

    const auto [ec, held] =
        fixture.complete(fixture.locks().async_try_acquire("orders:42", {.wait = -1ms}));

    BOOST_TEST(ec == error_code());
    BOOST_TEST(static_cast<bool>(held));
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

BOOST_AUTO_TEST_SUITE_END()
