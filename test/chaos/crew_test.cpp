// The workers, proven before anything is proven with them.

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <stdexcept>
#include <string>
#include <tuple>

#include "chaos/checker.hpp"
#include "chaos/crew.hpp"
#include "chaos/fenced_store.hpp"
#include "chaos/history.hpp"
#include "chaos/worker_options.hpp"
#include "support/eventually.hpp"
#include "support/needs.hpp"
#include "support/redis_server.hpp"

BOOST_AUTO_TEST_SUITE(
    test_crew,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(a_worker_ends_after_its_acquisitions_and_has_logged_each)
{
    redis_server node;
    crew workers;
    workers.hire({.nodes = node.url(), .acquisitions = 20, .node_timeout = 1s});

    BOOST_TEST(workers.end_within(20s));

    const history all = workers.read();
    BOOST_TEST(granted(all).size() == 20u);
    BOOST_TEST(workers.claims() == 20u);
    for (const claim& one : claims_of(all.operations))
    {
        BOOST_TEST((one.acquired->invoked <= one.begin));
        BOOST_TEST((one.begin <= one.end));
        BOOST_TEST(one.acquired->rounds == 1u);
        BOOST_TEST(one.acquired->resource < 4u);
    }
    BOOST_TEST(workers.output() == "");
}

BOOST_AUTO_TEST_CASE(a_killed_worker_claims_what_it_held_until_the_deadline)
{
    redis_server node;
    crew workers;
    workers.hire(
        {.nodes = node.url(),
         .how = {.ttl_max = 60s},
         .ttl = 60s,
         .long_hold = 60s,
         .one_long_of = 1}
    );
    BOOST_TEST_REQUIRE(workers.reaches(1, 20s));

    workers.kill();

    const history all = workers.read();
    const std::vector<claim> claims = claims_of(all.operations);
    BOOST_TEST_REQUIRE(!claims.empty());
    BOOST_TEST((claims.back().end - claims.back().begin > 50s));
}

BOOST_AUTO_TEST_CASE(workers_extend_and_use_the_store_and_their_history_is_clean)
{
    redis_server node;
    redis_server store;
    crew workers;
    workers.hire(
        {.nodes = node.url(),
         .how = {.mode = "guarded", .ttl_max = 1s},
         .tasks = 3,
         .acquisitions = 20,
         .ttl = 90ms,
         .node_timeout = 80ms,
         .wait = 1s,
         .long_hold = 200ms,
         .one_long_of = 2,
         .extends = true,
         .store = store.port()}
    );

    BOOST_TEST_REQUIRE(workers.end_within(30s));

    history all = workers.read();
    all.store = fenced_store::entries(store.client(), 4);
    BOOST_TEST(granted(all).size() == 60u);
    std::size_t counts[action_count]{};
    for (const operation& one : all.operations)
        counts[static_cast<std::size_t>(one.what)] += one.result == outcome::ok;
    for (const action what :
         {action::extend, action::check, action::lose, action::release, action::read, action::write
         })
        BOOST_TEST((counts[static_cast<std::size_t>(what)] > 0), to_string(what));
    const auto found = check(all, tokens::increasing);
    BOOST_TEST(found.empty(), describe(found, all));
    BOOST_TEST(workers.output() == "");
}

BOOST_AUTO_TEST_CASE(a_worker_that_was_killed_goes_on_in_another_log)
{
    redis_server node;
    crew workers;
    workers.hire({.nodes = node.url(), .node_timeout = 1s});
    BOOST_TEST_REQUIRE(workers.reaches(5, 20s));

    workers.process(0).kill();
    const std::size_t before = workers.claims();
    workers.rehire(0);

    BOOST_TEST(workers.each_makes(5, 20s));
    workers.kill();
    BOOST_TEST(granted(workers.read()).size() >= before + 5);
    BOOST_TEST(workers.output() == "");
}

BOOST_AUTO_TEST_CASE(a_worker_tells_why_it_was_not_granted)
{
    redis_server node;
    node.command({"SET", resource_name(0), "somebody", "PX", "60000"});
    crew workers;
    workers.hire({.nodes = node.url(), .acquisitions = 1, .resources = 1, .node_timeout = 1s});

    BOOST_TEST(eventually([&] { return !workers.read().notes.empty(); }, 20s));
    BOOST_TEST(!workers.end_within(0ms));

    const history all = workers.read();
    BOOST_TEST(granted(all).empty());
    BOOST_TEST_REQUIRE(!all.notes.empty());
    BOOST_TEST(all.notes.front().find("held") != std::string::npos, all.notes.front());
}

BOOST_AUTO_TEST_CASE(a_worker_that_cannot_work_says_so)
{
    crew workers;
    workers.hire({.nodes = "redis://"});

    BOOST_TEST(workers.end_within(20s));

    BOOST_TEST(workers.output().starts_with("worker: "));
}

BOOST_AUTO_TEST_CASE(options_survive_the_command_line)
{
    const worker_options options{
        .nodes = "redis://a,redis://b",
        .how = {.mode = "guarded", .ttl_max = 7s, .durable_nodes = true},
        .log = "/a/file",
        .acquisitions = 5'000'000'000,
        .first_resource = 3,
        .hold = 8ms
    };

    const worker_options read = from_arguments<worker_options>(to_arguments(options));

    BOOST_TEST(to_arguments(read) == to_arguments(options), boost::test_tools::per_element());
    BOOST_TEST(read.how.durable_nodes);
    BOOST_TEST(read.acquisitions == 5'000'000'000u);
    BOOST_CHECK_THROW(
        std::ignore = from_arguments<worker_options>({"what", "1"}), std::invalid_argument
    );
    BOOST_CHECK_THROW(
        std::ignore = from_arguments<worker_options>({"hold", "x"}), std::invalid_argument
    );
    BOOST_CHECK_THROW(std::ignore = from_arguments<worker_options>({"hold"}), std::out_of_range);
}

BOOST_AUTO_TEST_SUITE_END()
