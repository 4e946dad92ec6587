#include "core/validity.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <vector>

#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_extend)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

using node_list = std::vector<std::size_t>;

/// The deadline of an extension that started at `start`, by the definition.
time_point deadline(time_point start, milliseconds ttl)
{
    return start + ttl - core::clock_drift(ttl, 0.01);
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_extension_moves_the_deadline_and_the_ttl_of_every_key)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 1s});
    fixture.advance(500ms);
    const time_point start = fixture.time().now().steady;

    const auto [ec] = fixture.complete(held.async_extend(10s));

    BOOST_TEST(ec == error_code());
    BOOST_TEST(held.valid_until() == deadline(start, 10s));
    fixture.each_node([&](fake_node& node) {
        BOOST_TEST(node.store().remaining("orders:42", fixture.time().elapsed()) == 10s);
    });
}

BOOST_AUTO_TEST_CASE(an_extension_asks_every_node_with_the_id_that_was_granted)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    const std::string id = fixture.log().front().id;

    fixture.complete(held.async_extend(20s));

    BOOST_TEST(fixture.sent_to(verb::extend) == (node_list{0, 1, 2, 3, 4}));
    for (const asked_question& each : fixture.log(verb::extend))
    {
        BOOST_TEST(each.id == id);
        BOOST_TEST(each.key == "orders:42");
        BOOST_TEST(each.ttl == 20s);
    }
}

BOOST_AUTO_TEST_CASE(without_a_ttl_the_one_of_the_acquisition_counts)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 3s});
    fixture.advance(1s);
    const time_point start = fixture.time().now().steady;

    const auto [ec] = fixture.complete(held.async_extend());

    BOOST_TEST(ec == error_code());
    BOOST_TEST(held.valid_until() == deadline(start, 3s));
}

BOOST_AUTO_TEST_CASE(a_quorum_extends_without_waiting_for_the_other_nodes)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    fixture.silence(verb::extend, 0, 2);

    const auto extended = launch(held.async_extend(20s));
    fixture.run_until_idle();

    BOOST_TEST(extended->done());
    BOOST_TEST(extended->code() == error_code());
}

BOOST_AUTO_TEST_CASE(a_node_that_is_connected_after_the_others_have_granted_is_extended_too)
{
    client_fixture fixture;
    fixture.node(4).starts(node_state::connecting);
    fixture.start_client();
    lease held = fixture.acquire("orders:42", {.ttl = 1s});
    fixture.complete(held.async_extend(10s));

    fixture.node(4).becomes(node_state::ready);
    fixture.run_until_idle();

    BOOST_TEST(fixture.node(4).store().remaining("orders:42", fixture.time().elapsed()) == 10s);
}

BOOST_AUTO_TEST_CASE(the_new_deadline_counts_from_before_the_first_send)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    fixture.each_node([](fake_node& node) { node.on(verb::extend).after(30ms); });
    const time_point start = fixture.time().now().steady;

    const auto [ec] = fixture.complete(held.async_extend(20s));

    BOOST_TEST(ec == error_code());
    BOOST_TEST(fixture.time().now().steady == start + 30ms);
    BOOST_TEST(held.valid_until() == deadline(start, 20s));
}

BOOST_AUTO_TEST_CASE(the_deadline_moves_when_a_quorum_has_answered_and_not_before)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    const time_point before = held.valid_until();
    fixture.each_node([](fake_node& node) { node.on(verb::extend).after(30ms); });

    const auto extended = launch(held.async_extend(20s));
    fixture.advance(29ms);

    BOOST_TEST(!extended->done());
    BOOST_TEST(held.valid_until() == before);
}

BOOST_AUTO_TEST_CASE(a_shorter_ttl_never_shortens)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 10s});
    const time_point before = held.valid_until();

    const auto [ec] = fixture.complete(held.async_extend(1s));

    BOOST_TEST(ec == error_code());
    BOOST_TEST(held.valid_until() == before);
    fixture.each_node([&](fake_node& node) {
        BOOST_TEST(node.store().remaining("orders:42", fixture.time().elapsed()) == 10s);
    });
}

BOOST_AUTO_TEST_CASE(a_shorter_ttl_does_not_shorten_how_long_a_release_is_kept)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 10s});
    fixture.complete(held.async_extend(1s));

    fixture.complete(held.async_release());

    for (const auto& sent : fixture.log(verb::release))
        BOOST_TEST(sent.ttl == 10s);
}

BOOST_AUTO_TEST_CASE(of_two_extensions_at_once_the_longer_one_counts)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    const time_point start = fixture.time().now().steady;
    fixture.node(0).on(verb::extend).after(10ms).once();

    const auto longer = launch(held.async_extend(30s));
    const auto shorter = launch(held.async_extend(20s));
    fixture.advance(50ms);

    BOOST_TEST(longer->code() == error_code());
    BOOST_TEST(shorter->code() == error_code());
    BOOST_TEST(held.valid_until() == deadline(start, 30s));
}

BOOST_AUTO_TEST_CASE(an_extension_that_failed_changes_nothing_and_can_be_repeated)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    const time_point before = held.valid_until();
    fixture.each_node(0, 3, [](fake_node& node) { node.on(verb::extend).never().once(); });

    const auto [first] = fixture.complete(held.async_extend(20s));
    BOOST_TEST(first == error::quorum_unreachable);
    BOOST_TEST(fixture.time().elapsed() == 50ms);
    BOOST_TEST(held.valid_until() == before);
    BOOST_TEST(!held.expired());
    BOOST_TEST(fixture.keys_left() == 5u);
    const time_point start = fixture.time().now().steady;
    const auto [second] = fixture.complete(held.async_extend(20s));

    BOOST_TEST(second == error_code());
    BOOST_TEST(held.valid_until() == deadline(start, 20s));
}

BOOST_AUTO_TEST_CASE(an_extension_that_nodes_refuse_leaves_the_lease_as_it_is)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    const time_point before = held.valid_until();
    fixture.each_node(0, 3, [](fake_node& node) { node.on(verb::extend).error("READONLY"); });

    const auto [ec] = fixture.complete(held.async_extend(20s));

    BOOST_TEST(ec == error::node_rejected);
    BOOST_TEST(held.valid_until() == before);
    BOOST_TEST(!held.expired());
    BOOST_TEST(fixture.log(verb::release).empty());
}

BOOST_AUTO_TEST_CASE(an_extension_that_full_nodes_prevent_says_so_whoever_answers_first)
{
    for (const bool refused_first : {true, false})
    {
        running_client fixture;
        lease held = fixture.acquire("orders:42");
        const std::size_t refusing = refused_first ? 0 : 4;
        for (std::size_t node = 1; node < 4; ++node)
            fixture.node(node).on(verb::extend).reply(vote::unknown, reason::overloaded);
        fixture.node(refusing).on(verb::extend).reply(vote::refused, reason::error_reply);

        const auto [ec] = fixture.complete(held.async_extend(10s));

        BOOST_TEST(ec == error::overloaded);
    }
}

BOOST_AUTO_TEST_CASE(an_extension_that_only_a_minority_denies_leaves_the_lease_as_it_is)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    const time_point before = held.valid_until();
    fixture.each_node(0, 2, [](fake_node& node) { node.store().lose_all(); });
    fixture.node(2).on(verb::extend).never();

    const auto [ec] = fixture.complete(held.async_extend(20s));

    BOOST_TEST(ec == error::quorum_unreachable);
    BOOST_TEST(held.valid_until() == before);
    BOOST_TEST(!held.expired());
}

BOOST_AUTO_TEST_CASE(a_lease_whose_key_is_gone_from_a_majority_is_lost)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    const time_point before = held.valid_until();
    fixture.each_node(0, 3, [](fake_node& node) { node.store().lose_all(); });

    const auto [ec] = fixture.complete(held.async_extend(20s));

    BOOST_TEST(ec == error::lease_lost);
    BOOST_TEST(held.expired());
    BOOST_TEST(held.remaining() == 0ms);
    BOOST_TEST(held.valid_until() == before);
}

BOOST_AUTO_TEST_CASE(a_lost_lease_stays_lost)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    fixture.each_node(0, 3, [](fake_node& node) { node.on(verb::extend).reply(vote::denied); });
    fixture.complete(held.async_extend(20s));
    fixture.be_honest();
    fixture.log().clear();

    const auto [ec] = fixture.complete(held.async_extend(20s));

    BOOST_TEST(ec == error::lease_lost);
    BOOST_TEST(held.expired());
    BOOST_TEST(fixture.log(verb::extend).empty());
}

BOOST_AUTO_TEST_CASE(a_lost_lease_is_given_back_once_and_not_again_with_its_end)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    fixture.each_node(0, 3, [](fake_node& node) { node.store().lose_all(); });
    fixture.complete(held.async_extend(20s));
    BOOST_TEST(fixture.log(verb::finish).size() == 5u);
    BOOST_TEST(fixture.keys_left() == 0u);  // A minority still had some.

    fixture.complete(held.async_release());
    held = lease();
    fixture.run_until_idle();

    BOOST_TEST(fixture.log(verb::finish).size() == 5u);
}

BOOST_AUTO_TEST_CASE(a_key_that_vanished_is_never_made_again)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    fixture.each_node(0, 2, [](fake_node& node) { node.store().lose_all(); });

    const auto [ec] = fixture.complete(held.async_extend(20s));

    BOOST_TEST(ec == error_code());
    BOOST_TEST(fixture.keys_left() == 3u);
}

BOOST_AUTO_TEST_CASE(the_key_of_another_owner_is_never_extended)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    fixture.each_node(0, 3, [](fake_node& node) { node.store().lose_all(); });
    fixture.hold_elsewhere("orders:42", 5s, 0, 3);

    const auto [ec] = fixture.complete(held.async_extend(20s));

    BOOST_TEST(ec == error::lease_lost);
    BOOST_TEST(fixture.node(0).store().remaining("orders:42", fixture.time().elapsed()) == 5s);
}

BOOST_AUTO_TEST_CASE(a_quorum_that_is_seen_at_the_old_deadline_is_too_late_and_before_it_is_not)
{
    for (const nanoseconds before : {1ns, 0ns})
    {
        BOOST_TEST_CONTEXT(before.count() << " ns before the deadline")
        {
            running_client fixture;
            lease held = fixture.acquire("orders:42", {.ttl = 1s});
            fixture.each_node([](fake_node& node) { node.on(verb::extend).after(20ms); });
            fixture.advance(950ms);
            const auto extended = launch(held.async_extend(10s));
            fixture.run_until_idle();

            // The process is stopped. The answers are there when it goes on.
            fixture.time().advance(held.valid_until() - before - fixture.time().now().steady);
            fixture.run_until_idle();

            BOOST_TEST(extended->done());
            BOOST_TEST((extended->code() == error_code()) == (before > 0ns));
            BOOST_TEST(held.expired() == (before == 0ns));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_lease_that_expired_on_the_boot_clock_alone_is_not_revived)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 1s});
    fixture.each_node([](fake_node& node) { node.on(verb::extend).after(20ms); });
    const auto extended = launch(held.async_extend(10s));
    fixture.run_until_idle();

    fixture.time().jump(manual_time::clock::boot, 1s);  // The machine was suspended.
    fixture.advance(20ms);

    BOOST_TEST(extended->code() == error::lease_lost);
    BOOST_TEST(held.expired());
}

BOOST_AUTO_TEST_CASE(a_failed_extension_of_a_lease_that_expired_meanwhile_says_so)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 1s});
    fixture.silence(verb::extend);
    fixture.advance(held.valid_until() - fixture.time().now().steady - 10ms);

    const auto [ec] = fixture.complete(held.async_extend(10s));

    BOOST_TEST(ec == error::lease_lost);
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_over_is_not_extended)
{
    for (const bool released : {false, true})
    {
        BOOST_TEST_CONTEXT((released ? "released" : "expired"))
        {
            running_client fixture;
            lease held = fixture.acquire("orders:42", {.ttl = 1s});
            if (released)
                fixture.complete(held.async_release());
            else
                fixture.advance(held.valid_until() - fixture.time().now().steady);
            fixture.log().clear();

            const auto [ec] = fixture.complete(held.async_extend(10s));

            BOOST_TEST(ec == error::lease_lost);
            BOOST_TEST(fixture.log().empty());
        }
    }
}

BOOST_AUTO_TEST_CASE(an_extension_up_to_hold_max_is_granted_and_a_longer_one_is_refused)
{
    for (const milliseconds beyond : {0ms, 1ms})
    {
        BOOST_TEST_CONTEXT(beyond.count() << " ms beyond")
        {
            running_client fixture;
            lease held = fixture.acquire("orders:42", {.ttl = 10s, .hold_max = 15s});
            const time_point before = held.valid_until();
            fixture.advance(5s + beyond);
            fixture.log().clear();

            const auto [ec] = fixture.complete(held.async_extend(10s));

            const bool refused = beyond > 0ms;
            BOOST_TEST((ec == error::hold_limit_reached) == refused);
            BOOST_TEST((ec == error_code()) == !refused);
            BOOST_TEST(fixture.log().empty() == refused);
            BOOST_TEST((held.valid_until() == before) == refused);
            BOOST_TEST(!held.expired());
        }
    }
}

BOOST_AUTO_TEST_CASE(without_a_hold_max_there_is_no_limit)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 20h, .hold_max = forever});

    for (int day = 0; day < 10; ++day)
    {
        fixture.advance(19h);
        const auto [ec] = fixture.complete(held.async_extend());
        BOOST_TEST(ec == error_code());
    }

    BOOST_TEST(!held.expired());
}

BOOST_AUTO_TEST_SUITE_END()
