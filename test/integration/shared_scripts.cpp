// Questions of one turn share a script. What goes wrong with one is no matter to the others.

#include <redlock/client.hpp>
#include <redlock/initialize.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/client_runner.hpp"
#include "support/contains.hpp"
#include "support/loop.hpp"
#include "support/needs.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"

BOOST_AUTO_TEST_SUITE(
    test_shared_scripts,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

/// A client of one node, and what it does with several resources in one turn.
struct one_node
{
    explicit one_node(const redis_server_options& options = {}) : server(options) {}

    /// Connects with what is in `config` now.
    void connect()
    {
        if (config.mode == mode::guarded)
            run(context, async_initialize_nodes(context, config));
        locks.emplace(context, config);
        locks->wait_for_all_nodes();
    }

    std::vector<error_code> acquire(const std::vector<std::string>& names)
    {
        std::vector<error_code> told(names.size());
        held.resize(names.size());
        std::size_t left = names.size();
        for (std::size_t i = 0; i < names.size(); ++i)
        {
            (*locks)->async_try_acquire(names[i], 25s, [&, i](error_code ec, lease got) {
                told[i] = ec;
                held[i] = std::move(got);
                --left;
            });
        }
        BOOST_TEST(run_until(context, [&left] { return left == 0; }));
        return told;
    }

    std::vector<error_code> extend(std::chrono::milliseconds ttl)
    {
        std::vector<error_code> told(held.size());
        std::size_t left = held.size();
        for (std::size_t i = 0; i < held.size(); ++i)
        {
            held[i].async_extend(ttl)([&, i](error_code ec) {
                told[i] = ec;
                --left;
            });
        }
        BOOST_TEST(run_until(context, [&left] { return left == 0; }));
        return told;
    }

    std::vector<release_outcome> release()
    {
        std::vector<release_outcome> told(held.size());
        std::size_t left = held.size();
        for (std::size_t i = 0; i < held.size(); ++i)
        {
            held[i].async_release([&, i](error_code ec, release_outcome outcome) {
                BOOST_TEST(!ec);
                told[i] = outcome;
                --left;
            });
        }
        BOOST_TEST(run_until(context, [&left] { return left == 0; }));
        return told;
    }

    /// Since the last call. Commands within scripts count too.
    std::size_t calls_of(const std::string& command)
    {
        const std::string stats = server.command({"INFO", "commandstats"});
        const std::string before = "cmdstat_" + command + ":calls=";
        const std::size_t at = stats.find(before);
        return at == stats.npos ? 0 : std::stoul(stats.substr(at + before.size()));
    }

    void forget_calls() { server.command({"CONFIG", "RESETSTAT"}); }

    bool has(const std::string& key) { return server.client().exists(key); }

    redis_server server;
    client_config config = config_for({server.url()});
    loop context;
    std::optional<client_runner> locks;
    std::vector<lease> held;
};

const std::vector<std::string> three{"locks:a", "locks:b", "locks:c"};

template <class T>
void check(const std::vector<T>& told, const std::vector<std::type_identity_t<T>>& expected)
{
    BOOST_TEST(told == expected, boost::test_tools::per_element());
}

constexpr auto released = release_outcome::released;

}  // namespace

BOOST_AUTO_TEST_CASE(extensions_and_releases_of_a_turn_take_a_script_each)
{
    one_node f;
    f.connect();
    check(f.acquire(three), {{}, {}, {}});
    f.forget_calls();

    check(f.extend(60s), {{}, {}, {}});
    BOOST_TEST(f.calls_of("evalsha") == 1u);
    for (const std::string& each : three)
        BOOST_TEST(f.server.client().pttl(each) > 50'000);

    check(f.release(), {released, released, released});
    BOOST_TEST(f.calls_of("evalsha") == 2u);
    for (const std::string& each : three)
        BOOST_TEST(!f.has(each));
}

BOOST_AUTO_TEST_CASE(a_thousand_resources_may_be_released_in_a_turn)
{
    one_node f;
    f.connect();
    std::vector<std::string> names;
    for (int i = 0; i < 1000; ++i)
        names.push_back(std::to_string(i));
    f.acquire(names);
    BOOST_TEST(f.server.command({"DBSIZE"}) == "(integer) 1000");

    check(f.release(), std::vector(1000, released));

    BOOST_TEST(f.server.command({"DBSIZE"}) == "(integer) 0");
}

BOOST_AUTO_TEST_CASE(a_key_of_another_type_is_the_error_of_its_own_lease)
{
    one_node f;
    f.connect();
    check(f.acquire(three), {{}, {}, {}});
    f.server.command({"DEL", three[1]});
    f.server.command({"RPUSH", three[1], "somebody else's"});

    check(f.extend(60s), {{}, error::node_rejected, {}});
    check(f.release(), {released, release_outcome::unconfirmed, released});

    BOOST_TEST(!f.has(three[0]));
    BOOST_TEST(f.has(three[1]));
    BOOST_TEST(!f.has(three[2]));
}

// Redis refuses a script for one key that the user may not touch.
BOOST_AUTO_TEST_CASE(a_forbidden_key_is_the_error_of_its_own_lease)
{
    one_node f;
    const auto permit = [&f](const std::vector<std::string>& keys) {
        std::vector<std::string> command{"ACL", "SETUSER", "locks", "on", ">secret", "resetkeys"};
        command.insert(command.end(), keys.begin(), keys.end());
        command.push_back("+@all");
        BOOST_TEST_REQUIRE(f.server.command(command) == "OK");
    };
    f.config.nodes[0].username = "locks";
    f.config.nodes[0].password = "secret";
    permit({"~*"});
    f.connect();
    check(f.acquire(three), {{}, {}, {}});
    permit({"~locks:a", "~locks:c"});
    f.forget_calls();

    check(f.extend(60s), {{}, error::node_rejected, {}});
    // One list that was refused, then each by itself, of which one is refused.
    BOOST_TEST(f.calls_of("evalsha") == 0u);
    BOOST_TEST(f.calls_of("eval") == 2u);
    check(f.release(), {released, release_outcome::unconfirmed, released});

    BOOST_TEST(!f.has(three[0]));
    BOOST_TEST(f.has(three[1]));
    BOOST_TEST(!f.has(three[2]));
}

BOOST_AUTO_TEST_CASE(a_forbidden_key_is_the_error_of_its_own_acquisition_in_guarded_mode_too)
{
    one_node f;
    BOOST_TEST_REQUIRE(
        f.server.command(
            {"ACL",
             "SETUSER",
             "locks",
             "on",
             ">secret",
             "resetkeys",
             "~redlock:*",
             "~locks:a",
             "~locks:c",
             "+@all"}
        ) == "OK"
    );
    f.config.nodes[0].username = "locks";
    f.config.nodes[0].password = "secret";
    f.config.mode = mode::guarded;
    f.connect();

    check(f.acquire(three), {{}, error::node_rejected, {}});

    BOOST_TEST(f.has(three[0]));
    BOOST_TEST(!f.has(three[1]));
    BOOST_TEST(f.has(three[2]));
}

// It wants all keys of a command in one slot.
BOOST_AUTO_TEST_CASE(a_node_of_a_cluster_gets_a_script_for_each_key)
{
    redis_server_options options;
    options.extra = {"--cluster-enabled", "yes"};
    one_node f(options);
    std::vector<std::string> slots{"CLUSTER", "ADDSLOTS"};
    for (int slot = 0; slot < 16384; ++slot)
        slots.push_back(std::to_string(slot));
    BOOST_TEST_REQUIRE(f.server.command(slots) == "OK");
    BOOST_TEST_REQUIRE(run_until(f.context, [&f] {
        return contains(f.server.command({"CLUSTER", "INFO"}), "cluster_state:ok");
    }));
    f.config.nodes[0].accept_cluster = true;
    f.connect();

    check(f.acquire(three), {{}, {}, {}});
    check(f.extend(60s), {{}, {}, {}});
    check(f.release(), {released, released, released});

    BOOST_TEST(f.server.command({"DBSIZE"}) == "(integer) 0");
}

BOOST_AUTO_TEST_SUITE_END()
