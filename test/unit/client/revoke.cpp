// Revocations: a holder that is asked to stop.

#include <redlock/lead.hpp>
#include <redlock/observer.hpp>
#include <redlock/with_lock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "support/contains.hpp"
#include "support/elector.hpp"
#include "support/fixture.hpp"
#include "support/guarded_client.hpp"
#include "support/spawned.hpp"

BOOST_AUTO_TEST_SUITE(test_revoke)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::news;
using detail::verb;

namespace {

struct revoking_client : guarded_client
{
    using guarded_client::guarded_client;

    /// Other clients revoke on some nodes. These push that to the holder, if it listens.
    void revoke_elsewhere(std::size_t first, std::size_t last)
    {
        each_node(first, last, [this](fake_node& node) {
            node.server().revoke("orders:42", time().elapsed());
        });
        run_until_idle();
    }

    /// The node tells its clients nothing.
    void forget_channels()
    {
        each_node([](fake_node& node) { node.queues().channels.clear(); });
    }
};

/// Takes note of revocations.
struct revocation_observer : observer
{
    void on_revoked(const revoked_event& event) noexcept override
    {
        ++count;
        resource = event.resource;
        fence = event.fence;
        remaining = event.remaining;
    }

    std::size_t count = 0;
    std::string resource;
    fencing_token fence;
    milliseconds remaining{};
};

asio::awaitable<void> until_lost(lease&)
{
    co_await until_cancelled();
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_revoked_lease_is_valid_to_its_deadline_and_not_extended, revoking_client)
{
    const lease held = acquire("orders:42", {.ttl = 3s, .auto_extend = true});
    advance(500ms);
    const time_point deadline = held.valid_until();
    const auto [ec, made] = revoke(held.fence());
    BOOST_TEST(ec == error_code());
    BOOST_TEST(made.marked == 5u);
    BOOST_TEST((made.until >= deadline));
    BOOST_TEST((made.until < deadline + 100ms));
    BOOST_TEST(held.revoked());
    log().clear();

    advance(2450ms);
    BOOST_TEST(!held.expired());
    BOOST_TEST(log(verb::extend).empty());
    advance(100ms);
    BOOST_TEST(held.expired());
    BOOST_TEST((held.valid_until() == deadline));
}

BOOST_FIXTURE_TEST_CASE(who_waits_for_the_loss_is_told_at_once_and_again, revoking_client)
{
    lease held = acquire("orders:42", {.ttl = 3s});
    const auto waiting = launch(held.async_wait_lost());
    revoke_elsewhere(0, 1);
    BOOST_TEST_REQUIRE(waiting->done());
    BOOST_TEST(waiting->code() == error::revoked);
    BOOST_TEST(code_of(held.async_wait_lost()) == error::revoked);
    advance(3s);
    BOOST_TEST(code_of(held.async_wait_lost()) == error::lease_lost);
}

BOOST_FIXTURE_TEST_CASE(an_extension_learns_it_from_one_node, revoking_client)
{
    lease held = acquire("orders:42", {.ttl = 3s});
    forget_channels();
    revoke_elsewhere(0, 1);
    BOOST_TEST(!held.revoked());
    advance(1s);
    const time_point deadline = held.valid_until();
    BOOST_TEST(code_of(held.async_extend()) == error::revoked);
    BOOST_TEST(held.revoked());
    // The others have granted it.
    BOOST_TEST((held.valid_until() == deadline + 1s));
    log().clear();
    BOOST_TEST(code_of(held.async_extend()) == error::revoked);
    BOOST_TEST(log().empty());
    BOOST_TEST(!held.expired());
}

BOOST_FIXTURE_TEST_CASE(an_extension_that_a_quorum_refuses_loses_nothing, revoking_client)
{
    lease held = acquire("orders:42", {.ttl = 3s, .auto_extend = true});
    forget_channels();
    revoke_elsewhere(0, 5);
    advance(1100ms);
    BOOST_TEST(held.revoked());
    BOOST_TEST(!held.expired());
    BOOST_TEST(held.last_extension() == error::revoked);
    BOOST_TEST(locks().metrics().lost == 0u);
    BOOST_TEST(locks().metrics().revoked == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_released_hold_ends_before_its_deadline, revoking_client)
{
    lease held = acquire("orders:42", {.ttl = 20s});
    BOOST_TEST(std::get<0>(revoke(held.fence())) == error_code());
    auto [ec, outcome] = complete(held.async_release());
    BOOST_TEST(ec == error_code());
    BOOST_TEST(outcome == release_outcome::released);
    BOOST_TEST(bool(acquire("orders:42", {.ttl = 1s})));
}

BOOST_FIXTURE_TEST_CASE(an_owner_does_not_join_what_is_revoked, revoking_client)
{
    const acquire_options mine{.ttl = 3s, .wait = 0s, .owner = owner{1}};
    const lease held = acquire("orders:42", mine);
    revoke(held.fence());
    auto [ec, second] = complete(locks().async_acquire("orders:42", mine));
    BOOST_TEST(ec == error::contended);
}

BOOST_FIXTURE_TEST_CASE(an_owner_that_finds_its_hold_revoked_waits_for_its_end, revoking_client)
{
    const acquire_options mine{.ttl = 3s, .wait = 0s, .owner = owner{1}};
    const lease held = acquire("orders:42", mine);
    forget_channels();
    revoke_elsewhere(0, 5);
    advance(1s);
    auto [ec, second] = complete(locks().async_acquire("orders:42", mine));
    BOOST_TEST(ec == error::contended);
    BOOST_TEST(held.revoked());
}

BOOST_FIXTURE_TEST_CASE(a_hold_without_a_ttl_ends_never, revoking_client)
{
    each_node([this](fake_node& node) {
        node.server().take_elsewhere("orders:42", forever, {}, time().elapsed());
    });
    const auto [failed, seen] = complete(locks().async_inspect("orders:42"));
    const auto [ec, made] = revoke(seen.token);
    BOOST_TEST(ec == error_code());
    BOOST_TEST((made.until == time_point::max()));
}

BOOST_FIXTURE_TEST_CASE(a_body_that_goes_on_beyond_its_deadline_has_lost_its_lease, revoking_client)
{
    lease held = acquire("orders:42", {.ttl = 3s});
    const auto [waited] = (revoke_elsewhere(0, 1), complete(held.async_wait_lost()));
    BOOST_TEST(detail::loss_of(held, waited) == error::revoked);
    advance(3s);
    BOOST_TEST(detail::loss_of(held, waited) == error::lease_lost);
}

BOOST_FIXTURE_TEST_CASE(a_hold_that_is_over_is_none, revoking_client)
{
    lease held = acquire("orders:42", {.ttl = 3s});
    const fencing_token token = held.fence();
    complete(held.async_release());
    BOOST_TEST(std::get<0>(revoke(token)) == error::no_such_hold);
}

BOOST_FIXTURE_TEST_CASE(the_hold_of_another_is_not_touched, revoking_client)
{
    const lease held = acquire("orders:42", {.ttl = 3s});
    const auto before = fencing_token::from_value(held.fence().value() - 1);
    BOOST_TEST(std::get<0>(revoke(before)) == error::no_such_hold);
    BOOST_TEST(!held.revoked());
}

BOOST_FIXTURE_TEST_CASE(a_minority_of_silent_nodes_does_not_matter, revoking_client)
{
    const lease held = acquire("orders:42", {.ttl = 3s});
    silence(verb::revoke, 0, 2);
    const auto [ec, made] = revoke(held.fence());
    BOOST_TEST(ec == error_code());
    BOOST_TEST(made.marked == 3u);
}

BOOST_FIXTURE_TEST_CASE(
    without_a_quorum_it_fails_and_may_end_the_hold_all_the_same,
    revoking_client
)
{
    const lease held = acquire("orders:42", {.ttl = 3s});
    silence(verb::revoke, 0, 3);
    BOOST_TEST(std::get<0>(revoke(held.fence())) == error::quorum_unreachable);
    BOOST_TEST(held.revoked());
}

// It may have promised the resource for as long as its quarantine lasts.
BOOST_FIXTURE_TEST_CASE(until_covers_what_a_node_may_have_forgotten, revoking_client)
{
    const lease held = acquire("orders:42", {.ttl = 3s});
    each_node(0, 1, [this](fake_node& node) {
        node.store().clear();
        node.guard().quarantined_until = time().elapsed() + 20s;
    });
    const time_point begun = time().now().steady;
    const auto [ec, made] = revoke(held.fence());
    BOOST_TEST(ec == error_code());
    BOOST_TEST(made.marked == 4u);
    BOOST_TEST((made.until >= begun + 20s));
}

BOOST_FIXTURE_TEST_CASE(a_quorum_that_may_have_forgotten_the_hold_is_no_proof, revoking_client)
{
    each_node(0, 1, [this](fake_node& node) {
        node.guard().quarantined_until = time().elapsed() + 20s;
    });
    const auto now =
        beginning_of_time + std::chrono::floor<std::chrono::microseconds>(time().elapsed());
    const auto [ec, made] =
        revoke(fencing_token::from_value(static_cast<std::uint64_t>(now.count())));
    BOOST_TEST(ec == error_code());
    BOOST_TEST(made.marked == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_holder_without_a_token_cannot_be_revoked, revoking_client)
{
    hold_elsewhere("orders:42", 3s, 0, 5);
    const lease other = acquire("other", {.ttl = 3s});
    BOOST_TEST(std::get<0>(revoke(other.fence())) == error::node_rejected);
}

BOOST_FIXTURE_TEST_CASE(a_token_from_the_future_is_refused, revoking_client)
{
    const lease held = acquire("orders:42", {.ttl = 3s});
    const auto later = fencing_token::from_value(held.fence().value() + 3'600'000'000);
    BOOST_TEST(std::get<0>(revoke(later)) == error::node_rejected);
    BOOST_TEST(!held.revoked());
}

BOOST_AUTO_TEST_CASE(bad_input_is_named_and_nothing_is_sent_and_neither_in_plain_mode)
{
    std::vector<std::string> lines;
    setup how = guarded();
    how.lines = &lines;
    revoking_client fixture(how);
    for (const std::uint64_t bad : {std::uint64_t{0}, std::uint64_t{1} << 53})
    {
        lines.clear();
        const auto token = fencing_token::from_value(bad);
        BOOST_TEST(std::get<0>(fixture.revoke(token)) == error::invalid_argument);
        BOOST_TEST_REQUIRE(!lines.empty());
        BOOST_TEST(contains(lines.back(), "token is " + to_string(token)));
    }
    BOOST_TEST(fixture.log().empty());

    revoking_client plain(setup{});
    const auto token = fencing_token::from_value(1);
    BOOST_TEST(std::get<0>(plain.revoke(token)) == error::invalid_argument);
    BOOST_TEST(plain.log().empty());
}

BOOST_FIXTURE_TEST_CASE(
    a_body_under_a_lock_is_cancelled_and_then_its_lease_released,
    revoking_client
)
{
    const auto user =
        start_coroutine(*this, with_lock(locks(), "orders:42", {.ttl = 3s}, until_lost));
    run_until_idle();
    BOOST_TEST(!user->done());
    revoke_elsewhere(4, 5);
    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error::revoked);
    BOOST_TEST(keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_leader_that_is_revoked_stands_again_only_after_a_ttl)
{
    elector fixture(guarded());
    const auto user = fixture.start();
    BOOST_TEST_REQUIRE(fixture.now != nullptr);
    fixture.node(0).server().revoke("jobs", fixture.time().elapsed());
    fixture.run_until_idle();
    BOOST_TEST(fixture.ended == 1u);
    BOOST_TEST(!fixture.is_held());
    fixture.advance(2900ms);
    BOOST_TEST(fixture.begun == 1u);
    fixture.advance(100ms);
    BOOST_TEST(fixture.begun == 2u);
    BOOST_TEST(!user->done());
}

BOOST_AUTO_TEST_CASE(a_leader_that_is_revoked_ends_at_once_with_its_client)
{
    elector fixture(guarded());
    const auto user = fixture.start();
    BOOST_TEST_REQUIRE(fixture.now != nullptr);
    fixture.node(0).server().revoke("jobs", fixture.time().elapsed());
    fixture.run_until_idle();
    fixture.advance(1s);
    BOOST_TEST(!user->done());

    fixture.complete(fixture.locks().async_close());
    fixture.run_until_idle();

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error_code());
    BOOST_TEST(fixture.begun == 1u);
}

BOOST_AUTO_TEST_CASE(the_observer_is_told_once)
{
    const auto watches = std::make_shared<revocation_observer>();
    setup how = guarded();
    how.observer = watches;
    revoking_client fixture(how);
    const lease held = fixture.acquire("orders:42", {.ttl = 3s});
    fixture.advance(1s);
    fixture.revoke(held.fence());
    BOOST_TEST(watches->count == 1u);
    BOOST_TEST(watches->resource == "orders:42");
    BOOST_TEST(watches->fence == held.fence());
    BOOST_TEST((watches->remaining > 1900ms && watches->remaining < 2s));
}

BOOST_FIXTURE_TEST_CASE(an_inspection_shows_that_a_hold_is_revoked, revoking_client)
{
    const lease held = acquire("orders:42", {.ttl = 3s});
    BOOST_TEST(!std::get<1>(complete(locks().async_inspect("orders:42"))).revoked);
    revoke_elsewhere(0, 1);
    BOOST_TEST(std::get<1>(complete(locks().async_inspect("orders:42"))).revoked);
}

BOOST_FIXTURE_TEST_CASE(a_push_about_another_hold_is_not_taken_for_ours, revoking_client)
{
    const lease held = acquire("orders:42");
    const auto other = fencing_token::from_value(held.fence().value() - 1);
    each_node([&other](fake_node& node) {
        for (const auto& [name, channel] : node.queues().channels)
            channel.lock()->tell({news::kind::revoked, "orders:42", other.value()});
    });
    run_until_idle();
    BOOST_TEST(!held.revoked());
    each_node([&held](fake_node& node) {
        for (const auto& [name, channel] : node.queues().channels)
            channel.lock()->tell({news::kind::revoked, "orders:42", held.fence().value()});
    });
    run_until_idle();
    BOOST_TEST(held.revoked());
}

BOOST_AUTO_TEST_SUITE_END()
