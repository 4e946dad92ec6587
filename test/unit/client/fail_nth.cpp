#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <vector>

#include "support/at_every_step.hpp"
#include "support/for_each_failure.hpp"

BOOST_AUTO_TEST_SUITE(test_fail_nth)

/** A whole life of a lease, again and again, while another operation of a node fails each time.

    `for_each_failure` goes on until the scenario is over before its operation is reached, so that
    every operation has failed once.
*/

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::error::connection_refused;

namespace {

struct failure
{
    const char* name;
    rule how;
    std::size_t keys_left = 0;  ///< At most, before the ttl ends.
};

const std::vector<failure> failures{
    // A release is not repeated while its connection lives. Then the ttl frees the key.
    {"the command is lost", rule().never(), 1},
    {"the answer is lost", rule().loses_answer()},
    {"the answer is late", rule().after(100ms)},
    {"the command runs late", rule().runs_after(100ms)},
    {"the connection breaks", rule().breaks_connection(100ms)},
    {"the node takes no more", rule().absent(reason::overloaded)},
    {"the node is gone", rule().absent(reason::down, connection_refused)},
};

/// Replays a scenario with each kind of failure, and then looks at what is left on the nodes.
template <class Scenario>
void for_each_kind_of_failure(std::size_t nodes, Scenario scenario)
{
    for (const failure& each : failures)
    {
        BOOST_TEST_CONTEXT(each.name)
        {
            for_each_failure(each.how, [&](const std::shared_ptr<fail_nth>& fuse) {
                running_client fixture({.nodes = nodes});
                fixture.fail_with(fuse);

                scenario(fixture);

                fixture.advance(settling_time);
                BOOST_TEST(fixture.keys_left() <= each.keys_left);
                fixture.advance(20s);
                BOOST_TEST(fixture.keys_left() == 0u);
            });
        }
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(one_failure_among_five_nodes_is_not_noticed)
{
    for_each_kind_of_failure(5, [](client_fixture& fixture) {
        lease held = fixture.acquire("orders:42", {.wait = 0ms});
        const auto [extended] = fixture.complete(held.async_extend(20s));
        const auto [ec, outcome] = fixture.complete(held.async_release());

        BOOST_TEST(extended == error_code());
        BOOST_TEST(ec == error_code());
        BOOST_TEST(outcome == release_outcome::released);
        BOOST_TEST(fixture.time().elapsed() == 0ms);
    });
}

BOOST_AUTO_TEST_CASE(where_every_node_counts_a_failure_is_repaired_by_another_round)
{
    for_each_kind_of_failure(2, [](client_fixture& fixture) {
        lease held = fixture.acquire("orders:42", {.wait = 5s});
        auto [extended] = fixture.complete(held.async_extend(20s));
        if (extended)
        {
            const bool says_why =
                extended == error::quorum_unreachable || extended == error::overloaded;
            BOOST_TEST(says_why, extended.message());
            BOOST_TEST(!held.expired());
            fixture.advance(settling_time);
            std::tie(extended) = fixture.complete(held.async_extend(20s));
        }
        const auto [ec, outcome] = fixture.complete(held.async_release());

        BOOST_TEST(extended == error_code());
        BOOST_TEST(ec == error_code());
        BOOST_TEST(outcome != release_outcome::already_gone);
    });
}

BOOST_AUTO_TEST_CASE(a_failed_attempt_leaves_nothing)
{
    for_each_kind_of_failure(3, [](client_fixture& fixture) {
        fixture.hold_elsewhere("orders:42", 1h, 0, 2);

        const auto [ec, held] =
            fixture.complete(fixture.locks().async_try_acquire("orders:42", 10s));

        BOOST_TEST((!ec || ec == error::quorum_unreachable), ec.message());
        BOOST_TEST(!held);
    });
}

BOOST_AUTO_TEST_SUITE_END()
