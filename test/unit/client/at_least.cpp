// The time for which a released resource stays taken.

#include <redlock/with_lock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/contains.hpp"
#include "support/elector.hpp"
#include "support/fixture.hpp"
#include "support/guarded_client.hpp"
#include "support/spawned.hpp"

BOOST_AUTO_TEST_SUITE(test_at_least)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::error::operation_aborted;
using detail::verb;

namespace {

constexpr acquire_options for_a_minute{.ttl = 3s, .wait = 0ms, .at_least = 60s};

}  // namespace

BOOST_FIXTURE_TEST_CASE(
    a_released_resource_stays_taken_until_so_long_after_its_acquisition,
    guarded_client
)
{
    lease held = acquire("orders:42", for_a_minute);
    advance(2s);
    BOOST_TEST(release(held) == release_outcome::released);
    BOOST_TEST(keys_left() == 5u);
    advance(57'900ms);
    BOOST_TEST(acquire_with(for_a_minute) == error::contended);
    advance(200ms);
    BOOST_TEST(acquire_with(for_a_minute) == error_code());
}

BOOST_FIXTURE_TEST_CASE(a_resource_that_was_held_for_longer_is_free_at_once, guarded_client)
{
    acquire_options options = for_a_minute;
    options.at_least = 1s;
    lease held = acquire("orders:42", options);
    advance(1100ms);
    BOOST_TEST(release(held) == release_outcome::released);
    BOOST_TEST(keys_left() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_repeated_release_changes_nothing, guarded_client)
{
    lease held = acquire("orders:42", for_a_minute);
    each_node(0, 3, [](fake_node& node) { node.on(verb::keep).loses_answer(); });
    BOOST_TEST(release(held) == release_outcome::unconfirmed);
    each_node([](fake_node& node) { node.becomes(node_state::down, "gone"); });
    run_until_idle();
    each_node([](fake_node& node) { node.becomes(node_state::ready); });
    run_until_idle();
    BOOST_TEST(keys_left() == 5u);
    advance(61s);
    BOOST_TEST(keys_left() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_is_dropped_keeps_too, guarded_client)
{
    {
        const lease held = acquire("orders:42", for_a_minute);
    }
    run_until_idle();
    BOOST_TEST(inspect().state == holding_state::kept);
}

BOOST_FIXTURE_TEST_CASE(a_body_that_throws_keeps_too, guarded_client)
{
    const auto body = [](lease&) -> asio::awaitable<void> {
        throw std::runtime_error("no");
        co_return;
    };
    const auto user = start_coroutine(*this, with_lock(locks(), "orders:42", for_a_minute, body));
    run_until_idle();
    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(inspect().state == holding_state::kept);
}

BOOST_FIXTURE_TEST_CASE(a_client_that_closes_keeps_what_it_held, guarded_client)
{
    const lease held = acquire("orders:42", for_a_minute);
    BOOST_TEST(code_of(locks().async_close()) == error_code());
    BOOST_TEST(sent_to(verb::keep).size() == 5u);
    BOOST_TEST(keys_left() == 5u);
}

BOOST_FIXTURE_TEST_CASE(a_client_that_closes_does_not_repeat_what_a_quorum_answered, guarded_client)
{
    const lease held = acquire("orders:42", for_a_minute);
    each_node([](fake_node& node) { node.store().clear(); });
    BOOST_TEST(code_of(locks().async_close()) == error_code());
    BOOST_TEST(sent_to(verb::keep).size() == 5u);
}

BOOST_FIXTURE_TEST_CASE(a_client_that_closes_asks_again_who_did_not_keep, guarded_client)
{
    const lease held = acquire("orders:42", for_a_minute);
    each_node(0, 3, [](fake_node& node) { node.on(verb::keep).error("ERR no"); });
    const auto closed = launch(locks().async_close());
    advance(250ms);
    BOOST_TEST(!closed->done());
    BOOST_TEST(sent_to(verb::keep).size() > 10u);
    advance(3s);
    BOOST_TEST(closed->done());
}

BOOST_FIXTURE_TEST_CASE(a_client_that_closes_after_the_deadline_keeps_nothing, guarded_client)
{
    const lease held = acquire("orders:42", for_a_minute);
    each_node([](fake_node& node) { node.server().forget(); });
    time().jump(manual_time::clock::boot, 4s);
    BOOST_TEST(code_of(locks().async_close()) == error_code());
    BOOST_TEST(sent_to(verb::keep).empty());
    BOOST_TEST(keys_left() == 0u);
}

BOOST_FIXTURE_TEST_CASE(what_a_quorum_keeps_is_confirmed_although_the_client_closes, guarded_client)
{
    lease held = acquire("orders:42", for_a_minute);
    node(0).on(verb::keep).never();
    const auto released = launch(held.async_release());
    run_until_idle();
    BOOST_TEST(!released->done());
    const auto closed = launch(locks().async_close());
    run_until_idle();
    BOOST_TEST_REQUIRE(released->done());
    BOOST_TEST(released->code() == error_code());
}

BOOST_FIXTURE_TEST_CASE(a_lost_lease_keeps_nothing, guarded_client)
{
    lease held = acquire("orders:42", for_a_minute);
    advance(3100ms);
    release(held);
    BOOST_TEST(sent_to(verb::keep).empty());
    BOOST_TEST(keys_left() == 0u);

    acquire_options graceful = for_a_minute;
    graceful.grace = 5s;
    lease other = acquire("orders:42", graceful);
    advance(3100ms);
    BOOST_TEST(release(other) == release_outcome::unconfirmed);  // Its keys were there.
    BOOST_TEST(keys_left() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_lost_round_keeps_nothing, guarded_client)
{
    hold_elsewhere("orders:42", 1s, 0, 3);
    BOOST_TEST(acquire_with(for_a_minute) == error::contended);
    run_until_idle();
    BOOST_TEST(keys_left() == 0u);
    BOOST_TEST(sent_to(verb::keep).empty());
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_acquisition_keeps_nothing, guarded_client)
{
    each_node([](fake_node& node) { node.on(verb::acquire).after(10ms); });
    const auto asked = launch(locks().async_acquire("orders:42", for_a_minute));
    advance(5ms);
    asked->cancel();
    advance(100ms);
    BOOST_TEST(asked->code() == operation_aborted);
    BOOST_TEST(keys_left() == 0u);
    BOOST_TEST(sent_to(verb::keep).empty());
}

BOOST_FIXTURE_TEST_CASE(a_body_that_is_cancelled_before_it_begins_keeps_nothing, guarded_client)
{
    bool begun = false;
    const auto body = [&begun](lease&) -> asio::awaitable<void> {
        begun = true;
        co_return;
    };
    std::size_t unused = 0;
    // One of these moments is between the grant and the body. Not before the first handler: Asio of
    // Boost 1.83 throws out of the loop then, whatever the coroutine is.
    for (int handlers = 1; handlers < 40; ++handlers)
    {
        begun = false;
        const auto user =
            start_coroutine(*this, with_lock(locks(), "orders:42", for_a_minute, body));
        for (int i = 0; i < handlers && !user->done(); ++i)
            step(time().elapsed() + 10ms);
        user->signal.emit(asio::cancellation_type::terminal);
        run_until_idle();
        advance(100ms);
        BOOST_TEST_REQUIRE(user->done());
        const bool is_kept = inspect().state == holding_state::kept;
        BOOST_TEST(is_kept == begun, "after " << handlers << " handlers");
        unused += !begun;
        free();
        advance(100ms);
    }
    BOOST_TEST((unused > 0 && unused < 40));
}

BOOST_AUTO_TEST_CASE(a_release_that_does_not_keep_is_in_the_log)
{
    std::vector<std::string> lines;
    setup how = guarded();
    how.lines = &lines;
    guarded_client fixture(how);
    lease held = fixture.acquire("orders:42", for_a_minute);
    fixture.each_node([](fake_node& node) { node.on(verb::keep).error("ERR no"); });
    BOOST_TEST(fixture.release(held) == release_outcome::unconfirmed);
    BOOST_TEST(contains(lines.back(), "release of 'orders:42': at_least isn't guaranteed"));
}

BOOST_FIXTURE_TEST_CASE(nodes_that_have_forgotten_the_hold_keep_its_resource_too, guarded_client)
{
    lease held = acquire("orders:42", for_a_minute);
    each_node(0, 3, [](fake_node& node) { node.server().forget(); });
    BOOST_TEST(release(held) == release_outcome::released);
    BOOST_TEST(keys_left() == 5u);
    BOOST_TEST(inspect().state == holding_state::kept);
}

BOOST_FIXTURE_TEST_CASE(a_node_that_was_away_keeps_it_when_it_is_back, guarded_client)
{
    lease held = acquire("orders:42", for_a_minute);
    node(0).becomes(node_state::down, "gone");
    node(0).server().forget();
    run_until_idle();
    BOOST_TEST(release(held) == release_outcome::released);
    advance(20s);  // Longer than its ttl.
    node(0).becomes(node_state::ready);
    run_until_idle();
    BOOST_TEST(keys_left() == 5u);
}

BOOST_FIXTURE_TEST_CASE(what_nodes_keep_after_the_deadline_does_not_count, guarded_client)
{
    lease held = acquire("orders:42", {.ttl = 100ms, .wait = 0ms, .at_least = 60s});
    each_node(0, 3, [](fake_node& node) { node.on(verb::keep).runs_after(40ms); });
    advance(80ms);
    BOOST_TEST(!held.expired());
    BOOST_TEST(release(held) == release_outcome::unconfirmed);
    BOOST_TEST(keys_left() == 5u);
}

BOOST_FIXTURE_TEST_CASE(a_node_whose_clock_is_off_keeps_and_does_not_count, guarded_client)
{
    for (const auto off : {-60s, -5s, 2s})
    {
        lease held = acquire("orders:42", for_a_minute);
        each_node(0, 3, [off](fake_node& node) { node.guard().clock_offset = off; });
        BOOST_TEST(release(held) == release_outcome::unconfirmed);
        each_node(0, 3, [](fake_node& node) { node.guard().clock_offset = {}; });
        BOOST_TEST(std::get<0>(free()) == error_code());
    }
}

BOOST_FIXTURE_TEST_CASE(a_revoked_hold_is_kept_by_its_release, guarded_client)
{
    lease held = acquire("orders:42", for_a_minute);
    code_of(locks().async_revoke("orders:42", held.fence()));
    BOOST_TEST(release(held) == release_outcome::released);
    BOOST_TEST(inspect().state == holding_state::kept);
}

BOOST_FIXTURE_TEST_CASE(leases_that_share_a_hold_keep_for_the_longest, guarded_client)
{
    acquire_options options{.ttl = 3s, .at_least = 10s, .owner = owner{1}};
    lease first = acquire("orders:42", options);
    options.at_least = 20s;
    lease second = acquire("orders:42", options);
    options.at_least = 0s;
    lease third = acquire("orders:42", options);
    BOOST_TEST(release(second) == release_outcome::still_held);
    BOOST_TEST(release(first) == release_outcome::still_held);
    BOOST_TEST(release(third) == release_outcome::released);
    advance(19'900ms);
    BOOST_TEST(keys_left() == 5u);
    advance(200ms);
    BOOST_TEST(keys_left() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_release_is_confirmed_only_if_a_quorum_keeps_the_resource, guarded_client)
{
    lease held = acquire("orders:42", for_a_minute);
    each_node(0, 3, [](fake_node& node) { node.store().clear(); });
    hold_elsewhere("orders:42", 1h, 0, 3);
    BOOST_TEST(release(held) == release_outcome::unconfirmed);
    BOOST_TEST(keys_left() == 2u);
}

BOOST_FIXTURE_TEST_CASE(a_kept_resource_shows_its_last_holder, guarded_client)
{
    acquire_options options = for_a_minute;
    options.note = "host 7";
    lease held = acquire("orders:42", options);
    const fencing_token token = held.fence();
    release(held);
    const holding seen = inspect();
    BOOST_TEST(seen.state == holding_state::kept);
    BOOST_TEST(seen.note.text() == "host 7");
    BOOST_TEST(seen.token == token);
    BOOST_TEST((seen.remaining > 59s && seen.remaining <= 60s));
}

BOOST_FIXTURE_TEST_CASE(a_kept_resource_has_no_hold_to_revoke, guarded_client)
{
    lease held = acquire("orders:42", for_a_minute);
    const fencing_token token = held.fence();
    release(held);
    const auto revoked = complete(locks().async_revoke("orders:42", token));
    BOOST_TEST(std::get<0>(revoked) == error::no_such_hold);
    BOOST_TEST(inspect().state == holding_state::kept);
}

BOOST_FIXTURE_TEST_CASE(freeing_ends_it_and_nothing_else, guarded_client)
{
    lease held = acquire("orders:42", for_a_minute);
    BOOST_TEST((free() == std::tuple(error_code(), release_outcome::already_gone)));
    BOOST_TEST(keys_left() == 5u);
    release(held);
    BOOST_TEST((free() == std::tuple(error_code(), release_outcome::released)));
    BOOST_TEST(keys_left() == 0u);
    BOOST_TEST((free() == std::tuple(error_code(), release_outcome::already_gone)));
    BOOST_TEST(acquire_with(for_a_minute) == error_code());
}

BOOST_FIXTURE_TEST_CASE(freeing_without_a_quorum_is_unconfirmed, guarded_client)
{
    lease held = acquire("orders:42", for_a_minute);
    release(held);
    silence(verb::free, 0, 3);
    BOOST_TEST((free() == std::tuple(error_code(), release_outcome::unconfirmed)));
    silence(verb::inspect, 0, 3);
    each_node(3, 5, [](fake_node& node) { node.store().clear(); });
    BOOST_TEST((free() == std::tuple(error_code(), release_outcome::unconfirmed)));
}

BOOST_FIXTURE_TEST_CASE(freeing_can_be_cancelled, guarded_client)
{
    lease held = acquire("orders:42", for_a_minute);
    release(held);
    for (const verb asked : {verb::free, verb::inspect})
    {
        each_node([asked](fake_node& node) { node.on(asked).never(); });
        const auto frees = launch(locks().async_free("orders:42"));
        run_until_idle();
        frees->cancel();
        run_until_idle();
        BOOST_TEST_REQUIRE(frees->done());
        BOOST_TEST(frees->code() == operation_aborted);
    }
}

BOOST_FIXTURE_TEST_CASE(a_waiting_acquisition_is_granted_when_the_time_ends, guarded_client)
{
    acquire_options options = for_a_minute;
    options.at_least = 2s;
    lease held = acquire("orders:42", options);
    const auto waits = launch(locks().async_acquire("orders:42", {.ttl = 3s, .wait = 10s}));
    advance(100ms);
    release(held);
    advance(1850ms);
    BOOST_TEST(!waits->done());
    advance(100ms);
    BOOST_TEST_REQUIRE(waits->done());
    BOOST_TEST(waits->code() == error_code());
}

BOOST_FIXTURE_TEST_CASE(a_waiting_acquisition_is_woken_by_freeing, guarded_client)
{
    lease held = acquire("orders:42", for_a_minute);
    const auto waits = launch(locks().async_acquire("orders:42", {.ttl = 3s, .wait = 30s}));
    advance(100ms);
    release(held);
    advance(1s);
    BOOST_TEST(!waits->done());
    const auto freed = launch(locks().async_free("orders:42"));
    advance(1ms);
    BOOST_TEST(freed->done());
    BOOST_TEST_REQUIRE(waits->done());
    BOOST_TEST(waits->code() == error_code());
}

BOOST_AUTO_TEST_CASE(freeing_needs_guarded_mode_and_a_resource_in_range)
{
    std::vector<std::string> lines;
    guarded_client fixture;
    BOOST_TEST(fixture.acquire_with({.ttl = 3s, .at_least = 24h}) == error_code());
    BOOST_TEST(fixture.code_of(fixture.locks().async_free("")) == error::invalid_argument);

    guarded_client plain(setup{.lines = &lines});
    BOOST_TEST(std::get<0>(plain.free()) == error::invalid_argument);
    BOOST_TEST(contains(lines.back(), "freeing needs guarded mode"));
    BOOST_TEST(plain.log().empty());
}

BOOST_AUTO_TEST_SUITE_END()
