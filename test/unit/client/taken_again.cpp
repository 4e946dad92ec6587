// Holds that outlive their nodes: what a node has lost, an extension sets again.

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "support/contains.hpp"
#include "support/fixture.hpp"
#include "support/guarded_client.hpp"

BOOST_AUTO_TEST_SUITE(test_taken_again)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

constexpr acquire_options ten_seconds{.ttl = 10s, .wait = 0ms};
constexpr acquire_options extended{.ttl = 3s, .wait = 0ms, .auto_extend = true};

struct three_nodes : guarded_client
{
    three_nodes() : guarded_client(3) {}

    /// The node loses all its data.
    void forget(std::size_t index) { node(index).server().forget(); }

    /// The same, and its connection.
    void restart(std::size_t index)
    {
        node(index).becomes(node_state::down, "gone");
        forget(index);
        run_until_idle();
        node(index).becomes(node_state::ready);
        run_until_idle();
    }

    [[nodiscard]] std::string value_on(std::size_t index)
    {
        return node(index).store().whole_value("orders:42", time().elapsed());
    }

    [[nodiscard]] milliseconds left_on(std::size_t index)
    {
        return node(index).store().remaining("orders:42", time().elapsed());
    }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_node_that_has_forgotten_a_hold_takes_it_again_when_extended, three_nodes)
{
    lease held = acquire("orders:42", ten_seconds);
    const std::string value = value_on(0);
    forget(0);
    BOOST_TEST(code_of(held.async_extend()) == error_code());
    BOOST_TEST(left_on(0) == 10s);
    BOOST_TEST(held.votes() == 3u);
    BOOST_TEST(value_on(0) == value, "without its client and its note: " << value_on(0));
    BOOST_TEST(node(0).guard().fences["orders:42"] == held.fence().value());
}

BOOST_FIXTURE_TEST_CASE(no_key_that_is_taken_again_outlives_the_longest_ttl, three_nodes)
{
    constexpr milliseconds ttl_max = 30s;
    const auto held = launch(locks().async_acquire("orders:42", {.ttl = ttl_max, .wait = 0ms}));
    advance(1us);
    BOOST_TEST_REQUIRE(held->done());
    restart(0);
    BOOST_TEST(left_on(0) > 0ms);
    for (const std::size_t index : {0U, 1U, 2U})
        BOOST_TEST(left_on(index) <= ttl_max);
}

BOOST_FIXTURE_TEST_CASE(its_vote_counts, three_nodes)
{
    lease held = acquire("orders:42", ten_seconds);
    forget(0);
    node(1).on(verb::extend).error("ERR no");
    BOOST_TEST(code_of(held.async_extend()) == error_code());
    BOOST_TEST(held.votes() == 2u);
}

BOOST_FIXTURE_TEST_CASE(a_lease_lives_on_although_each_node_forgets_it_in_turn, three_nodes)
{
    const lease held = acquire("orders:42", extended);
    const fencing_token token = held.fence();
    for (std::size_t turn = 0; turn < 9; ++turn)
    {
        forget(turn % 3);
        advance(2s);
        BOOST_TEST(!held.expired());
        BOOST_TEST(held.votes() == 3u);
    }
    BOOST_TEST(held.fence() == token);
    BOOST_TEST(acquire_with(ten_seconds) == error::contended);
}

BOOST_FIXTURE_TEST_CASE(a_node_in_quarantine_does_not_take_it_again, three_nodes)
{
    lease held = acquire("orders:42", ten_seconds);
    forget(0);
    node(0).guard().quarantined_until = time().elapsed() + 1h;
    BOOST_TEST(code_of(held.async_extend()) == error_code());
    BOOST_TEST(left_on(0) == 0ms);
    BOOST_TEST(held.votes() == 2u);
}

BOOST_FIXTURE_TEST_CASE(the_key_of_another_is_left_alone, three_nodes)
{
    lease held = acquire("orders:42", ten_seconds);
    forget(0);
    hold_elsewhere("orders:42", 1h, 0, 1);
    BOOST_TEST(code_of(held.async_extend()) == error_code());
    BOOST_TEST(left_on(0) == 1h);
    BOOST_TEST(held.votes() == 2u);
}

BOOST_FIXTURE_TEST_CASE(what_an_earlier_hold_keeps_there_is_not_in_its_way, three_nodes)
{
    lease held = acquire("orders:42", ten_seconds);
    forget(0);
    const std::string earlier = std::to_string(held.fence().value() - 1);
    const nanoseconds now = time().elapsed();
    node(0).store().put("orders:42", "kept " + earlier, 1h, now, false, " - 0 " + earlier + ' ');
    BOOST_TEST(code_of(held.async_extend()) == error_code());
    BOOST_TEST(left_on(0) == 10s);
}

BOOST_FIXTURE_TEST_CASE(others_who_wait_there_with_higher_tokens_do_not_hinder_it, three_nodes)
{
    lease held = acquire("orders:42", ten_seconds);
    forget(0);
    const std::uint64_t higher = held.fence().value() + 5;
    node(0).guard().fences["orders:42"] = higher;
    BOOST_TEST(code_of(held.async_extend()) == error_code());
    BOOST_TEST(left_on(0) == 10s);
    BOOST_TEST(node(0).guard().fences["orders:42"] == higher);
}

BOOST_FIXTURE_TEST_CASE(a_node_that_comes_back_takes_it_again_up_to_its_deadline, three_nodes)
{
    lease held = acquire("orders:42", ten_seconds);
    const time_point until = held.valid_until();
    advance(2s);
    restart(0);
    BOOST_TEST(held.votes() == 3u);
    BOOST_TEST(held.valid_until() == until);
    BOOST_TEST(left_on(0) >= held.remaining());
    BOOST_TEST(left_on(0) <= 8s);
    advance(8s);
    BOOST_TEST(held.expired());
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_is_extended_automatically_is_at_once, three_nodes)
{
    const lease held = acquire("orders:42", extended);
    restart(0);
    BOOST_TEST(held.votes() == 3u);
    BOOST_TEST(left_on(0) == 3s);
}

BOOST_FIXTURE_TEST_CASE(all_holds_are_taken_again, three_nodes)
{
    std::vector<lease> held;
    for (int i = 0; i < 600; ++i)
        held.push_back(acquire("orders:" + std::to_string(i), ten_seconds));
    restart(1);
    for (const lease& each : held)
        BOOST_TEST(each.votes() == 3u);
}

BOOST_FIXTURE_TEST_CASE(a_hold_at_its_limit_stays_at_its_limit, three_nodes)
{
    const lease held =
        acquire("orders:42", {.ttl = 3s, .wait = 0ms, .auto_extend = true, .hold_max = 4s});
    advance(2s);
    const time_point until = held.valid_until();
    restart(0);
    BOOST_TEST(held.votes() == 3u);
    BOOST_TEST(held.valid_until() == until);
    advance(3s);
    BOOST_TEST(held.expired());
    BOOST_TEST(std::string(held.last_extension().message()) != "");
}

BOOST_FIXTURE_TEST_CASE(a_hold_that_was_extended_is_finished_on_all_nodes, three_nodes)
{
    node(2).becomes(node_state::down, "gone");
    run_until_idle();
    lease held = acquire("orders:42", ten_seconds);
    restart(2);
    BOOST_TEST(release(held) == release_outcome::released);
    BOOST_TEST(sent_to(verb::finish).size() == 3u);
    BOOST_TEST(sent_to(verb::release).empty());
    BOOST_TEST(keys_left() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_hold_that_was_not_extended_is_released_where_it_is, three_nodes)
{
    lease held = acquire("orders:42", ten_seconds);
    BOOST_TEST(release(held) == release_outcome::released);
    BOOST_TEST(sent_to(verb::release).size() == 3u);
    BOOST_TEST(sent_to(verb::finish).empty());
}

BOOST_FIXTURE_TEST_CASE(a_hold_that_is_over_is_not_taken_again, three_nodes)
{
    lease held = acquire("orders:42", ten_seconds);
    node(0).on(verb::extend).runs_after(1s);
    const auto extending = launch(held.async_extend());
    run_until_idle();
    BOOST_TEST(release(held) == release_outcome::released);
    advance(2s);
    BOOST_TEST(keys_left() == 0u);
    BOOST_TEST(node(0).guard().over["orders:42"].released == held.fence().value());
}

BOOST_FIXTURE_TEST_CASE(a_hold_that_is_revoked_is_not_taken_again, three_nodes)
{
    const lease held = acquire("orders:42", extended);
    forget(0);
    BOOST_TEST(std::get<0>(revoke(held.fence())) == error_code());
    BOOST_TEST(node(0).guard().over["orders:42"].revoked.contains(held.fence().value()));
    restart(1);
    advance(1s);
    BOOST_TEST(left_on(0) == 0ms);
    BOOST_TEST(left_on(1) == 0ms);
}

BOOST_FIXTURE_TEST_CASE(a_hold_stays_revoked_when_another_is_revoked_after_it, three_nodes)
{
    const lease held = acquire("orders:42", extended);
    forget(0);
    revoke(held.fence());
    revoke(fencing_token::from_value(held.fence().value() + 1));
    restart(1);
    advance(1s);
    BOOST_TEST(left_on(0) == 0ms);
}

BOOST_AUTO_TEST_CASE(a_revocation_whose_answers_come_too_late_is_repeated_once)
{
    setup how = guarded(3);
    how.node_timeout = 1s;
    guarded_client fixture(how);
    const lease held = fixture.acquire("orders:42", extended);
    for (const auto& [delay, asked, outcome] :
         {std::tuple(400ms, 1u, error_code()),
          std::tuple(410ms, 2u, error_code(error::quorum_unreachable))})
    {
        const std::size_t before = fixture.sent_to(verb::revoke).size();
        fixture.each_node(0, 3, [&](fake_node& node) { node.on(verb::revoke).runs_after(delay); });
        BOOST_TEST(std::get<0>(fixture.revoke(held.fence())) == outcome);
        BOOST_TEST(fixture.sent_to(verb::revoke).size() - before == 3 * asked);
        BOOST_TEST(held.revoked());
    }
}

BOOST_FIXTURE_TEST_CASE(a_node_that_does_not_extend_is_not_counted, three_nodes)
{
    lease held = acquire("orders:42", ten_seconds);
    node(0).on(verb::extend).error("ERR no");
    BOOST_TEST(code_of(held.async_extend()) == error_code());
    BOOST_TEST(held.votes() == 2u);
    BOOST_TEST(locks().metrics().at_risk == 1u);
    BOOST_TEST(release(held) == release_outcome::released);
    BOOST_TEST(locks().metrics().at_risk == 0u);
}

BOOST_AUTO_TEST_CASE(a_node_that_lacks_holds_for_two_ttl_is_in_the_log_once)
{
    std::vector<std::string> lines;
    setup how = guarded(3);
    how.lines = &lines;
    guarded_client fixture(how);
    const lease one = fixture.acquire("orders:1", extended);
    const lease another = fixture.acquire("orders:2", extended);
    fixture.node(2).server().forget();
    fixture.node(2).guard().quarantined_until = fixture.time().elapsed() + 1h;
    fixture.advance(5s);
    BOOST_TEST(lines.empty());
    fixture.advance(10s);
    BOOST_TEST_REQUIRE(lines.size() == 1u);
    BOOST_TEST(contains(lines[0], "only 2 of 3 nodes have it, for more than two ttl; missing: "));
}

BOOST_AUTO_TEST_CASE(in_plain_mode_the_id_is_set_again)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", ten_seconds);
    fixture.node(0).server().forget();
    BOOST_TEST(fixture.code_of(held.async_extend()) == error_code());
    const nanoseconds now = fixture.time().elapsed();
    BOOST_TEST(fixture.node(0).store().whole_value("orders:42", now) == fixture.log().front().id);
    BOOST_TEST(held.votes() == 5u);
}

BOOST_AUTO_TEST_SUITE_END()
