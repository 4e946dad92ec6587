#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_auto_extend)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

constexpr acquire_options extended{.ttl = 3s, .auto_extend = true};

/// How many extensions the nodes were asked for since the log was cleared.
std::size_t extensions(client_fixture& fixture)
{
    return fixture.sent_to(verb::extend).size() / fixture.node_count();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_lease_outlives_its_ttl)
{
    running_client fixture;
    const lease held = fixture.acquire("orders:42", extended);

    for (int second = 0; second < 60; ++second)
    {
        fixture.advance(1s);
        BOOST_TEST(held.remaining() > 1500ms);
    }

    BOOST_TEST(fixture.keys_left() == 5u);
}

BOOST_AUTO_TEST_CASE(without_the_option_nothing_is_extended)
{
    running_client fixture;
    const lease held = fixture.acquire("orders:42", {.ttl = 3s});

    fixture.advance(10s);

    BOOST_TEST(held.expired());
    BOOST_TEST(fixture.sent_to(verb::extend).empty());
}

BOOST_AUTO_TEST_CASE(an_extension_comes_after_a_third_of_the_ttl_and_not_sooner_than_needed)
{
    running_client fixture;
    const lease held = fixture.acquire("orders:42", extended);

    fixture.advance(890ms);
    BOOST_TEST(extensions(fixture) == 0u);
    fixture.advance(130ms);
    BOOST_TEST(extensions(fixture) == 1u);
    fixture.advance(30s);

    BOOST_TEST(extensions(fixture) >= 30u);
    BOOST_TEST(extensions(fixture) <= 35u);
}

BOOST_AUTO_TEST_CASE(leases_that_are_due_together_share_a_turn)
{
    running_client fixture;
    std::vector<lease> held;
    for (int i = 0; i < 200; ++i)
        held.push_back(fixture.acquire("r" + std::to_string(i), extended));
    fixture.advance(1100ms);

    std::set<nanoseconds> moments;
    for (const asked_question& each : fixture.log(verb::extend))
        moments.insert(each.at);

    // The jitter spreads them over 100 ms, and every 10 ms some are sent.
    BOOST_TEST(fixture.sent_to(verb::extend).size() == 1000u);
    BOOST_TEST(moments.size() <= 12u);
}

BOOST_AUTO_TEST_CASE(a_suspension_that_leaves_a_part_of_the_ttl_brings_the_extension_forward)
{
    running_client fixture;
    const lease held = fixture.acquire("orders:42", {.ttl = 30s, .auto_extend = true});
    fixture.advance(1s);

    fixture.time().jump(manual_time::clock::boot, 22s);  // The steady clock stood still meanwhile.
    fixture.advance(510ms);

    BOOST_TEST(extensions(fixture) == 1u);
    BOOST_TEST(held.remaining() > 29s);
    fixture.advance(8900ms);
    BOOST_TEST(extensions(fixture) == 1u);
}

BOOST_AUTO_TEST_CASE(a_suspension_during_the_round_brings_the_extension_forward)
{
    running_client fixture;
    fixture.each_node([](fake_node& node) { node.on(verb::acquire).after(10ms); });
    const auto acquiring =
        launch(fixture.locks().async_acquire("orders:42", {.ttl = 30s, .auto_extend = true}));
    fixture.run_until_idle();
    fixture.time().jump(manual_time::clock::boot, 22s);
    fixture.advance(600ms);

    BOOST_TEST_REQUIRE(acquiring->done());
    BOOST_TEST(extensions(fixture) == 1u);
    BOOST_TEST(acquiring->value().remaining() > 29s);
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_acquired_after_a_suspension_is_extended_as_any_other)
{
    running_client fixture;
    const lease other = fixture.acquire("r1", {.ttl = 30s});
    fixture.advance(1s);
    fixture.time().jump(manual_time::clock::boot, 22s);
    const lease held = fixture.acquire("orders:42", {.ttl = 30s, .auto_extend = true});

    fixture.advance(8s);
    BOOST_TEST(extensions(fixture) == 0u);
    fixture.advance(2100ms);

    BOOST_TEST(extensions(fixture) == 1u);
}

BOOST_AUTO_TEST_CASE(what_has_ended_is_extended_no_longer)
{
    using end = void (*)(client_fixture&, lease&);
    const std::tuple<const char*, end, std::size_t> ends[] = {
        {"released", [](client_fixture&, lease& held) { held.async_release(asio::detached); }, 0},
        {"destroyed", [](client_fixture&, lease& held) { held = lease(); }, 0},
        {"abandoned", [](client_fixture&, lease& held) { held.abandon(); }, 5},
        {"its client was cancelled", [](client_fixture& on, lease&) { on.locks().cancel(); }, 5},
    };
    for (const auto& [how, end_it, keys_left] : ends)
    {
        BOOST_TEST_CONTEXT(how)
        {
            running_client fixture;
            lease held = fixture.acquire("orders:42", extended);

            end_it(fixture, held);
            fixture.advance(1s);
            BOOST_TEST(fixture.sent_to(verb::release).size() == 5 - keys_left);
            BOOST_TEST(fixture.keys_left() == keys_left);
            fixture.log().clear();
            fixture.advance(10s);

            BOOST_TEST(fixture.log().empty());
            BOOST_TEST(held.expired());
            BOOST_TEST(fixture.keys_left() == 0u);
        }
    }
}

BOOST_AUTO_TEST_CASE(extensions_that_fail_for_less_than_the_validity_cost_nothing)
{
    using trouble = void (*)(fake_node&);
    const std::pair<trouble, error> troubles[] = {
        {[](fake_node& node) { node.on(verb::extend).never(); }, error::quorum_unreachable},
        {[](fake_node& node) { node.on(verb::extend).error("LOADING"); }, error::node_rejected},
    };
    for (const auto& [begin, code] : troubles)
    {
        BOOST_TEST_CONTEXT(code)
        {
            running_client fixture;
            const lease held = fixture.acquire("orders:42", extended);

            fixture.each_node(begin);
            fixture.advance(2500ms);
            BOOST_TEST(!held.expired());
            BOOST_TEST(held.last_extension() == code);
            BOOST_TEST(fixture.sent_to(verb::release).empty());
            BOOST_TEST(fixture.keys_left() == 5u);
            fixture.be_honest();
            fixture.advance(10s);

            BOOST_TEST(!held.expired());
            BOOST_TEST(held.last_extension() == error_code());
        }
    }
}

BOOST_AUTO_TEST_CASE(after_a_failure_the_tries_are_close_and_after_a_success_they_are_not)
{
    running_client fixture;
    const lease held = fixture.acquire("orders:42", {.ttl = 30s, .auto_extend = true});
    fixture.silence(verb::extend);
    fixture.advance(20s);
    BOOST_TEST(extensions(fixture) >= 3u);

    fixture.be_honest();
    fixture.advance(5s);
    fixture.log().clear();
    fixture.advance(60s);

    BOOST_TEST(extensions(fixture) >= 5u);
    BOOST_TEST(extensions(fixture) <= 7u);
}

BOOST_AUTO_TEST_CASE(it_stops_at_the_limit_of_the_hold)
{
    running_client fixture;
    acquire_options options = extended;
    options.hold_max = 10s;
    lease held = fixture.acquire("orders:42", options);
    const auto lost = launch(held.async_wait_lost());

    fixture.advance(6500ms);
    BOOST_TEST(!held.expired());
    fixture.advance(3500ms);

    BOOST_TEST(held.expired());
    BOOST_TEST_REQUIRE(lost->done());
    BOOST_TEST(lost->code() == error::hold_limit_reached);
}

BOOST_AUTO_TEST_CASE(more_leases_than_may_be_extended_at_a_time_are_all_extended)
{
    running_client fixture({.nodes = 1});
    std::vector<lease> held;
    for (int i = 0; i < 1500; ++i)
        held.push_back(fixture.acquire("r" + std::to_string(i), extended));

    fixture.time().advance(1100ms);  // As after a standstill: all are due at once.
    fixture.advance(100ms);

    BOOST_TEST(fixture.sent_to(verb::extend).size() == 1500u);
    BOOST_TEST(std::ranges::count_if(held, &lease::expired) == 0);
}

BOOST_AUTO_TEST_CASE(extensions_that_hang_are_no_more_than_the_window)
{
    running_client fixture({.nodes = 1});
    std::vector<lease> held;
    for (int i = 0; i < 1500; ++i)
        held.push_back(fixture.acquire("r" + std::to_string(i), extended));
    fixture.silence(verb::extend);

    fixture.time().advance(1100ms);
    fixture.run_until_idle();

    BOOST_TEST(fixture.sent_to(verb::extend).size() == 64u);
}

BOOST_AUTO_TEST_SUITE_END()
