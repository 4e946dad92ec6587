#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_waiting)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

constexpr milliseconds day = 24h;
constexpr milliseconds patience = 20s;

using acquiring = pending<lease>;
using line = std::vector<std::shared_ptr<acquiring>>;

std::shared_ptr<acquiring> start(
    client_fixture& fixture,
    milliseconds wait = patience,
    owner who = owner::none
)
{
    return launch(
        fixture.locks().async_acquire("orders:42", {.ttl = 10s, .wait = wait, .owner = who})
    );
}

line start_many(client_fixture& fixture, std::size_t count)
{
    line all;
    for (std::size_t each = 0; each < count; ++each)
        all.push_back(start(fixture));
    fixture.run_until_idle();
    return all;
}

/// The holder, or the length of the line.
std::size_t holder_of(const line& all)
{
    for (std::size_t each = 0; each < all.size(); ++each)
    {
        if (all[each]->done() && all[each]->value())
            return each;
    }
    return all.size();
}

/// The ids that were tried, one for each round.
std::size_t rounds(const client_fixture& fixture)
{
    std::set<std::string> ids;
    for (const asked_question& each : fixture.log(verb::acquire))
        ids.insert(each.id);
    return ids.size();
}

void release_elsewhere(client_fixture& fixture)
{
    fixture.each_node([](fake_node& node) { node.store().clear(); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_order_of_arrival_is_that_of_the_grants)
{
    running_client fixture;
    const line all = start_many(fixture, 20);

    for (std::size_t next = 0; next < all.size(); ++next)
    {
        BOOST_TEST(holder_of(all) == next);
        all[next]->value() = lease();
        fixture.run_until_idle();
    }
    BOOST_TEST(rounds(fixture) == all.size());
}

BOOST_AUTO_TEST_CASE(who_releases_and_acquires_again_is_last)
{
    running_client fixture;
    lease mine = fixture.acquire("orders:42");
    const line others = start_many(fixture, 2);

    mine = lease();
    const auto again = start(fixture);
    fixture.run_until_idle();
    BOOST_TEST(holder_of(others) == 0u);
    others[0]->value() = lease();
    fixture.run_until_idle();
    BOOST_TEST(holder_of(others) == 1u);
    BOOST_TEST(!again->done());
    others[1]->value() = lease();
    fixture.run_until_idle();

    BOOST_TEST(static_cast<bool>(again->value()));
}

BOOST_AUTO_TEST_CASE(a_thousand_that_wait_ask_the_nodes_as_often_as_one)
{
    std::size_t one = 0;
    for (const std::size_t count : {1u, 1000u})
    {
        running_client fixture;
        fixture.hold_elsewhere("orders:42", day, 0, 5);
        const line all = start_many(fixture, count);
        fixture.advance(10s);

        if (count == 1)
            one = rounds(fixture);
        BOOST_TEST(one > 1u);
        BOOST_TEST(rounds(fixture) <= one + one / 4);
    }
}

BOOST_AUTO_TEST_CASE(nobody_asks_while_a_hold_of_the_client_is_known_to_last)
{
    running_client fixture;
    const line all = start_many(fixture, 3);
    BOOST_TEST(holder_of(all) == 0u);

    fixture.advance(5s);
    BOOST_TEST(rounds(fixture) == 1u);

    const nanoseconds released_at = fixture.time().elapsed();
    all[0]->value() = lease();
    fixture.run_until_idle();
    BOOST_TEST(holder_of(all) == 1u);
    BOOST_TEST((fixture.time().elapsed() == released_at));
}

BOOST_AUTO_TEST_CASE(the_next_one_asks_at_once_when_a_hold_is_lost)
{
    running_client fixture;
    const line all = start_many(fixture, 2);
    fixture.each_node([](fake_node& node) { node.store().lose_all(); });

    const auto extended = launch(all[0]->value().async_extend(10s));
    fixture.run_until_idle();

    BOOST_TEST(extended->code() == error::lease_lost);
    BOOST_TEST(static_cast<bool>(all[1]->value()));
}

BOOST_AUTO_TEST_CASE(the_next_one_asks_when_a_hold_expires_and_when_it_is_abandoned)
{
    for (const bool abandoned : {false, true})
    {
        BOOST_TEST_CONTEXT((abandoned ? "abandoned" : "expires"))
        {
            running_client fixture;
            const line all = start_many(fixture, 2);

            if (abandoned)
                all[0]->value().abandon();
            fixture.run_until_idle();
            BOOST_TEST(rounds(fixture) == (abandoned ? 2u : 1u));
            fixture.advance(10s + 50ms);

            BOOST_TEST(all[0]->value().expired());
            BOOST_TEST(static_cast<bool>(all[1]->value()));
        }
    }
}

BOOST_AUTO_TEST_CASE(one_resource_does_not_wait_for_another)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:42", day, 0, 5);
    const line all = start_many(fixture, 3);

    const lease other = fixture.acquire("orders:43");

    BOOST_TEST(static_cast<bool>(other));
    BOOST_TEST(holder_of(all) == all.size());
}

BOOST_AUTO_TEST_CASE(the_next_one_asks_at_once_when_the_first_is_cancelled)
{
    running_client fixture({.retry = {.first_delay = 10s, .max_delay = 10s}});
    fixture.hold_elsewhere("orders:42", day, 0, 5);
    const line all = start_many(fixture, 3);
    BOOST_TEST(rounds(fixture) == 1u);

    all[0]->cancel();
    fixture.run_until_idle();

    BOOST_TEST(all[0]->code() == asio::error::operation_aborted);
    BOOST_TEST(rounds(fixture) == 2u);
}

BOOST_AUTO_TEST_CASE(the_others_keep_their_order_when_one_in_the_middle_is_cancelled)
{
    running_client fixture;
    const line all = start_many(fixture, 4);

    all[1]->cancel();
    fixture.run_until_idle();
    BOOST_TEST(all[1]->code() == asio::error::operation_aborted);
    fixture.advance(1s);
    BOOST_TEST(rounds(fixture) == 1u);  // The next one waits for the same hold.

    all[0]->value() = lease();
    fixture.run_until_idle();
    BOOST_TEST(holder_of(all) == 2u);
    all[2]->value() = lease();
    fixture.run_until_idle();
    BOOST_TEST(holder_of(all) == 3u);
}

BOOST_AUTO_TEST_CASE(who_gives_up_in_the_line_is_told_its_place)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:42", day, 0, 5);
    const line before = start_many(fixture, 2);

    diagnostics report;
    const auto impatient = launch(
        fixture.locks().async_acquire("orders:42", {.ttl = 10s, .wait = 300ms, .report = &report})
    );
    const auto last = start(fixture);
    fixture.advance(301ms);

    BOOST_TEST(impatient->code() == error::contended);
    BOOST_TEST(report.rounds == 0u);
    BOOST_TEST(to_string(report) == "no round was started: waiting, 3rd of 4");
    release_elsewhere(fixture);
    fixture.advance(2s);
    BOOST_TEST(holder_of(before) == 0u);
}

BOOST_AUTO_TEST_CASE(a_try_does_not_overtake_those_who_wait)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:42", day, 0, 5);
    const line all = start_many(fixture, 2);
    const std::size_t before = rounds(fixture);
    release_elsewhere(fixture);

    const auto tried = launch(fixture.locks().async_try_acquire("orders:42", 10s));
    fixture.run_until_idle();

    BOOST_TEST(tried->code() == error_code());
    BOOST_TEST(!tried->value());
    BOOST_TEST(rounds(fixture) == before);
}

BOOST_AUTO_TEST_CASE(a_waiter_takes_part_at_once_in_what_its_owner_was_granted)
{
    running_client fixture;
    constexpr owner ada{1};
    const auto first = start(fixture, patience, ada);
    const auto bob = start(fixture, patience, owner{2});
    const auto again = start(fixture, patience, ada);
    fixture.run_until_idle();

    BOOST_TEST(static_cast<bool>(first->value()));
    BOOST_TEST(static_cast<bool>(again->value()));
    BOOST_TEST(!bob->done());
    first->value() = lease();
    fixture.run_until_idle();
    BOOST_TEST(!bob->done());
    again->value() = lease();
    fixture.run_until_idle();
    BOOST_TEST(static_cast<bool>(bob->value()));
}

BOOST_AUTO_TEST_CASE(a_first_one_that_fails_lets_the_next_ask_at_once)
{
    running_client fixture;
    fixture.silence(verb::acquire);
    const auto hasty = start(fixture, 10ms);
    const auto next = start(fixture);
    fixture.run_until_idle();
    BOOST_TEST(rounds(fixture) == 1u);

    fixture.be_honest();
    fixture.advance(200ms);

    BOOST_TEST(hasty->code() == error::quorum_unreachable);
    BOOST_TEST(static_cast<bool>(next->value()));
}

BOOST_AUTO_TEST_CASE(a_client_that_is_cancelled_ends_the_whole_line)
{
    running_client fixture;
    const line all = start_many(fixture, 4);

    fixture.locks().cancel();
    fixture.run_until_idle();

    for (std::size_t each = 1; each < all.size(); ++each)
        BOOST_TEST(all[each]->code() == asio::error::operation_aborted);
    BOOST_TEST(rounds(fixture) == 1u);
}

BOOST_AUTO_TEST_CASE(nothing_is_left_of_a_line_when_the_context_ends)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:42", day, 0, 5);
    line all = start_many(fixture, 4);
    all.clear();

    fixture.destroy_client();
    fixture.destroy_context();

    BOOST_TEST(fixture.client_is_gone());
}

BOOST_AUTO_TEST_SUITE_END()
