#include <boost/test/unit_test.hpp>

#include <chrono>
#include <utility>

#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_owners)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

constexpr owner ada{1};
constexpr owner bob{2};

/// One round as this owner.
lease try_as(client_fixture& fixture, owner who, milliseconds ttl = 10s)
{
    auto [ec, held] =
        fixture.complete(fixture.locks().async_try_acquire("orders:42", {.ttl = ttl, .owner = who})
        );
    BOOST_TEST(ec == error_code());
    return std::move(held);
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_owner_does_not_wait_for_itself)
{
    running_client fixture;
    const lease first = try_as(fixture, ada);
    const lease second = try_as(fixture, ada);

    BOOST_TEST(static_cast<bool>(first));
    BOOST_TEST(static_cast<bool>(second));
    BOOST_TEST(first.valid_until() == second.valid_until());
    BOOST_TEST(fixture.log(verb::acquire).size() == 5u);
}

BOOST_AUTO_TEST_CASE(different_owners_exclude_each_other_and_nobody_in_particular_excludes_itself)
{
    running_client fixture;
    lease held = try_as(fixture, ada);
    BOOST_TEST(!try_as(fixture, bob));
    BOOST_TEST(!try_as(fixture, owner::none));
    fixture.complete(held.async_release());

    held = try_as(fixture, owner::none);
    BOOST_TEST(!try_as(fixture, owner::none));
}

BOOST_AUTO_TEST_CASE(the_keys_are_released_with_the_last_lease)
{
    running_client fixture;
    lease first = try_as(fixture, ada);
    lease second = try_as(fixture, ada);

    const auto [ec, outcome] = fixture.complete(first.async_release());
    BOOST_TEST(ec == error_code());
    BOOST_TEST(outcome == release_outcome::still_held);
    BOOST_TEST(first.expired());
    BOOST_TEST(!second.expired());
    BOOST_TEST(fixture.keys_left() == 5u);
    const auto [again, last] = fixture.complete(second.async_release());

    BOOST_TEST(again == error_code());
    BOOST_TEST(last == release_outcome::released);
    BOOST_TEST(fixture.keys_left() == 0u);
    BOOST_TEST(static_cast<bool>(try_as(fixture, bob)));
}

BOOST_AUTO_TEST_CASE(a_destroyed_lease_leaves_the_others)
{
    running_client fixture;
    const lease first = try_as(fixture, ada);
    {
        const lease second = try_as(fixture, ada);
    }
    fixture.advance(100ms);

    BOOST_TEST(!first.expired());
    BOOST_TEST(fixture.keys_left() == 5u);
}

BOOST_AUTO_TEST_CASE(the_longest_ttl_that_was_asked_for_counts)
{
    running_client fixture;
    const lease first = try_as(fixture, ada, 1s);
    const lease second = try_as(fixture, ada, 20s);
    const lease third = try_as(fixture, ada, 1s);

    BOOST_TEST(first.remaining() > 19s);
    BOOST_TEST(third.remaining() > 19s);
    BOOST_TEST(fixture.sent_to(verb::extend).size() == 5u);
}

BOOST_AUTO_TEST_CASE(who_joins_after_a_suspension_gets_the_ttl_that_was_asked_for)
{
    running_client fixture;
    const lease first = fixture.acquire("orders:42", {.ttl = 30s, .owner = owner{7}});
    fixture.advance(1s);
    fixture.time().jump(manual_time::clock::boot, 25s);

    const lease second = fixture.acquire("orders:42", {.ttl = 10s, .owner = owner{7}});

    BOOST_TEST(second.remaining() > 9s);
}

BOOST_AUTO_TEST_CASE(who_joins_gets_no_lease_if_its_ttl_cannot_be_had)
{
    running_client fixture;
    const lease first = try_as(fixture, ada, 5s);
    fixture.silence(verb::extend);

    const auto [ec, second] =
        fixture.complete(fixture.locks().async_try_acquire("orders:42", {.ttl = 20s, .owner = ada})
        );

    BOOST_TEST(ec == error::quorum_unreachable);
    BOOST_TEST(!second);
    BOOST_TEST(!first.expired());
    BOOST_TEST(fixture.keys_left() == 5u);
}

BOOST_AUTO_TEST_CASE(an_owner_whose_hold_was_lost_acquires_anew)
{
    running_client fixture;
    const lease first = try_as(fixture, ada, 1s);
    fixture.advance(2s);

    const lease second = try_as(fixture, ada, 1s);

    BOOST_TEST(first.expired());
    BOOST_TEST(!second.expired());
    BOOST_TEST(fixture.log(verb::acquire).size() == 10u);
}

BOOST_AUTO_TEST_CASE(an_owner_whose_keys_have_vanished_acquires_anew)
{
    running_client fixture;
    const lease first = try_as(fixture, ada, 5s);
    fixture.each_node([](fake_node& node) { node.store().lose_all(); });

    const lease second = try_as(fixture, ada, 20s);

    BOOST_TEST(first.expired());
    BOOST_TEST(!second.expired());
}

BOOST_AUTO_TEST_CASE(an_owner_acquires_anew_after_a_suspension_that_ended_its_hold)
{
    running_client fixture;
    lease first = try_as(fixture, ada, 1s);
    // The expiry is still unnoticed when the owner comes back.
    fixture.time().jump(manual_time::clock::boot, 1h);
    fixture.each_node([](fake_node& node) { node.store().lose_all(); });
    lease second = try_as(fixture, ada, 1s);
    first = lease();
    fixture.advance(100ms);

    const lease third = try_as(fixture, ada, 1s);

    BOOST_TEST(!second.expired());
    BOOST_TEST(!third.expired());
    BOOST_TEST(third.valid_until() == second.valid_until());
}

BOOST_AUTO_TEST_CASE(two_acquisitions_of_one_owner_at_the_same_time_both_succeed)
{
    running_client fixture;
    const acquire_options options{.ttl = 10s, .owner = ada};
    const auto one = launch(fixture.locks().async_try_acquire("orders:42", options));
    const auto other = launch(fixture.locks().async_try_acquire("orders:42", options));
    fixture.advance(100ms);

    BOOST_TEST_REQUIRE(one->done());
    BOOST_TEST_REQUIRE(other->done());
    BOOST_TEST(!one->value().expired());
    BOOST_TEST(!other->value().expired());
    BOOST_TEST(one->value().valid_until() == other->value().valid_until());
    BOOST_TEST(fixture.log(verb::acquire).size() == 5u);
}

BOOST_AUTO_TEST_CASE(all_acquisitions_of_one_owner_join_though_another_one_stands_between_them)
{
    running_client fixture;
    const acquire_options of_ada{.ttl = 10s, .owner = ada};
    const acquire_options of_bob{.ttl = 10s, .wait = 1min, .owner = bob};
    const auto first = launch(fixture.locks().async_try_acquire("orders:42", of_ada));
    const auto other = launch(fixture.locks().async_acquire("orders:42", of_bob));
    std::vector<std::shared_ptr<pending<lease>>> all;
    for (int i = 0; i < 3; ++i)
        all.push_back(launch(fixture.locks().async_try_acquire("orders:42", of_ada)));
    fixture.run_until_idle();

    for (const auto& each : all)
    {
        BOOST_TEST_REQUIRE(each->done());
        BOOST_TEST(!each->value().expired());
    }
    BOOST_TEST(!other->done());
}

BOOST_AUTO_TEST_CASE(a_try_waits_no_longer_than_a_round_for_another_acquisition_of_its_owner)
{
    running_client fixture({.retry = {.first_delay = 10s, .max_delay = 10s}});
    fixture.hold_elsewhere("orders:42", 1h, 0, 5);
    const acquire_options patiently{.ttl = 10s, .wait = 1min, .owner = ada};
    const auto patient = launch(fixture.locks().async_acquire("orders:42", patiently));
    fixture.run_until_idle();

    const auto tried = launch(fixture.locks().async_try_acquire("orders:42", {.owner = ada}));
    fixture.advance(50ms);

    BOOST_TEST(tried->code() == error_code());
    BOOST_TEST(tried->completions == 1u);
    BOOST_TEST(!tried->value());
    BOOST_TEST(!patient->done());
}

BOOST_AUTO_TEST_CASE(a_try_asks_for_itself_when_another_acquisition_of_its_owner_has_failed)
{
    running_client fixture;
    fixture.each_node([](fake_node& node) { node.on(verb::acquire).after(20ms).once(); });
    const auto one = launch(fixture.locks().async_try_acquire("orders:42", {.owner = ada}));
    const auto other = launch(fixture.locks().async_try_acquire("orders:42", {.owner = ada}));
    fixture.run_until_idle();

    one->cancel();
    fixture.advance(100ms);

    BOOST_TEST(one->code() == asio::error::operation_aborted);
    BOOST_TEST(static_cast<bool>(other->value()));
}

BOOST_AUTO_TEST_CASE(one_lease_with_automatic_extension_keeps_them_all)
{
    running_client fixture;
    const lease first = try_as(fixture, ada, 3s);
    const lease second =
        fixture.acquire("orders:42", {.ttl = 3s, .auto_extend = true, .owner = ada});

    fixture.advance(30s);

    BOOST_TEST(!first.expired());
    BOOST_TEST(!second.expired());
}

BOOST_AUTO_TEST_CASE(the_limit_of_the_first_lease_holds_for_all)
{
    running_client fixture;
    const lease first = fixture.acquire("orders:42", {.ttl = 3s, .hold_max = 5s, .owner = ada});
    fixture.advance(2500ms);

    const auto [ec, second] = fixture.complete(
        fixture.locks().async_try_acquire("orders:42", {.ttl = 3s, .hold_max = 1h, .owner = ada})
    );

    BOOST_TEST(ec == error::hold_limit_reached);
    BOOST_TEST(!second);
}

BOOST_AUTO_TEST_CASE(an_extension_of_a_released_lease_fails_though_another_one_lives)
{
    running_client fixture;
    lease first = try_as(fixture, ada);
    lease second = try_as(fixture, ada);
    fixture.complete(first.async_release());

    const auto [ec] = fixture.complete(first.async_extend());
    const auto [other] = fixture.complete(second.async_extend());

    BOOST_TEST(ec == error::lease_lost);
    BOOST_TEST(other == error_code());
}

BOOST_AUTO_TEST_CASE(an_extension_fails_whose_lease_is_released_meanwhile_though_another_one_lives)
{
    running_client fixture;
    lease first = try_as(fixture, ada);
    lease second = try_as(fixture, ada);

    const auto extended = launch(first.async_extend());
    fixture.complete(first.async_release());

    BOOST_TEST_REQUIRE(extended->done());
    BOOST_TEST(extended->code() == error::lease_lost);
    BOOST_TEST(!second.expired());
}

BOOST_AUTO_TEST_CASE(a_wait_for_loss_ends_with_the_lease_and_not_with_the_hold)
{
    running_client fixture;
    lease first = try_as(fixture, ada);
    lease second = try_as(fixture, ada);
    const auto of_first = launch(first.async_wait_lost());
    const auto of_second = launch(second.async_wait_lost());

    fixture.complete(first.async_release());

    BOOST_TEST_REQUIRE(of_first->done());
    BOOST_TEST(of_first->code() == error_code());
    BOOST_TEST(!of_second->done());
}

BOOST_AUTO_TEST_CASE(who_joins_in_vain_pauses_before_it_tries_again)
{
    running_client fixture({.mode = mode::guarded});
    fixture.each_node([](fake_node& node) {
        node.on(verb::acquire).once();
        node.on(verb::acquire).reply(vote::refused, reason::fence).once();
        node.on(verb::extend).absent(reason::down);
    });
    const auto first =
        launch(fixture.locks().async_acquire("orders:42", {.ttl = 5s, .owner = ada}));
    // Is refused for its token, which is a reason to ask again at once; but by then it can join.
    const auto second =
        launch(fixture.locks().async_acquire("orders:42", {.ttl = 20s, .wait = 300ms, .owner = ada})
        );

    fixture.advance(1s);

    BOOST_TEST(!first->value().expired());
    BOOST_TEST_REQUIRE(second->done());
    BOOST_TEST(second->code() == error::quorum_unreachable);
    BOOST_TEST(!second->value());
}

BOOST_AUTO_TEST_CASE(leases_of_one_owner_have_one_token)
{
    running_client fixture({.mode = mode::guarded});
    const lease first = try_as(fixture, ada);
    const lease second = try_as(fixture, ada);

    BOOST_TEST(static_cast<bool>(first.fence()));
    BOOST_TEST((first.fence() == second.fence()));
}

BOOST_AUTO_TEST_CASE(a_hold_whose_token_is_too_low_cannot_be_joined)
{
    running_client fixture({.mode = mode::guarded});
    const lease first = try_as(fixture, ada);

    const auto [ec, second] = fixture.complete(fixture.locks().async_try_acquire(
        "orders:42", {.owner = ada, .fence_at_least = first.fence()}
    ));

    BOOST_TEST(ec == error::invalid_argument);
    BOOST_TEST(!second);
    BOOST_TEST(!first.expired());
}

BOOST_AUTO_TEST_SUITE_END()
