#include "node/guard.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

BOOST_AUTO_TEST_SUITE(test_guard)

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
            {
                const guard made = *make_guard(config_of(nodes, ttl_max, window));
                all.push_back(made.fingerprint);
                for (const char* query : {"?overlap=5ms", "?overlap=50ms"})
                    all.push_back(made.fingerprint_of(parse_node("redis://a" + std::string(query)))
                    );
                all.push_back(made.fingerprint_of(parse_node("redis+sentinel://a/m")));
            }

    for (const std::string& one : all)
        for (const std::string& other : all)
            BOOST_TEST((&one == &other || !other.starts_with(one)), one << " and " << other);
}

BOOST_AUTO_TEST_CASE(the_scripts_know_how_all_markers_begin)
{
    const guard made = *make_guard(config_of(3, 30s, 500ms));
    BOOST_TEST(made.fingerprint.starts_with(made.marker_begin));
    const auto of = [&made](const char* url) { return made.fingerprint_of(parse_node(url)); };
    BOOST_TEST(of("redis://a") == made.fingerprint);
    const std::string promised = of("redis://a?overlap=15s");
    BOOST_TEST(promised.starts_with(made.marker_begin));
    BOOST_TEST(promised.ends_with(";clock_window=500,overlap=15000;"));
    BOOST_TEST(of("redis+sentinel://a/m?overlap=15s") == promised);
    BOOST_TEST(of("redis+sentinel://a/m").ends_with(";clock_window=500,overlap=replicas;"));
    BOOST_TEST(made.constants.find("'" + made.marker_begin + "'") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_clock_that_was_set_back_costs_at_most_the_longest_quarantine_of_the_list)
{
    client_config config = config_of(3, 30s, 500ms);
    const auto longest = [&config] {
        const std::string constants = make_guard(config)->constants;
        const std::string name = "longest_quarantine = ";
        return std::stoi(constants.substr(constants.find(name) + name.size()));
    };
    BOOST_TEST(longest() == 30'100);
    config.nodes[1].overlap = 15s;
    BOOST_TEST(longest() == 45'100);
    config.nodes[2].sentinel.emplace();
    BOOST_TEST(longest() == 92'100);
}

BOOST_AUTO_TEST_CASE(while_ttl_max_is_raised_marks_and_quarantines_go_by_the_larger_one)
{
    const guard small = *make_guard(config_of(3, 30s, 500ms));
    const guard large = *make_guard(config_of(3, 60s, 500ms));
    BOOST_TEST(small.smaller_fingerprint == "");
    BOOST_TEST(!small.raises);

    client_config accepts = config_of(3, 30s, 500ms);
    accepts.other_ttl_max = 60s;
    client_config asks = config_of(3, 60s, 500ms);
    asks.other_ttl_max = 30s;
    for (const client_config& config : {accepts, asks})
    {
        const guard made = *make_guard(config);
        BOOST_TEST(made.fingerprint == large.fingerprint);
        BOOST_TEST(made.smaller_fingerprint == small.fingerprint);
        BOOST_TEST(made.quarantine.count() == large.quarantine.count());
        BOOST_TEST(made.raises == (config.ttl_max == 60s));
    }
}

BOOST_AUTO_TEST_SUITE_END()
