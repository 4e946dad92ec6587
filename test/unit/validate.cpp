#include "client/validate.hpp"

#include "core/limits.hpp"

#include <boost/test/unit_test.hpp>

#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

BOOST_AUTO_TEST_SUITE(test_validate)

using namespace redlock;
using namespace std::chrono_literals;

namespace {

std::vector<node_config> nodes_named(std::size_t count)
{
    std::vector<node_config> nodes(count);
    for (std::size_t i = 0; i < count; ++i)
        nodes[i].host = "n" + std::to_string(i);
    return nodes;
}

client_config valid_config()
{
    client_config config;
    config.nodes = nodes_named(3);
    return config;
}

/// What is said about a valid configuration after `change`. Empty: nothing.
std::string complaint(const std::function<void(client_config&)>& change)
{
    client_config config = valid_config();
    change(config);
    try
    {
        detail::validate(config);
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return {};
}

void check_rejected(
    const std::function<void(client_config&)>& change,
    const std::vector<std::string>& expected
)
{
    const std::string said = complaint(change);
    for (const std::string& each : expected)
        BOOST_TEST(said.find(each) != said.npos, "'" << said << "' lacks '" << each << "'");
}

/// Checks a duration at, below and above its limits, and at the ends of its type.
void check_limits(
    const char* field,
    const std::function<milliseconds&(client_config&)>& of,
    milliseconds lowest,
    milliseconds highest
)
{
    const auto set = [&](milliseconds value) {
        return [&of, value](client_config& config) { of(config) = value; };
    };
    for (const milliseconds value : {lowest, lowest + 1ms, highest - 1ms, highest})
        BOOST_TEST(complaint(set(value)) == "", field << " = " << value.count());

    for (const milliseconds value :
         {milliseconds::min(), -1ms, lowest - 1ms, highest + 1ms, milliseconds::max()})
    {
        const std::string range =
            std::to_string(lowest.count()) + " to " + std::to_string(highest.count()) + " ms";
        check_rejected(set(value), {field, std::to_string(value.count()) + " ms", range});
    }
}

/// Whether a client has no objection to such an acquisition.
bool may_acquire(
    const std::string& resource,
    const acquire_options& options = {},
    const client_config& config = valid_config()
)
{
    detail::demand wanted(resource, options);
    wanted.put_in_front(config.key_prefix);
    return detail::problem_of_acquisition(config, wanted).empty();
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_defaults_are_valid)
{
    BOOST_TEST(complaint([](client_config&) {}) == "");
}

BOOST_AUTO_TEST_CASE(durations_are_within_their_limits)
{
    const auto node_timeout = [](client_config& c) -> milliseconds& {
        c.ttl_max = 1h;  // In guarded mode it is shorter than that.
        return c.node_timeout;
    };
    check_limits("node_timeout", node_timeout, 1ms, 1min);
    check_limits(
        "retry.first_delay", [](auto& c) -> auto& { return c.retry.first_delay; }, 0ms, 1min
    );
    check_limits("retry.max_delay", [](auto& c) -> auto& { return c.retry.max_delay; }, 1ms, 1min);
}

BOOST_AUTO_TEST_CASE(a_node_answers_before_the_longest_lease_ends)
{
    const auto set = [](mode how, milliseconds node_timeout) {
        return [=](client_config& config) {
            config.mode = how;
            config.node_timeout = node_timeout;
        };
    };
    BOOST_TEST(complaint(set(mode::guarded, 29'999ms)) == "");
    check_rejected(set(mode::guarded, 30s), {"node_timeout is 30000 ms", "ttl_max", "30000 ms"});
    BOOST_TEST(complaint(set(mode::plain, 30s)) == "");
}

BOOST_AUTO_TEST_CASE(durations_of_guarded_mode_are_within_their_limits)
{
    const auto ttl_max = [](client_config& c) -> milliseconds& {
        c.node_timeout = 1ms;
        c.fence_ttl = 25h;
        return c.ttl_max;
    };
    check_limits("ttl_max", ttl_max, 10ms, 24h);
    check_limits("clock_window", [](auto& c) -> auto& { return c.clock_window; }, 1ms, 1min);
    check_limits("fence_ttl", [](auto& c) -> auto& { return c.fence_ttl; }, 1min, 24'000h);
}

// A fence that expires earlier lets a token in that is lower than one it has forgotten.
BOOST_AUTO_TEST_CASE(a_fence_outlives_the_longest_lease_by_two_windows)
{
    const auto set = [](mode how, milliseconds fence_ttl) {
        return [=](client_config& config) {
            config.mode = how;
            config.ttl_max = 10min;
            config.clock_window = 1s;
            config.fence_ttl = fence_ttl;
        };
    };
    const milliseconds too_short = 10min + 2s;

    BOOST_TEST(complaint(set(mode::guarded, too_short + 1ms)) == "");
    check_rejected(
        set(mode::guarded, too_short), {"fence_ttl is 602000 ms", "ttl_max", "clock_window"}
    );
    check_rejected(set(mode::guarded, 1min), {"fence_ttl is 60000 ms"});
    BOOST_TEST(complaint(set(mode::plain, too_short)) == "");
}

// A fence that has expired is a loss that no quarantine follows. So the node's clock must have
// moved on as far by then: twice the window, and the second by which it may go back.
BOOST_AUTO_TEST_CASE(a_fence_outlives_what_its_nodes_clock_may_go_back)
{
    const auto set = [](milliseconds fence_ttl) {
        return [=](client_config& config) {
            config.mode = mode::guarded;
            config.node_timeout = 20ms;
            config.ttl_max = 100ms;
            config.clock_window = 30s;
            config.fence_ttl = fence_ttl;
        };
    };
    check_rejected(set(61s), {"fence_ttl is 61000 ms", "clock_window", "1 s"});
    BOOST_TEST(complaint(set(61s + 1ms)) == "");
}

// The keys of a script must be on one node of the cluster.
BOOST_AUTO_TEST_CASE(a_cluster_node_needs_a_hash_tag_in_guarded_mode)
{
    const auto set = [](mode how, std::string prefix) {
        return [=](client_config& config) {
            config.mode = how;
            config.nodes[1].accept_cluster = true;
            config.key_prefix = prefix;
        };
    };
    for (const char* prefix : {"{locks}", "{locks}:", "my:{locks}:", "a}{b}"})
        BOOST_TEST(complaint(set(mode::guarded, prefix)) == "", prefix);
    for (const char* prefix : {"", "locks:", "{", "{}", "{locks", "}locks{", "{}{locks}"})
        check_rejected(set(mode::guarded, prefix), {"key_prefix '", prefix, "accept_cluster"});
    BOOST_TEST(complaint(set(mode::plain, "locks:")) == "");
}

BOOST_AUTO_TEST_CASE(clock_drift_is_0_to_a_half)
{
    const auto set = [](double value) {
        return [value](client_config& config) { config.clock_drift = value; };
    };
    using limits = std::numeric_limits<double>;

    for (const double value : {0.0, -0.0, 0.01, 0.5, limits::denorm_min()})
        BOOST_TEST(complaint(set(value)) == "", value);
    check_rejected(set(-0.01), {"clock_drift", "-0.01", "0 to 0.5"});
    check_rejected(set(0.51), {"clock_drift", "0.51"});
    check_rejected(set(limits::quiet_NaN()), {"clock_drift", "nan"});
    check_rejected(set(limits::infinity()), {"clock_drift", "inf"});
    check_rejected(set(-limits::infinity()), {"clock_drift", "-inf"});
    check_rejected(set(-limits::denorm_min()), {"clock_drift"});
}

BOOST_AUTO_TEST_CASE(a_key_prefix_has_at_most_128_bytes)
{
    const auto set = [](std::size_t size) {
        return [size](client_config& config) { config.key_prefix.assign(size, 'x'); };
    };

    BOOST_TEST(complaint(set(0)) == "");
    BOOST_TEST(complaint(set(128)) == "");
    check_rejected(set(129), {"key_prefix", "129 bytes", "128"});
}

BOOST_AUTO_TEST_CASE(there_are_1_to_15_nodes)
{
    const auto set = [](std::size_t count) {
        return [count](client_config& config) { config.nodes = nodes_named(count); };
    };

    for (std::size_t count = 1; count <= 15; ++count)
        BOOST_TEST(complaint(set(count)) == "", count);
    check_rejected(set(0), {"nodes", "0 entries", "1 to 15"});
    check_rejected(set(16), {"nodes", "16 entries", "1 to 15"});
}

BOOST_AUTO_TEST_CASE(a_node_is_listed_once)
{
    check_rejected([](auto& c) { c.nodes[2] = c.nodes[0]; }, {"'n0:6379'", "twice"});
    check_rejected(
        [](auto& c) { c.nodes = parse_nodes("unix:///a,unix:///b,unix:///a"); },
        {"'unix:/a'", "twice"}
    );
    check_rejected(
        [](auto& c) { c.nodes = parse_nodes("redis://a,redis://b,redis://a:6379"); },
        {"'a:6379'", "twice"}
    );
}

BOOST_AUTO_TEST_CASE(a_login_tls_or_another_database_does_not_make_another_node)
{
    for (const char* const list :
         {"redis://a,redis://me:secret@a", "redis://a,rediss://a", "redis://a/0,redis://a/1"})
        check_rejected([list](auto& c) { c.nodes = parse_nodes(list); }, {"'a:6379'", "twice"});
}

BOOST_AUTO_TEST_CASE(another_port_makes_another_node)
{
    BOOST_TEST(complaint([](auto& c) { c.nodes = parse_nodes("redis://a:1,redis://a:2"); }) == "");
}

BOOST_AUTO_TEST_CASE(a_node_needs_an_address)
{
    check_rejected([](auto& c) { c.nodes[1].host.clear(); }, {"host", "unix_socket"});
    check_rejected([](auto& c) { c.nodes[1].port = 0; }, {"'n1:0'", "port is 0", "1 to 65535"});
}

BOOST_AUTO_TEST_CASE(a_unix_socket_needs_neither_host_nor_port)
{
    const auto change = [](client_config& config) {
        config.nodes[1].unix_socket = "/run/redis.sock";
        config.nodes[1].host.clear();
        config.nodes[1].port = 0;
    };

    BOOST_TEST(complaint(change) == "");
}

BOOST_AUTO_TEST_CASE(the_path_of_a_unix_socket_has_at_most_107_bytes)
{
    const auto of_size = [](std::size_t size) {
        return [size](client_config& config) {
            config.nodes[1].unix_socket = "/" + std::string(size - 1, 's');
        };
    };

    BOOST_TEST(complaint(of_size(107)) == "");
    check_rejected(of_size(108), {"108 bytes", "at most 107"});
}

BOOST_AUTO_TEST_CASE(tls_over_a_unix_socket_is_rejected)
{
    const auto change = [](client_config& config) {
        config.nodes[1].unix_socket = "/run/redis.sock";
        config.nodes[1].tls.emplace();
    };

    check_rejected(change, {"'unix:/run/redis.sock'", "TLS"});
}

BOOST_AUTO_TEST_CASE(a_certificate_and_its_key_go_together)
{
    const auto set = [](const char* certificate, const char* key) {
        return [=](client_config& config) {
            tls_config& tls = config.nodes[1].tls.emplace();
            tls.cert_file = certificate;
            tls.key_file = key;
        };
    };

    BOOST_TEST(complaint(set("", "")) == "");
    BOOST_TEST(complaint(set("cert.pem", "key.pem")) == "");
    check_rejected(set("cert.pem", ""), {"'n1:6379'", "tls.cert_file", "tls.key_file"});
    check_rejected(set("", "key.pem"), {"'n1:6379'", "tls.cert_file", "tls.key_file"});
}

BOOST_AUTO_TEST_CASE(a_resource_has_1_to_512_bytes)
{
    for (std::size_t size = 0; size <= 1024; ++size)
        BOOST_TEST(may_acquire(std::string(size, 'x')) == (size >= 1 && size <= 512), size);
}

BOOST_AUTO_TEST_CASE(a_resource_may_have_any_bytes)
{
    for (int byte = 0; byte < 256; ++byte)
        BOOST_TEST(may_acquire(std::string(1, static_cast<char>(byte))), byte);
}

namespace {

std::string problem_of_ttl(const client_config& config, milliseconds ttl)
{
    return detail::problem_of_ttl(config, {ttl, 0ms, config.clock_drift});
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_ttl_is_10_ms_to_ttl_max_and_in_plain_mode_to_24_h)
{
    client_config guarded = valid_config();
    guarded.node_timeout = 1ms;
    client_config plain = guarded;
    plain.mode = mode::plain;
    for (const milliseconds ttl : {milliseconds::min(), -10ms, 0ms, 9ms, 24h + 1ms, forever})
    {
        BOOST_TEST(problem_of_ttl(plain, ttl) != "", ttl.count() << " ms");
        BOOST_TEST(problem_of_ttl(guarded, ttl) != "", ttl.count() << " ms");
    }
    for (const milliseconds ttl : {10ms, milliseconds(24h)})
        BOOST_TEST(problem_of_ttl(plain, ttl) == "");
    BOOST_TEST(problem_of_ttl(guarded, guarded.ttl_max) == "");
    BOOST_TEST(problem_of_ttl(guarded, guarded.ttl_max + 1ms) != "");
}

BOOST_AUTO_TEST_CASE(a_ttl_is_more_than_the_node_timeout)
{
    client_config config = valid_config();
    config.node_timeout = 50ms;

    BOOST_TEST(problem_of_ttl(config, 49ms) != "");
    BOOST_TEST(problem_of_ttl(config, 50ms) != "");
    BOOST_TEST(problem_of_ttl(config, 51ms) == "");
}

BOOST_AUTO_TEST_CASE(the_default_options_are_valid_with_every_node_timeout_below_10_s)
{
    client_config config = valid_config();
    for (const milliseconds node_timeout : {1ms, 50ms, 9'999ms})
    {
        config.node_timeout = node_timeout;
        BOOST_TEST(may_acquire("r", {}, config), node_timeout.count() << " ms");
    }
    config.node_timeout = 10s;
    BOOST_TEST(!may_acquire("r", {}, config));
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
        {"longest stop", {.ttl = 3s, .stop_before = 1867ms}, true},
        {"stop for too long", {.ttl = 3s, .stop_before = 1868ms}, false},
        {"negative stop", {.stop_before = -1ms}, false},
    };

    client_config config = valid_config();
    config.node_timeout = 50ms;
    for (const auto& each : cases)
        BOOST_TEST(may_acquire("r", each.options, config) == each.valid, each.what);
}

BOOST_AUTO_TEST_CASE(a_key_of_guarded_mode_does_not_begin_as_its_own_keys_do)
{
    client_config config = valid_config();
    for (const std::string prefix : {"", "r", "redlock", "redlock:"})
    {
        config.key_prefix = prefix;
        const std::string rest = std::string("redlock:").substr(prefix.size());
        config.mode = mode::guarded;
        BOOST_TEST(!may_acquire(rest + "x", {}, config), prefix);
        BOOST_TEST(may_acquire("x" + rest, {}, config) == (prefix != "redlock:"), prefix);
        config.mode = mode::plain;
        BOOST_TEST(may_acquire(rest + "x", {}, config), prefix);
    }
}

BOOST_AUTO_TEST_CASE(no_message_holds_a_login)
{
    const std::function<void(client_config&)> changes[] = {
        [](auto& c) { c.nodes[1].port = 0; },
        [](auto& c) { c.nodes[1].host.clear(); },
        [](auto& c) { c.nodes[2] = c.nodes[1]; },
        [](auto& c) { c.nodes[1].tls.emplace().cert_file = "cert.pem"; },
    };

    for (const auto& change : changes)
    {
        const std::string said = complaint([&](client_config& config) {
            for (node_config& node : config.nodes)
            {
                node.username = "SECRET_USER";
                node.password = "SECRET_PASSWORD";
            }
            change(config);
        });
        BOOST_TEST(said != "");
        BOOST_TEST(said.find("SECRET") == said.npos, said);
    }
}

BOOST_AUTO_TEST_CASE(where_a_failover_may_happen_some_settings_have_no_place)
{
    const auto promise = [](auto& c) { c.nodes[0].overlap = 15s; };
    BOOST_TEST(complaint(promise) == "");
    check_rejected(
        [&](auto& c) { promise(c), c.nodes[0].durable = true; }, {"node 'n0:6379'", "durable"}
    );
    check_rejected(
        [&](auto& c) { promise(c), c.nodes[0].accept_cluster = true, c.key_prefix = "{a}"; },
        {"accept_cluster"}
    );
    check_rejected(
        [&](auto& c) { promise(c), c.mode = mode::plain; }, {"a quarantine, which plain mode lacks"}
    );
    check_rejected(
        [](auto& c) { c.nodes[0].overlap = -1ms; }, {"overlap is -1 ms, must be 0 to 600000 ms"}
    );
    check_rejected([](auto& c) { c.nodes[0].overlap = 11min; }, {"overlap is 660000 ms"});
    check_rejected(
        [](auto& c) { c.nodes[0].overlap = 10min, c.fence_ttl = 10min; },
        {"fence_ttl is 600000 ms", "plus the longest overlap"}
    );
}

BOOST_AUTO_TEST_CASE(sentinels_need_addresses_and_the_name_of_a_master)
{
    const auto watched = [](const std::string& master, std::size_t addresses) {
        return [=](client_config& c) {
            c.nodes[0].sentinel.emplace();
            c.nodes[0].sentinel->master = master;
            c.nodes[0].sentinel->addresses.resize(addresses, {"s", 26379});
        };
    };
    BOOST_TEST(complaint(watched("m", 1)) == "");
    BOOST_TEST(complaint(watched("m", core::max_sentinels)) == "");
    check_rejected(watched("", 1), {"sentinel.master is ''"});
    check_rejected(watched("a b", 1), {"sentinel.master is 'a b'"});
    check_rejected(watched("m", 0), {"sentinel.addresses has 0 entries, must have 1 to 15"});
    check_rejected(watched("m", core::max_sentinels + 1), {"has 16 entries"});
    check_rejected(
        [&](auto& c) { watched("m", 1)(c), c.nodes[0].sentinel->addresses[0].port = 0; },
        {"sentinel.addresses has 's:0'"}
    );
    check_rejected(
        [&](auto& c) { watched("m", 1)(c), c.nodes[0].unix_socket = "/r.sock"; },
        {"sentinel and unix_socket can't be combined"}
    );
}

BOOST_AUTO_TEST_CASE(a_group_is_listed_once_whatever_sentinels_are_named)
{
    const auto listed = [](const char* urls) {
        return complaint([urls](auto& c) { c.nodes = parse_nodes(urls); });
    };
    const char* const twice = "is listed twice";
    BOOST_TEST(
        listed("redis+sentinel://a,b/m,redis+sentinel://b,c/m").find(twice) != std::string::npos
    );
    BOOST_TEST(listed("redis+sentinel://a,b/m,redis+sentinel://a,b/n") == "");
    BOOST_TEST(listed("redis+sentinel://a/m,redis+sentinel://b/m,redis+sentinel://a:1/m") == "");
}

BOOST_AUTO_TEST_CASE(while_ttl_max_is_raised_there_is_another_one)
{
    const auto set = [](milliseconds other) {
        return [other](client_config& c) { c.other_ttl_max = other; };
    };
    BOOST_TEST(complaint(set(0ms)) == "");
    BOOST_TEST(complaint(set(60s)) == "");
    BOOST_TEST(complaint(set(10ms)) == "");
    check_rejected(set(30s), {"other_ttl_max is 30000 ms, like ttl_max"});
    check_rejected(set(9ms), {"other_ttl_max is 9 ms, must be 10 to"});
    check_rejected(set(-1ms), {"other_ttl_max is -1 ms"});
    check_rejected(set(25h), {"other_ttl_max"});
    check_rejected([&](auto& c) { set(1h)(c), c.fence_ttl = 1h; }, {"fence_ttl is 3600000 ms"});
}

BOOST_AUTO_TEST_SUITE_END()
