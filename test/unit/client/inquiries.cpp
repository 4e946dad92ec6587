// Thousands of questions at once: each waits for its turn.

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "support/fixture.hpp"
#include "support/guarded_client.hpp"

BOOST_AUTO_TEST_SUITE(test_inquiries)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

constexpr std::size_t first_window = 64;
constexpr std::size_t many = 500;

std::string resource(std::size_t number)
{
    return "orders:" + std::to_string(number);
}

/// Nodes that need a part of the node timeout for an answer.
struct asked_client : guarded_client
{
    asked_client() : guarded_client(3)
    {
        each_node([](fake_node& node) {
            for (const verb each : {verb::inspect, verb::revoke, verb::free, verb::acquire})
                node.on(each).runs_after(20ms);
        });
    }

    /// Starts many.
    template <class Ask>
    auto ask(Ask one)
    {
        std::vector<decltype(launch(one(0)))> all;
        for (std::size_t number = 0; number < many; ++number)
            all.push_back(launch(one(number)));
        run_until_idle();
        return all;
    }
};

template <class All>
std::size_t done(const All& all)
{
    return static_cast<std::size_t>(std::ranges::count_if(all, [](const auto& each) {
        return each->done();
    }));
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(no_more_are_sent_than_the_nodes_answer, asked_client)
{
    const auto looks =
        ask([&](std::size_t number) { return locks().async_inspect(resource(number)); });
    BOOST_TEST(sent_to(verb::inspect).size() == 3 * first_window);
    BOOST_TEST(locks().metrics().rounds_under_way == first_window);
    BOOST_TEST(locks().metrics().waiting_for_place == many - first_window);
    advance(1s);
    BOOST_TEST(done(looks) == many);
    for (const auto& each : looks)
        BOOST_TEST_REQUIRE(each->value().state == holding_state::free);
    BOOST_TEST(locks().metrics().rounds_under_way == 0u);
}

BOOST_FIXTURE_TEST_CASE(revocations_frees_and_watchers_wait_for_their_turn_too, asked_client)
{
    std::vector<watcher> watchers;
    for (std::size_t number = 0; number < many; ++number)
        watchers.push_back(locks().watch(resource(number)));
    const auto watched = ask([&](std::size_t number) { return watchers[number].async_next(); });
    const auto freed =
        ask([&](std::size_t number) { return locks().async_free(resource(number)); });
    const auto revoked = ask([&](std::size_t number) {
        return locks().async_revoke(resource(number), fencing_token::from_value(1'000'000));
    });
    BOOST_TEST(locks().metrics().rounds_under_way == first_window);
    advance(3s);
    BOOST_TEST(done(watched) == many);
    BOOST_TEST(done(freed) == many);
    BOOST_TEST(done(revoked) == many);
    for (std::size_t number = 0; number < many; ++number)
    {
        BOOST_TEST_REQUIRE(watched[number]->value().state == holding_state::free);
        BOOST_TEST_REQUIRE(freed[number]->value() == release_outcome::already_gone);
        BOOST_TEST_REQUIRE(revoked[number]->code() == error::no_such_hold);
    }
}

BOOST_FIXTURE_TEST_CASE(acquisitions_do_not_wait_behind_questions, asked_client)
{
    const auto looks =
        ask([&](std::size_t number) { return locks().async_inspect(resource(number)); });
    const auto tries = launch(locks().async_try_acquire("invoices:7", 10s));
    advance(25ms);
    BOOST_TEST_REQUIRE(tries->done());
    BOOST_TEST(!tries->value().expired());
    BOOST_TEST(done(looks) < many);
}

BOOST_FIXTURE_TEST_CASE(a_silent_node_does_not_make_the_others_slow, asked_client)
{
    silence(verb::inspect, 0, 1);
    const auto looks =
        ask([&](std::size_t number) { return locks().async_inspect(resource(number)); });
    // Each waits a node timeout for the silent node, but leaves its place when two have answered.
    advance(400ms);
    BOOST_TEST(done(looks) == many);
}

BOOST_FIXTURE_TEST_CASE(who_waits_for_its_turn_is_answered_when_the_nodes_go_away, asked_client)
{
    const auto looks =
        ask([&](std::size_t number) { return locks().async_inspect(resource(number)); });
    each_node([](fake_node& node) { node.becomes(node_state::down); });
    advance(100ms);
    BOOST_TEST(done(looks) == many);
    BOOST_TEST(looks.back()->code() == error_code());
    BOOST_TEST(looks.back()->value().state == holding_state::undecided);
    BOOST_TEST(locks().metrics().waiting_for_place == 0u);
}

BOOST_FIXTURE_TEST_CASE(who_waits_for_its_turn_ends_with_the_client, asked_client)
{
    const auto looks =
        ask([&](std::size_t number) { return locks().async_inspect(resource(number)); });
    looks.back()->cancel();
    run_until_idle();
    BOOST_TEST(looks.back()->code() == boost::asio::error::operation_aborted);
    locks().cancel();
    advance(100ms);
    BOOST_TEST(done(looks) == many);
    BOOST_TEST(looks.front()->code() == boost::asio::error::operation_aborted);
}

BOOST_FIXTURE_TEST_CASE(too_much_at_the_nodes_is_called_so, guarded_client)
{
    each_node([](fake_node& node) {
        for (const verb each : {verb::inspect, verb::revoke, verb::acquire})
            node.on(each).reply(vote::unknown, reason::overloaded);
    });
    BOOST_TEST(code_of(locks().async_inspect("orders:42")) == error::overloaded);
    BOOST_TEST(std::get<0>(free()) == error::overloaded);
    BOOST_TEST(std::get<0>(revoke(fencing_token::from_value(1))) == error::overloaded);
    BOOST_TEST(code_of(locks().async_try_acquire("orders:42", 10s)) == error::overloaded);
}

BOOST_AUTO_TEST_SUITE_END()
