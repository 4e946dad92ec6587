// The same on Valkey, where it is installed.

#include <redlock/client.hpp>
#include <redlock/diagnostics.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "support/client_runner.hpp"
#include "support/needs.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"

BOOST_AUTO_TEST_SUITE(
    test_valkey,
    *boost::unit_test::precondition(redlock::test::needs("valkey-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

constexpr const char* resource = "orders:42";

/// Acquires, denies, extends and releases, with and without the scripts.
void check_that_everything_works(const std::vector<redis_server*>& servers)
{
    std::vector<std::string> urls;
    for (const redis_server* server : servers)
        urls.push_back(server->url());
    asio::io_context context;
    client_runner locks(context, config_for(urls));
    locks.wait_for_all_nodes();
    const auto on_all = [&](auto condition) {
        return run_until(context, [&] {
            return std::ranges::all_of(servers, [&](redis_server* server) {
                return condition(*server);
            });
        });
    };
    diagnostics report;

    lease held = run(context, locks->async_acquire(resource, 10s));
    BOOST_TEST(on_all([](redis_server& server) {
        return server.client().pttl(resource) > 0 && server.client().pttl(resource) <= 10'000;
    }));

    const lease denied =
        run(context, locks->async_try_acquire(resource, {.ttl = 10s, .report = &report}));
    BOOST_TEST(!denied);
    BOOST_TEST(std::ranges::count_if(report.votes, [](const node_vote& each) {
                   return each.reason == reason::held && each.held_for.has_value();
               }) >= 2);

    run(context, held.async_extend(60s));
    BOOST_TEST(on_all([](redis_server& server) { return server.client().pttl(resource) > 50'000; })
    );

    for (redis_server* server : servers)
        server->command({"SCRIPT", "FLUSH"});
    run(context, held.async_extend(600s));
    BOOST_TEST(run(context, held.async_release()) == release_outcome::released);
    BOOST_TEST(on_all([](redis_server& server) { return !server.client().exists(resource); }));
}

}  // namespace

BOOST_AUTO_TEST_CASE(everything_works_on_valkey)
{
    redis_servers servers(3, {.program = "valkey-server"});
    std::vector<redis_server*> all;
    for (redis_server& server : servers)
        all.push_back(&server);

    check_that_everything_works(all);
}

BOOST_AUTO_TEST_CASE(
    valkey_and_redis_make_a_quorum_together,
    *boost::unit_test::precondition(needs("redis-server"))
)
{
    redis_server first({.program = "valkey-server"});
    redis_server second({.program = "redis-server"});
    redis_server third({.program = "valkey-server"});

    check_that_everything_works({&first, &second, &third});
}

BOOST_AUTO_TEST_SUITE_END()
