#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_release)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

using node_list = std::vector<std::size_t>;

}  // namespace

BOOST_AUTO_TEST_CASE(a_release_deletes_the_key_on_every_node)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");

    const auto [ec, outcome] = fixture.complete(held.async_release());

    BOOST_TEST(ec == error_code());
    BOOST_TEST(outcome == release_outcome::released);
    BOOST_TEST(fixture.sent_to(verb::release) == (node_list{0, 1, 2, 3, 4}));
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_release_that_fails_is_unconfirmed)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    fixture.locks().cancel();
    fixture.advance(100ms);

    const auto [ec, outcome] = fixture.complete(held.async_release());

    BOOST_TEST(ec == error::not_running);
    BOOST_TEST(outcome == release_outcome::unconfirmed);
}

BOOST_AUTO_TEST_CASE(a_release_does_not_wait_for_more_than_a_quorum)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    fixture.silence(verb::release, 0, 2);

    const auto released = launch(held.async_release());
    fixture.run_until_idle();

    BOOST_TEST(released->done());
    BOOST_TEST(released->value() == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(a_release_that_a_quorum_does_not_answer_is_unconfirmed_after_the_node_timeout)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    fixture.silence(verb::release, 0, 3);

    const auto [ec, outcome] = fixture.complete(held.async_release());

    BOOST_TEST(ec == error_code());
    BOOST_TEST(outcome == release_outcome::unconfirmed);
    BOOST_TEST(fixture.time().elapsed() == 50ms);
}

BOOST_AUTO_TEST_CASE(an_unconfirmed_release_goes_on)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    fixture.each_node(0, 3, [](fake_node& node) { node.on(verb::release).runs_after(200ms); });

    const auto [ec, outcome] = fixture.complete(held.async_release());
    BOOST_TEST(outcome == release_outcome::unconfirmed);
    fixture.advance(200ms);

    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_release_reaches_a_node_that_is_down_when_it_is_back)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    fixture.each_node(0, 3, [](fake_node& node) { node.becomes(node_state::down, "reset"); });

    const auto released = launch(held.async_release());
    fixture.run_until_idle();
    BOOST_TEST(released->value() == release_outcome::unconfirmed);
    BOOST_TEST(fixture.keys_left() == 3u);
    fixture.each_node(0, 3, [](fake_node& node) { node.becomes(node_state::ready); });
    fixture.run_until_idle();

    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_lease_is_over_from_the_moment_of_the_call)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");

    const auto released = launch(held.async_release());

    BOOST_TEST(!released->done());
    BOOST_TEST(held.expired());
    BOOST_TEST(held.remaining() == 0ms);
    BOOST_TEST(static_cast<bool>(held));
    fixture.run_until_idle();
}

BOOST_AUTO_TEST_CASE(releasing_an_expired_lease_is_no_error)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 1s});
    fixture.advance(2s);

    const auto [ec, outcome] = fixture.complete(held.async_release());

    BOOST_TEST(ec == error_code());
    BOOST_TEST(outcome == release_outcome::already_gone);
}

BOOST_AUTO_TEST_CASE(a_key_that_is_left_anywhere_makes_the_difference_between_released_and_gone)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    fixture.each_node(0, 4, [](fake_node& node) { node.store().clear(); });
    fixture.each_node(0, 2, [](fake_node& node) { node.on(verb::release).after(10ms); });

    const auto [ec, outcome] = fixture.complete(held.async_release());

    BOOST_TEST(ec == error_code());
    BOOST_TEST(outcome == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(after_a_release_neither_a_second_one_nor_the_end_of_the_lease_sends_anything)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    fixture.complete(held.async_release());
    fixture.log().clear();

    const auto [ec, outcome] = fixture.complete(held.async_release());

    BOOST_TEST(ec == error_code());
    BOOST_TEST(outcome == release_outcome::already_gone);
    BOOST_TEST(fixture.log().empty());
    held = lease();
    fixture.run_until_idle();
    BOOST_TEST(fixture.log().empty());
}

BOOST_AUTO_TEST_CASE(two_releases_at_once_both_complete)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");

    const auto first = launch(held.async_release());
    const auto second = launch(held.async_release());
    fixture.run_until_idle();

    BOOST_TEST(first->completions == 1u);
    BOOST_TEST(second->completions == 1u);
    BOOST_TEST(first->value() == release_outcome::released);
    BOOST_TEST(second->code() == error_code());
    BOOST_TEST(fixture.log(verb::release).size() == 5u);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_lease_ends_an_extension_that_is_under_way)
{
    using end = void (*)(lease&);
    const std::pair<const char*, end> ends[] = {
        {"released", [](lease& held) { held.async_release(asio::detached); }},
        {"destroyed", [](lease& held) { held = lease(); }},
    };
    for (const auto& [how, end_lease] : ends)
    {
        BOOST_TEST_CONTEXT(how)
        {
            running_client fixture;
            lease held = fixture.acquire("orders:42", {.ttl = 1s});
            const time_point before = held.valid_until();
            fixture.each_node([](fake_node& node) { node.on(verb::extend).runs_after(20ms); });

            const auto extended = launch(held.async_extend(10s));
            fixture.run_until_idle();
            end_lease(held);
            fixture.advance(30ms);

            BOOST_TEST(extended->code() == error::lease_lost);
            BOOST_TEST((!held || held.valid_until() == before));
            BOOST_TEST(held.expired());
            BOOST_TEST(fixture.locks().metrics().released == 1u);
            BOOST_TEST(fixture.keys_left() == 0u);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_release_leaves_the_key_of_another_owner_alone)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    fixture.each_node(0, 3, [](fake_node& node) { node.store().clear(); });
    fixture.hold_elsewhere("orders:42", 10s, 0, 3);

    const auto [ec, outcome] = fixture.complete(held.async_release());

    BOOST_TEST(ec == error_code());
    BOOST_TEST(fixture.holders("orders:42", "another") == 3u);
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(destroying_a_lease_releases_in_the_background)
{
    running_client fixture;
    {
        const lease held = fixture.acquire("orders:42");
        fixture.log().clear();
    }
    BOOST_TEST(fixture.log().empty());  // Not from within the destructor.
    fixture.run_until_idle();

    BOOST_TEST(fixture.sent_to(verb::release) == (node_list{0, 1, 2, 3, 4}));
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(moving_a_lease_releases_nothing)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    fixture.log().clear();

    {
        lease moved = std::move(held);
        held = std::move(moved);
    }
    fixture.run_until_idle();

    BOOST_TEST(!held.expired());
    BOOST_TEST(fixture.log().empty());
}

BOOST_AUTO_TEST_CASE(an_abandoned_lease_is_empty_and_its_keys_stay_until_the_ttl_ends)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 1s});
    fixture.log().clear();

    held.abandon();
    fixture.advance(999ms);

    BOOST_TEST(!held);
    BOOST_TEST(fixture.log().empty());
    BOOST_TEST(fixture.keys_left() == 5u);
    fixture.advance(1ms);
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_node_that_was_never_asked_is_not_asked_to_release)
{
    running_client fixture;
    fixture.node(4).becomes(node_state::down, "connection refused");
    lease held = fixture.acquire("orders:42");

    const auto [ec, outcome] = fixture.complete(held.async_release());

    BOOST_TEST(outcome == release_outcome::released);
    BOOST_TEST(fixture.sent_to(verb::release) == (node_list{0, 1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(a_lost_round_is_undone_without_a_tombstone_where_its_answer_is_still_to_come)
{
    running_client fixture(guarded());
    fixture.hold_elsewhere("orders:42", 9s, 0, 4);
    fixture.each_node(3, 5, [](fake_node& node) { node.on(verb::acquire).after(20ms); });

    const auto tried = launch(fixture.locks().async_try_acquire("orders:42"));
    fixture.run_until_idle();

    BOOST_TEST(tried->done());
    BOOST_TEST(fixture.sent_to(verb::undo) == (node_list{3, 4}));
    fixture.advance(100ms);
    BOOST_TEST(fixture.sent_to(verb::release).empty());
    BOOST_TEST(fixture.keys_left() == 0u);
    BOOST_TEST(fixture.node(3).guard().fences["orders:42"] == 0u);
}

BOOST_AUTO_TEST_CASE(a_lost_round_is_released_where_the_connection_is_lost_before_its_answer)
{
    running_client fixture(guarded());
    fixture.hold_elsewhere("orders:42", 9s, 0, 5);
    fixture.each_node(3, 5, [](fake_node& node) { node.on(verb::acquire).after(20ms); });
    launch(fixture.locks().async_try_acquire("orders:42"));
    fixture.run_until_idle();

    fixture.node(3).becomes(node_state::down, "connection reset");
    fixture.run_until_idle();
    fixture.node(3).becomes(node_state::ready);
    fixture.advance(100ms);

    BOOST_TEST(fixture.sent_to(verb::release) == (node_list{3}));
    BOOST_TEST(fixture.node(3).guard().fences["orders:42"] > 0u);
    BOOST_TEST(fixture.node(4).guard().fences["orders:42"] == 0u);
}

BOOST_AUTO_TEST_CASE(a_node_that_refuses_to_undo_is_asked_to_release)
{
    running_client fixture(guarded());
    fixture.hold_elsewhere("orders:42", 9s, 0, 4);
    fixture.node(4).on(verb::acquire).after(20ms);
    fixture.node(4).on(verb::undo).error("NOPERM");

    launch(fixture.locks().async_try_acquire("orders:42"));
    fixture.advance(100ms);

    BOOST_TEST(fixture.sent_to(verb::release) == (node_list{4}));
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_lost_round_of_plain_mode_is_released_at_once)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:42", 9s, 0, 4);
    fixture.node(4).on(verb::acquire).after(20ms);

    launch(fixture.locks().async_try_acquire("orders:42"));
    fixture.run_until_idle();

    BOOST_TEST(fixture.sent_to(verb::undo).empty());
    BOOST_TEST(fixture.sent_to(verb::release) == (node_list{0, 1, 2, 3, 4}));
}

BOOST_AUTO_TEST_CASE(an_extension_that_reached_a_node_alone_is_released_there_too)
{
    // The node was down when the others granted. The extension finds no key there and makes none.
    running_client fixture;
    fixture.node(4).becomes(node_state::down, "connection refused");
    lease held = fixture.acquire("orders:42");
    fixture.node(4).becomes(node_state::ready);
    fixture.complete(held.async_extend(10s));

    fixture.complete(held.async_release());
    fixture.run_until_idle();

    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
