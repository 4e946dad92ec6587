// The time for which a lost resource stays taken.

#include <redlock/diagnostics.hpp>
#include <redlock/lead.hpp>
#include <redlock/with_lock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "support/contains.hpp"
#include "support/elector.hpp"
#include "support/fixture.hpp"
#include "support/guarded_client.hpp"
#include "support/spawned.hpp"

BOOST_AUTO_TEST_SUITE(test_grace)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

constexpr acquire_options with_grace{.ttl = 3s, .grace = 2s};

}  // namespace

BOOST_FIXTURE_TEST_CASE(keys_outlive_the_lease_by_the_grace, guarded_client)
{
    const lease held = acquire("orders:42", with_grace);
    advance(3s);
    BOOST_TEST(held.expired());
    BOOST_TEST(keys_left() == 5u);
    advance(1990ms);
    BOOST_TEST(keys_left() == 5u);
    advance(20ms);
    BOOST_TEST(keys_left() == 0u);
}

BOOST_FIXTURE_TEST_CASE(extensions_keep_the_grace, guarded_client)
{
    lease held = acquire("orders:42", with_grace);
    advance(2s);
    BOOST_TEST(code_of(held.async_extend()) == error_code());
    advance(3s);
    BOOST_TEST(held.expired());
    BOOST_TEST(keys_left() == 5u);
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_is_lost_by_failed_extensions_is_not_released, guarded_client)
{
    acquire_options extended = with_grace;
    extended.auto_extend = true;
    {
        const lease held = acquire("orders:42", extended);
        silence(verb::extend);
        advance(3100ms);
        BOOST_TEST(held.expired());
    }
    run_until_idle();
    BOOST_TEST(keys_left() == 5u);
    BOOST_TEST(sent_to(verb::release).empty());
    BOOST_TEST(sent_to(verb::finish).empty());
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_is_dropped_while_it_is_held_is_released, guarded_client)
{
    {
        const lease held = acquire("orders:42", with_grace);
    }
    run_until_idle();
    BOOST_TEST(keys_left() == 0u);
}

BOOST_FIXTURE_TEST_CASE(an_explicit_release_ends_the_grace, guarded_client)
{
    lease held = acquire("orders:42", with_grace);
    advance(3100ms);
    BOOST_TEST(keys_left() == 5u);
    BOOST_TEST(code_of(held.async_release()) == error_code());
    BOOST_TEST(keys_left() == 0u);
}

BOOST_FIXTURE_TEST_CASE(the_end_of_a_body_ends_the_grace, guarded_client)
{
    const auto body = [](lease&) { return until_cancelled(); };
    const auto user = start_coroutine(*this, with_lock(locks(), "orders:42", with_grace, body));
    run_until_idle();
    silence(verb::extend);
    advance(3100ms);
    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error::lease_lost);
    BOOST_TEST(sent_to(verb::finish).size() == 5u);
    BOOST_TEST(keys_left() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_client_that_closes_leaves_what_is_lost_to_its_grace, guarded_client)
{
    const lease lost = acquire("lost", with_grace);
    const lease held = acquire("held", {.ttl = 20s, .grace = 2s});
    advance(3100ms);
    BOOST_TEST(code_of(locks().async_close()) == error_code());
    BOOST_TEST(keys_left() == 5u);
    BOOST_TEST((node(0).store().remaining("lost", time().elapsed()) > 0ms));
}

BOOST_FIXTURE_TEST_CASE(the_release_of_one_lease_does_not_end_the_grace_of_another, guarded_client)
{
    acquire_options shared = with_grace;
    shared.owner = owner{1};
    {
        lease released = acquire("orders:42", shared);
        {
            const lease dropped = acquire("orders:42", shared);
            advance(3100ms);
        }
        run_until_idle();
        BOOST_TEST(code_of(released.async_release()) == error_code());
    }
    BOOST_TEST(keys_left() == 5u);
    BOOST_TEST(sent_to(verb::release).empty());
    BOOST_TEST(sent_to(verb::finish).empty());
}

BOOST_FIXTURE_TEST_CASE(
    a_lease_that_is_dropped_in_time_is_released_though_the_client_is_late,
    guarded_client
)
{
    lease held = acquire("orders:42", with_grace);
    // The strand comes to it only after the deadline.
    held = lease();
    time().advance(3s);
    run_until_idle();
    BOOST_TEST(sent_to(verb::release).size() == 5u);
}

BOOST_AUTO_TEST_CASE(a_grace_whose_drift_would_take_the_validity_is_refused)
{
    std::vector<std::string> lines;
    setup how = guarded();
    how.lines = &lines;
    how.clock_drift = 0.16;
    guarded_client fixture(how);
    BOOST_TEST(fixture.acquire_with({.ttl = 4s, .grace = 26s}) == error::invalid_argument);
    BOOST_TEST(contains(lines.back(), "4000 ms and 26000 ms, is 4803 ms, must be at most a quarter")
    );
    BOOST_TEST(fixture.acquire_with({.ttl = 10s, .grace = 4s}) == error_code());
}

BOOST_AUTO_TEST_CASE(a_lease_that_joins_a_hold_with_a_grace_is_told_what_is_too_long)
{
    std::vector<std::string> lines;
    setup how = guarded();
    how.lines = &lines;
    guarded_client fixture(how);
    const lease held = fixture.acquire("orders:42", {.ttl = 10s, .grace = 15s, .owner = owner{1}});
    diagnostics report;
    const acquire_options longer{.ttl = 20s, .owner = owner{1}, .report = &report};
    BOOST_TEST(fixture.acquire_with(longer) == error::invalid_argument);
    BOOST_TEST(contains(report.problem, "20000 ms and 15000 ms"));
}

BOOST_FIXTURE_TEST_CASE(a_revoked_hold_keeps_its_grace, guarded_client)
{
    {
        const lease held = acquire("orders:42", with_grace);
        code_of(locks().async_revoke("orders:42", held.fence()));
        advance(3100ms);
    }
    run_until_idle();
    BOOST_TEST(keys_left() == 5u);
}

BOOST_FIXTURE_TEST_CASE(a_leader_that_was_lost_leaves_a_grace, guarded_client)
{
    const auto body = [](term&) { return until_cancelled(); };
    const auto leads =
        start_coroutine(*this, lead(locks(), "orders:42", {.ttl = 3s, .grace = 2s}, body));
    run_until_idle();
    BOOST_TEST(log(verb::acquire).front().ttl == 5s);
    leads->signal.emit(asio::cancellation_type::terminal);
    advance(1s);
}

BOOST_FIXTURE_TEST_CASE(the_lease_ends_earlier_by_the_drift_of_the_grace, guarded_client)
{
    const lease without = acquire("without", {.ttl = 3s});
    const lease with = acquire("with", with_grace);
    const auto earlier = without.valid_until() - with.valid_until();
    BOOST_TEST((earlier > 19ms && earlier < 21ms));  // 1 % of 2 s.
}

BOOST_FIXTURE_TEST_CASE(an_extension_that_a_quarantine_does_not_cover_is_refused, guarded_client)
{
    BOOST_TEST(acquire_with({.ttl = 20s, .grace = 10s}) == error_code());
    lease held = acquire("other", {.ttl = 3s, .grace = 10s});

    BOOST_TEST(code_of(held.async_extend(21s)) == error::invalid_argument);
    BOOST_TEST(code_of(held.async_extend(20s)) == error_code());
}

BOOST_AUTO_TEST_SUITE_END()
