#include "node/guard.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

using namespace redlock;
using namespace redlock::detail;
using namespace std::chrono_literals;

namespace {

client_config config_of(std::size_t nodes, milliseconds ttl_max, milliseconds clock_window)
{
    client_config config;
    config.nodes.resize(nodes);
    config.ttl_max = ttl_max;
    config.clock_window = clock_window;
    return config;
}

std::string fingerprint_of(const client_config& config)
{
    return make_guard(config)->fingerprint;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_guard)

BOOST_AUTO_TEST_CASE(plain_mode_has_no_guard)
{
    client_config config = config_of(3, 30s, 500ms);
    config.mode = mode::plain;
    BOOST_TEST(!make_guard(config));
}

BOOST_AUTO_TEST_CASE(a_quarantine_outlasts_the_longest_lease_and_what_tokens_may_go_back)
{
    const auto quarantine = [](milliseconds ttl_max, milliseconds window) {
        return make_guard(config_of(3, ttl_max, window))->quarantine;
    };
    BOOST_TEST((quarantine(30s, 500ms) == 30'100ms));
    BOOST_TEST((quarantine(100ms, 30s) == 61'100ms));
}

BOOST_AUTO_TEST_CASE(clients_with_the_same_settings_have_the_same_fingerprint)
{
    client_config config = config_of(3, 30s, 500ms);
    const std::string expected = fingerprint_of(config);
    config.nodes[0].host = "another.name";
    config.node_timeout = 1ms;
    config.clock_drift = 0.1;
    BOOST_TEST(fingerprint_of(config) == expected);
}

BOOST_AUTO_TEST_CASE(each_setting_that_clients_must_share_makes_another_fingerprint)
{
    const std::string one = fingerprint_of(config_of(3, 30s, 500ms));
    BOOST_TEST(fingerprint_of(config_of(5, 30s, 500ms)) != one);
    BOOST_TEST(fingerprint_of(config_of(3, 31s, 500ms)) != one);
    BOOST_TEST(fingerprint_of(config_of(3, 30s, 501ms)) != one);
}

// A marker that begins with a client's fingerprint is taken for its own.
BOOST_AUTO_TEST_CASE(no_fingerprint_is_the_beginning_of_another_one)
{
    std::vector<std::string> all;
    for (const std::size_t nodes : {1, 11})
        for (const milliseconds ttl_max : {50ms, 500ms, 5000ms})
            for (const milliseconds window : {5ms, 50ms, 500ms})
                all.push_back(fingerprint_of(config_of(nodes, ttl_max, window)));

    for (const std::string& one : all)
        for (const std::string& other : all)
            BOOST_TEST((&one == &other || !other.starts_with(one)), one << " and " << other);
}

BOOST_AUTO_TEST_SUITE_END()
