// Nodes that are given by names, whose look-ups hang, fail and change.

#include <redlock/client.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <netdb.h>
#include <pthread.h>

#include "support/client_runner.hpp"
#include "support/contains.hpp"
#include "support/loop.hpp"
#include "support/needs.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"
#include "support/scripted_name.hpp"

BOOST_AUTO_TEST_SUITE(
    test_names,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

using std::chrono::steady_clock;

/// Far less than a look-up hangs, and far more than anything takes on a busy machine.
constexpr auto soon = 4s;

std::string url_of(const scripted_name& name, const redis_server& server)
{
    return "redis://" + name.text() + ":" + std::to_string(server.port());
}

/// Servers whose names lead to them, until a test says something else.
struct named_nodes
{
    explicit named_nodes(std::size_t count) : servers(count)
    {
        std::vector<std::string> urls;
        for (redis_server& server : servers)
        {
            names.emplace_back().lead_here();
            urls.push_back(url_of(names.back(), server));
        }
        config = config_for(urls);
    }

    redis_servers servers;
    std::deque<scripted_name> names;
    loop context;
    client_config config;
};

struct one_named_node : named_nodes
{
    one_named_node() : named_nodes(1) {}

    scripted_name& name = names[0];
};

/// No thread can be started while it lives: the stack that it would get is larger than all memory.
class no_threads
{
public:
    no_threads()
    {
        pthread_getattr_default_np(&before_);
        pthread_attr_t huge;
        pthread_attr_init(&huge);
        pthread_attr_setstacksize(&huge, std::size_t{1} << 46);
        BOOST_TEST_REQUIRE(pthread_setattr_default_np(&huge) == 0);
        pthread_attr_destroy(&huge);
    }

    no_threads(const no_threads&) = delete;
    no_threads& operator=(const no_threads&) = delete;

    ~no_threads()
    {
        pthread_setattr_default_np(&before_);
        pthread_attr_destroy(&before_);
    }

private:
    pthread_attr_t before_{};
};

}  // namespace

BOOST_AUTO_TEST_CASE(names_that_hang_delay_no_other_node)
{
    named_nodes nodes(5);
    nodes.names[0].hang();
    nodes.names[1].hang();
    const auto start = steady_clock::now();
    client_runner locks(nodes.context, nodes.config);

    BOOST_TEST(locks.reaches(3));
    BOOST_TEST((steady_clock::now() - start < soon));
}

BOOST_FIXTURE_TEST_CASE(a_name_that_hangs_delays_no_look_up_of_the_program, one_named_node)
{
    name.hang();
    client_runner locks(context, config);
    BOOST_TEST(run_until(context, [this] { return name.lookups() > 0; }));

    const auto start = steady_clock::now();
    asio::ip::tcp::resolver resolver(context);
    std::optional<error_code> outcome;
    resolver.async_resolve("localhost", "1", [&](error_code ec, const auto&) { outcome = ec; });
    BOOST_TEST(run_until(context, [&] { return outcome.has_value(); }));

    BOOST_TEST(*outcome == error_code());
    BOOST_TEST((steady_clock::now() - start < soon));
}

BOOST_FIXTURE_TEST_CASE(a_context_ends_while_a_name_hangs, one_named_node)
{
    name.hang();
    const auto start = steady_clock::now();
    {
        client_runner locks(context, config);
        BOOST_TEST(run_until(context, [this] { return name.lookups() > 0; }));
        locks->cancel();
        context.restart();
        context.run();
    }

    BOOST_TEST((steady_clock::now() - start < soon));
}

BOOST_AUTO_TEST_CASE(a_context_may_be_destroyed_while_a_name_hangs)
{
    redis_server server;
    scripted_name name;
    const auto start = steady_clock::now();
    {
        loop context;
        client locks(context, config_for({url_of(name, server)}));
        locks.async_run([](error_code) {});
        BOOST_TEST(run_until(context, [&] { return name.lookups() > 0; }));
    }

    BOOST_TEST((steady_clock::now() - start < soon));
    name.lead_here();  // The look-up ends, and touches nothing that is gone.
}

BOOST_FIXTURE_TEST_CASE(
    the_addresses_that_were_found_last_are_used_while_a_name_hangs,
    one_named_node
)
{
    client_runner locks(context, config);
    locks.wait_for_all_nodes();
    name.hang();
    servers[0].restart();
    BOOST_TEST(locks.reaches(0, node_state::down));
    const auto start = steady_clock::now();

    BOOST_TEST(locks.reaches(0, node_state::ready));
    BOOST_TEST((steady_clock::now() - start < soon));
}

BOOST_FIXTURE_TEST_CASE(they_are_used_as_well_while_name_servers_fail, one_named_node)
{
    client_runner locks(context, config);
    locks.wait_for_all_nodes();
    name.fail(EAI_AGAIN);
    servers[0].restart();
    BOOST_TEST(locks.reaches(0, node_state::down));

    BOOST_TEST(locks.reaches(0, node_state::ready));
}

BOOST_FIXTURE_TEST_CASE(a_name_that_exists_no_more_is_the_reason, one_named_node)
{
    client_runner locks(context, config);
    locks.wait_for_all_nodes();
    name.fail(EAI_NONAME);
    servers[0].restart();
    const auto is_told = [&] { return locks.status(0).code == asio::error::host_not_found; };

    BOOST_TEST(run_until(context, is_told));
    BOOST_TEST(locks.status(0).state == node_state::down);
}

BOOST_FIXTURE_TEST_CASE(
    a_look_up_that_hangs_is_the_reason_and_is_joined_by_the_next,
    one_named_node
)
{
    name.hang();
    client_runner locks(context, config);
    const auto is_told = [&] {
        return locks.status(0).code == asio::error::host_not_found_try_again;
    };
    BOOST_TEST(run_until(context, is_told));
    // A pause is 50 ms at first, and so the next connection waits for the name now.
    static_cast<void>(run_until(context, [] { return false; }, 500ms));
    BOOST_TEST(name.lookups() == 1u);

    name.lead_here();
    BOOST_TEST(locks.reaches(1));
    BOOST_TEST(name.lookups() == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_look_up_without_a_thread_is_the_reason, one_named_node)
{
    auto threads = std::make_unique<no_threads>();
    client_runner locks(context, config);
    BOOST_TEST(locks.reaches(0, node_state::down));
    BOOST_TEST(locks.status(0).code == asio::error::try_again);

    threads.reset();
    BOOST_TEST(locks.reaches(1));
}

BOOST_AUTO_TEST_SUITE_END()
