#include "core/limits.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <string>

using namespace redlock;
using namespace std::chrono_literals;
using core::valid_options;
using core::valid_resource;
using core::valid_ttl;

BOOST_AUTO_TEST_SUITE(test_limits)

BOOST_AUTO_TEST_CASE(a_resource_has_1_to_512_bytes)
{
    for (std::size_t size = 0; size <= 1024; ++size)
        BOOST_TEST(valid_resource(std::string(size, 'x')) == (size >= 1 && size <= 512), size);
}

BOOST_AUTO_TEST_CASE(a_resource_may_have_any_bytes)
{
    for (int byte = 0; byte < 256; ++byte)
        BOOST_TEST(valid_resource(std::string(1, static_cast<char>(byte))), byte);
}

BOOST_AUTO_TEST_CASE(a_ttl_is_10_ms_to_24_h)
{
    struct
    {
        milliseconds ttl;
        bool valid;
    } const cases[] = {
        {milliseconds::min(), false},
        {-10ms, false},
        {0ms, false},
        {9ms, false},
        {10ms, true},
        {24h, true},
        {24h + 1ms, false},
        {forever, false},
    };

    for (const auto& each : cases)
    {
        const bool valid = valid_ttl(each.ttl, 1ms, core::max_ttl);
        BOOST_TEST(valid == each.valid, each.ttl.count() << " ms");
    }
}

BOOST_AUTO_TEST_CASE(a_ttl_is_more_than_the_node_timeout)
{
    BOOST_TEST(!valid_ttl(49ms, 50ms, core::max_ttl));
    BOOST_TEST(!valid_ttl(50ms, 50ms, core::max_ttl));
    BOOST_TEST(valid_ttl(51ms, 50ms, core::max_ttl));
    BOOST_TEST(!valid_ttl(1min, 1min, core::max_ttl));
}

BOOST_AUTO_TEST_CASE(the_default_options_are_valid_with_every_node_timeout_up_to_10_s)
{
    BOOST_TEST(valid_options({}, core::min_node_timeout, core::max_ttl));
    BOOST_TEST(valid_options({}, 50ms, core::max_ttl));
    BOOST_TEST(valid_options({}, 10s - 1ms, core::max_ttl));
    BOOST_TEST(!valid_options({}, 10s, core::max_ttl));
}

BOOST_AUTO_TEST_CASE(options_are_valid_if_each_of_them_is)
{
    struct
    {
        const char* what;
        acquire_options options;
        bool valid;
    } const cases[] = {
        {"shortest ttl", {.ttl = 51ms}, true},
        {"ttl of the node timeout", {.ttl = 50ms}, false},
        {"endless ttl", {.ttl = forever}, false},
        {"no wait", {.wait = 0ms}, true},
        {"endless wait", {.wait = forever}, true},
        {"negative wait", {.wait = -1ms}, false},
        {"most negative wait", {.wait = milliseconds::min()}, false},
        {"shortest hold", {.hold_max = 1ms}, true},
        {"endless hold", {.hold_max = forever}, true},
        {"no hold", {.hold_max = 0ms}, false},
        {"negative hold", {.hold_max = milliseconds::min()}, false},
    };

    for (const auto& each : cases)
        BOOST_TEST(valid_options(each.options, 50ms, core::max_ttl) == each.valid, each.what);
}

BOOST_AUTO_TEST_CASE(a_stop_leaves_time_for_two_extensions_and_is_never_negative)
{
    using core::longest_stop_before;

    BOOST_TEST(longest_stop_before(3s, 50ms, 0.01) == 1867ms);  // Rounded down.
    BOOST_TEST(longest_stop_before(10s, 50ms, 0) == 6564ms);
    BOOST_TEST(longest_stop_before(24h, 1ms, 0) == 16h - 4ms - 1ms);
    BOOST_TEST(longest_stop_before(60ms, 50ms, 0.01) == 0ms);
    BOOST_TEST(longest_stop_before(10ms, 1ms, 0.5) == 0ms);
}

BOOST_AUTO_TEST_SUITE_END()
