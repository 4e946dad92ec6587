// What users test their programs with: nodes without servers, and a clock that is moved by hand.

#include <redlock/error.hpp>
#include <redlock/testing.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "support/contains.hpp"
#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_testing)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

/// A program with one client.
struct program
{
    explicit program(client_config config = {}) : locks(nodes.make_client(std::move(config)))
    {
        locks.async_run(asio::detached);
        nodes.run_until_idle();
    }

    /// What becomes of an acquisition within ten seconds.
    auto acquire(const acquire_options& options)
    {
        const auto started = launch(locks.async_acquire("a", options));
        for (int tenth = 0; tenth < 100 && !started->done(); ++tenth)
            nodes.advance(100ms);
        BOOST_TEST_REQUIRE(started->done());
        return std::move(started->outcome);
    }

    asio::io_context context;
    testing::fake_nodes nodes{context};
    client locks;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_lease_expires_when_its_time_was_let_pass)
{
    program tested;
    const auto [ec, held] = tested.acquire({.ttl = 10s});
    BOOST_TEST_REQUIRE(ec == error_code());
    BOOST_TEST(tested.nodes.held("a"));

    tested.nodes.advance(8s);
    BOOST_TEST(!held.expired());
    tested.nodes.advance(2s);
    BOOST_TEST(held.expired());
    BOOST_TEST(!tested.nodes.held("a"));
}

BOOST_AUTO_TEST_CASE(an_extended_lease_lives_until_another_has_its_key)
{
    program tested;
    auto [ec, held] = tested.acquire({.ttl = 3s, .auto_extend = true});
    BOOST_TEST_REQUIRE(ec == error_code());
    const auto lost = launch(held.async_wait_lost());

    tested.nodes.advance(10min);
    BOOST_TEST(!held.expired());
    BOOST_TEST(!lost->done());

    tested.nodes.lose("a");
    tested.nodes.advance(3s);
    BOOST_TEST(lost->done());
    BOOST_TEST(held.last_extension() == error::lease_lost);
}

BOOST_AUTO_TEST_CASE(who_stood_still_finds_its_lease_expired_at_the_first_look)
{
    program tested;
    const auto [ec, held] = tested.acquire({.ttl = 3s, .auto_extend = true});
    BOOST_TEST_REQUIRE(ec == error_code());

    tested.nodes.freeze(1h);
    BOOST_TEST(held.expired());
    BOOST_TEST((tested.nodes.elapsed() > 1h));
}

BOOST_AUTO_TEST_CASE(a_resource_that_is_held_elsewhere_is_denied_until_it_is_free)
{
    program tested;
    tested.nodes.hold_elsewhere("a", 5s);
    BOOST_TEST(std::get<0>(tested.acquire({.wait = 1s})) == error::contended);
    BOOST_TEST(std::get<0>(tested.acquire({.wait = 8s})) == error_code());
}

BOOST_AUTO_TEST_CASE(a_key_without_a_ttl_is_free_when_it_was_lost)
{
    program tested;
    tested.nodes.hold_elsewhere("a", forever);
    BOOST_TEST(std::get<0>(tested.acquire({.wait = 8s})) == error::contended);
    tested.nodes.lose("a");
    BOOST_TEST(std::get<0>(tested.acquire({.wait = 0s})) == error_code());
}

BOOST_AUTO_TEST_CASE(two_clients_compete_for_a_resource)
{
    program tested;
    client other = tested.nodes.make_client();
    other.async_run(asio::detached);
    auto [ec, held] = tested.acquire({.ttl = 5s});
    BOOST_TEST_REQUIRE(ec == error_code());

    const auto waiting = launch(other.async_acquire("a", {.wait = 1min}));
    tested.nodes.advance(2s);
    BOOST_TEST(!waiting->done());

    const auto released = launch(held.async_release());
    tested.nodes.advance(2s);
    BOOST_TEST((released->value() == release_outcome::released));
    BOOST_TEST_REQUIRE(waiting->done());
    BOOST_TEST((waiting->value().fence() > held.fence()));
}

BOOST_AUTO_TEST_CASE(nodes_that_are_down_leave_no_quorum_until_they_are_back)
{
    program tested;
    tested.nodes.take_down(2);
    tested.nodes.run_until_idle();
    BOOST_TEST(std::get<0>(tested.acquire({.wait = 0s})) == error::quorum_unreachable);

    tested.nodes.take_down(1);
    tested.nodes.run_until_idle();
    BOOST_TEST(std::get<0>(tested.acquire({.wait = 0s})) == error_code());
}

BOOST_AUTO_TEST_CASE(a_client_that_is_made_while_nodes_are_down_finds_them_so)
{
    program tested;
    tested.nodes.take_down(2);
    client other = tested.nodes.make_client();
    other.async_run(asio::detached);
    tested.nodes.run_until_idle();
    BOOST_TEST((other.nodes().at(1).state == node_state::down));
    BOOST_TEST((other.nodes().at(2).state == node_state::ready));
}

BOOST_AUTO_TEST_CASE(nodes_that_failed_over_know_no_lease_and_grant_none_for_a_quarantine)
{
    program tested({.ttl_max = 10s});
    auto [ec, held] = tested.acquire({.ttl = 8s, .auto_extend = true});
    BOOST_TEST_REQUIRE(ec == error_code());
    const auto lost = launch(held.async_wait_lost());

    tested.nodes.fail_over(2, 5s);
    tested.nodes.run_until_idle();
    BOOST_TEST(!tested.nodes.held("a"));
    BOOST_TEST((tested.locks.nodes().at(1).state == node_state::quarantined));
    BOOST_TEST((tested.locks.nodes().at(2).state == node_state::ready));
    client other = tested.nodes.make_client({.ttl_max = 10s});
    other.async_run(asio::detached);
    const auto next = launch(other.async_acquire("a", {.ttl = 8s, .wait = 1min}));

    tested.nodes.advance(8s);
    BOOST_TEST(lost->done());
    BOOST_TEST((other.nodes().at(1).state == node_state::quarantined));
    BOOST_TEST(std::get<0>(tested.acquire({.wait = 0s})) == error::quarantined);
    tested.nodes.advance(6s);
    BOOST_TEST(!next->done());
    tested.nodes.advance(2s);  // The quarantine takes 15.1 s.
    BOOST_TEST_REQUIRE(next->done());
    BOOST_TEST((next->value().fence() > held.fence()));
    BOOST_TEST((other.nodes().at(1).state == node_state::ready));
}

BOOST_AUTO_TEST_CASE(a_lease_survives_the_failover_of_a_minority)
{
    program tested;
    auto [ec, held] = tested.acquire({.ttl = 3s, .auto_extend = true});
    BOOST_TEST_REQUIRE(ec == error_code());
    tested.nodes.fail_over(1);
    tested.nodes.advance(1min);
    BOOST_TEST(!held.expired());
}

BOOST_AUTO_TEST_CASE(in_plain_mode_a_failover_forgets_the_locks_of_others)
{
    program tested({.mode = mode::plain});
    tested.nodes.hold_elsewhere("a", 10s);
    tested.nodes.fail_over(3);
    tested.nodes.run_until_idle();
    BOOST_TEST(std::get<0>(tested.acquire({.wait = 0s})) == error_code());
}

BOOST_AUTO_TEST_CASE(a_client_and_its_lease_may_outlive_the_nodes)
{
    asio::io_context context;
    std::optional<testing::fake_nodes> nodes(context);
    client locks = nodes->make_client();
    locks.async_run(asio::detached);
    const auto acquired = launch(locks.async_acquire("a", {.auto_extend = true}));
    nodes->run_until_idle();
    BOOST_TEST_REQUIRE(acquired->done());
    nodes.reset();
    context.restart();
    context.poll();
}

BOOST_AUTO_TEST_CASE(bad_input_is_refused_with_its_value)
{
    asio::io_context context;
    const auto says = [](std::string_view words) {
        return [words](const std::invalid_argument& e) { return contains(e.what(), words); };
    };
    BOOST_CHECK_EXCEPTION(
        testing::fake_nodes(context, 16),
        std::invalid_argument,
        says("count of fake nodes is 16, must be 1 to 15")
    );

    testing::fake_nodes nodes(context);
    client_config config;
    config.key_prefix = "one:";
    const client first = nodes.make_client(config);
    config.key_prefix = "two:";
    BOOST_CHECK_EXCEPTION(
        static_cast<void>(nodes.make_client(config)),
        std::invalid_argument,
        says("key_prefix is 'two:', must be 'one:'")
    );
    config.node_timeout = 0ms;
    BOOST_CHECK_THROW(static_cast<void>(nodes.make_client(config)), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_program_that_is_never_idle_is_told_so)
{
    asio::io_context context;
    testing::fake_nodes nodes(context);
    const std::function<void()> again = [&]() { asio::post(context, [&]() { again(); }); };
    again();
    BOOST_CHECK_THROW(nodes.run_until_idle(), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(another_holder_is_seen_with_its_note)
{
    program tested;
    tested.nodes.hold_elsewhere("a", 10s, "another program");
    const auto asked = launch(tested.locks.async_inspect("a"));
    tested.nodes.run_until_idle();
    BOOST_TEST_REQUIRE(asked->done());
    BOOST_TEST(asked->value().state == holding_state::held);
    BOOST_TEST(asked->value().note.text() == "another program");
    BOOST_TEST(static_cast<bool>(asked->value().token));
}

BOOST_AUTO_TEST_SUITE_END()
