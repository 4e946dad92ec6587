// The nodes of a new client, which count as absent only once they had a chance to connect.

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <tuple>

#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_first_chance)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

constexpr milliseconds longest = 5s;
constexpr acquire_options one_round{.ttl = 10s, .wait = 0ms};

/// Three nodes that connect for the first time.
struct new_client : client_fixture
{
    new_client() : client_fixture(guarded(3))
    {
        each_node([](fake_node& node) { node.starts(node_state::connecting); });
        start_client();
    }

    void become(node_state state, std::size_t first, std::size_t last)
    {
        each_node(first, last, [state](fake_node& node) { node.becomes(state); });
        run_until_idle();
    }

    auto try_it() { return launch(locks().async_try_acquire("orders:42", 10s)); }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_try_waits_for_connections_longer_than_for_answers, new_client)
{
    const auto tries = try_it();
    advance(1s);
    BOOST_TEST(!tries->done());
    become(node_state::ready, 0, 2);
    BOOST_TEST_REQUIRE(tries->done());
    BOOST_TEST(!tries->value().expired());
}

BOOST_FIXTURE_TEST_CASE(a_quorum_that_decides_is_enough, new_client)
{
    hold_elsewhere("orders:42", 10s, 0, 2);
    const auto tries = try_it();
    become(node_state::ready, 0, 2);
    BOOST_TEST_REQUIRE(tries->done());
    BOOST_TEST(tries->code() == error_code());
    BOOST_TEST(tries->value().expired());
}

BOOST_FIXTURE_TEST_CASE(a_quorum_that_does_not_decide_waits_for_the_last_node, new_client)
{
    silence(verb::acquire, 0, 1);
    const auto tries = try_it();
    become(node_state::ready, 0, 2);
    advance(1s);
    BOOST_TEST(!tries->done());
    become(node_state::ready, 2, 3);
    BOOST_TEST_REQUIRE(tries->done());
    BOOST_TEST(!tries->value().expired());
}

BOOST_FIXTURE_TEST_CASE(nodes_that_have_failed_once_are_not_waited_for, new_client)
{
    const auto tries = try_it();
    become(node_state::down, 0, 2);
    BOOST_TEST(!tries->done());
    become(node_state::rejected, 2, 3);
    BOOST_TEST_REQUIRE(tries->done());
    BOOST_TEST(tries->code() == condition::nodes_unavailable);
    // From then on a try asks at once.
    const auto again = try_it();
    run_until_idle();
    BOOST_TEST(again->done());
}

BOOST_FIXTURE_TEST_CASE(a_connection_that_takes_for_ever_is_given_up, new_client)
{
    const auto tries = try_it();
    advance(longest - 1ms);
    BOOST_TEST(!tries->done());
    advance(longest + 100ms);
    BOOST_TEST_REQUIRE(tries->done());
    BOOST_TEST(tries->code() == error::quorum_unreachable);
}

BOOST_FIXTURE_TEST_CASE(the_wait_of_an_acquisition_begins_with_the_connections, new_client)
{
    const auto waits = launch(locks().async_acquire("orders:42", {.ttl = 10s, .wait = 300ms}));
    advance(2s);
    BOOST_TEST(!waits->done());
    hold_elsewhere("orders:42", 10s, 0, 3);
    become(node_state::ready, 0, 3);
    advance(250ms);
    BOOST_TEST(!waits->done());
    advance(200ms);
    BOOST_TEST_REQUIRE(waits->done());
    BOOST_TEST(waits->code() == error::contended);
}

BOOST_FIXTURE_TEST_CASE(whoever_asks_once_waits_for_the_node_that_decides, new_client)
{
    silence(verb::inspect, 0, 1);
    silence(verb::revoke, 0, 1);
    const auto seen = launch(locks().async_inspect("orders:42"));
    const auto freed = launch(locks().async_free("orders:42"));
    const auto revoked =
        launch(locks().async_revoke("orders:42", fencing_token::from_value(1'000'000)));
    become(node_state::ready, 0, 2);
    advance(1s);
    BOOST_TEST(!seen->done());
    BOOST_TEST(!freed->done());
    BOOST_TEST(!revoked->done());
    become(node_state::ready, 2, 3);
    advance(100ms);
    BOOST_TEST_REQUIRE(seen->done());
    BOOST_TEST(seen->value().state == holding_state::free);
    BOOST_TEST_REQUIRE(freed->done());
    BOOST_TEST(freed->value() == release_outcome::already_gone);
    BOOST_TEST_REQUIRE(revoked->done());
    BOOST_TEST(revoked->code() == error::no_such_hold);
}

BOOST_FIXTURE_TEST_CASE(
    who_waits_for_connections_can_be_cancelled_and_ends_with_the_client,
    new_client
)
{
    const auto cancelled = try_it();
    const auto waits = launch(locks().async_acquire("orders:43", {.ttl = 10s, .wait = 1s}));
    const auto looks = launch(locks().async_inspect("orders:42"));
    run_until_idle();
    cancelled->cancel();
    run_until_idle();
    BOOST_TEST(cancelled->code() == boost::asio::error::operation_aborted);
    locks().cancel();
    run_until_idle();
    BOOST_TEST(waits->code() == boost::asio::error::operation_aborted);
    BOOST_TEST(looks->done());
    BOOST_TEST(sent_to(verb::acquire).empty());
}

BOOST_AUTO_TEST_SUITE_END()
