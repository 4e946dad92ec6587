#include <redlock/lead.hpp>

#include "client/watchdog.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/elector.hpp"
#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_lead)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::error::operation_aborted;
using detail::verb;

BOOST_AUTO_TEST_CASE(the_body_runs_under_a_lease_that_is_extended_without_a_limit)
{
    elector fixture;
    const auto user = fixture.start();

    fixture.advance(2h);

    BOOST_TEST(fixture.begun == 1u);
    BOOST_TEST_REQUIRE(fixture.now != nullptr);
    BOOST_TEST(!fixture.now->held().expired());
    BOOST_TEST(fixture.now->held().resource() == "jobs");
    BOOST_TEST(!user->done());
}

BOOST_AUTO_TEST_CASE(a_term_has_the_number_of_its_lease_which_increases)
{
    elector fixture(guarded());
    const auto user = fixture.start();
    BOOST_TEST_REQUIRE(fixture.now != nullptr);
    BOOST_TEST(fixture.now->number() == fixture.now->held().fence());

    for (int loss = 0; loss < 3; ++loss)
    {
        fixture.silence(verb::extend);
        fixture.advance(2s);
        fixture.be_honest();
        fixture.advance(1s);
    }

    BOOST_TEST(fixture.numbers.size() == 4u);
    const std::set<fencing_token> different(fixture.numbers.begin(), fixture.numbers.end());
    BOOST_TEST(different.size() == 4u);
    BOOST_TEST(std::ranges::is_sorted(fixture.numbers));
    BOOST_TEST(bool(fixture.numbers.front()));
}

BOOST_AUTO_TEST_CASE(in_plain_mode_terms_have_no_number)
{
    elector fixture;
    const auto user = fixture.start();
    BOOST_TEST_REQUIRE(fixture.now != nullptr);
    BOOST_TEST(!fixture.now->number());
}

BOOST_AUTO_TEST_CASE(a_body_is_cancelled_before_its_deadline_by_stop_before_or_a_third_of_the_ttl)
{
    const std::tuple<milliseconds, milliseconds, milliseconds> stops[] = {
        {0ms, 1968ms, 1s}, {500ms, 2468ms, 500ms}
    };
    for (const auto& [stop_before, stopped_at, left] : stops)
    {
        BOOST_TEST_CONTEXT("stop_before = " << stop_before.count() << " ms")
        {
            elector fixture;
            lead_options options = three_seconds;
            options.stop_before = stop_before;
            const auto user = fixture.start(options);
            fixture.silence(verb::extend);

            fixture.advance(stopped_at - 1ms);
            BOOST_TEST(!fixture.left.has_value());
            fixture.advance(1ms);

            BOOST_TEST_REQUIRE(fixture.left.has_value());
            BOOST_TEST(*fixture.left == left);
        }
    }
}

BOOST_AUTO_TEST_CASE(the_resource_is_released_when_the_body_has_ended_and_not_before)
{
    elector fixture;
    fixture.slow = true;
    const auto user = fixture.start({.ttl = 3s, .pause = 1h, .watchdog = false});
    fixture.silence(verb::extend);
    fixture.advance(1968ms);
    fixture.be_honest();
    fixture.log().clear();

    fixture.advance(900ms);
    BOOST_TEST(fixture.ended == 0u);
    BOOST_TEST(fixture.is_held());
    BOOST_TEST(fixture.log(verb::finish).empty());

    fixture.let_it_stop();
    BOOST_TEST(fixture.ended == 1u);
    BOOST_TEST(fixture.log(verb::finish).size() == 5u);
    BOOST_TEST(!fixture.is_held());
}

BOOST_AUTO_TEST_CASE(a_term_that_is_lost_is_followed_by_another_one)
{
    elector fixture;
    const auto user = fixture.start();
    fixture.silence(verb::extend);
    fixture.advance(2s);
    BOOST_TEST(fixture.ended == 1u);

    fixture.be_honest();
    fixture.advance(3s);

    BOOST_TEST(fixture.begun == 2u);
    BOOST_TEST(!user->done());
    BOOST_TEST(fixture.is_held());
}

BOOST_AUTO_TEST_CASE(keys_that_vanish_end_the_term_and_not_the_leading)
{
    elector fixture;
    const auto user = fixture.start();
    fixture.each_node([](fake_node& node) { node.store().lose_all(); });
    fixture.advance(2s);

    BOOST_TEST(fixture.begun == 2u);
    BOOST_TEST(!user->done());
}

BOOST_AUTO_TEST_CASE(a_term_ends_at_hold_max_and_another_one_follows)
{
    elector fixture;
    const auto user = fixture.start({.ttl = 3s, .hold_max = 10s, .pause = 0ms, .watchdog = false});

    fixture.advance(21s);

    BOOST_TEST(fixture.begun == 3u);
    BOOST_TEST(!user->done());
}

BOOST_AUTO_TEST_CASE(others_may_lead_in_the_pause_after_a_term_which_is_random)
{
    running_client fixture;
    std::vector<std::chrono::steady_clock::time_point> ends;
    const auto returns = [&](term&) -> asio::awaitable<void> {
        ends.push_back(std::chrono::steady_clock::now());
        co_return;
    };
    const auto user = start_with(fixture, returns, {.pause = 40ms, .watchdog = false});

    // A busy machine makes pauses longer.
    BOOST_TEST(in_real_time(fixture, [&] { return ends.size() > 10; }));

    auto shortest = nanoseconds::max();
    for (std::size_t i = 1; i < ends.size(); ++i)
        shortest = std::min<nanoseconds>(shortest, ends[i] - ends[i - 1]);
    BOOST_TEST(shortest >= 20ms);
    BOOST_TEST(shortest < 39ms);
    BOOST_TEST(!user->done());
}

BOOST_AUTO_TEST_CASE(a_pause_of_zero_is_none)
{
    running_client fixture;
    std::size_t terms = 0;
    const auto returns = [&](term& led) -> asio::awaitable<void> {
        if (++terms == 10)
            co_await until_cancelled();
        BOOST_TEST(!led.held().expired());
    };
    const auto user = start_with(fixture, returns);

    BOOST_TEST(terms == 10u);
    BOOST_TEST(fixture.time().elapsed() == 0ms);
}

BOOST_AUTO_TEST_CASE(another_leader_is_waited_for_however_long_it_leads)
{
    elector fixture;
    fixture.hold_elsewhere("jobs", 2h, 0, 5);
    const auto user = fixture.start();

    fixture.advance(2h - 1s);
    BOOST_TEST(fixture.begun == 0u);
    fixture.advance(2s);

    BOOST_TEST(fixture.begun == 1u);
    BOOST_TEST(!user->done());
}

BOOST_AUTO_TEST_CASE(nodes_that_cannot_vote_are_waited_for)
{
    using trouble = void (*)(fake_node&);
    const std::pair<const char*, trouble> troubles[] = {
        {"down", [](fake_node& node) { node.becomes(node_state::down); }},
        {"silent", [](fake_node& node) { node.on(verb::acquire).never(); }},
        {"rejected", [](fake_node& node) { node.on(verb::acquire).error("LOADING"); }},
        {"quarantined", [](fake_node& node) { node.guard().quarantined_until = 1min; }},
    };
    for (const auto& [what, begin] : troubles)
    {
        BOOST_TEST_CONTEXT("nodes that are " << what)
        {
            elector fixture(guarded());
            fixture.each_node(begin);
            const auto user = fixture.start();
            fixture.advance(1min - 1s);
            BOOST_TEST(fixture.begun == 0u);
            BOOST_TEST(!user->done());

            fixture.be_honest();
            fixture.each_node([](fake_node& node) {
                if (node.status().state == node_state::down)
                    node.becomes(node_state::ready);
            });
            fixture.advance(12s);
            BOOST_TEST(fixture.begun == 1u);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_body_that_is_aborted_has_resigned)
{
    running_client fixture;
    std::size_t terms = 0;
    const auto aborted = [&](term&) -> asio::awaitable<void> {
        if (++terms == 3)
            co_await until_cancelled();
        throw boost::system::system_error(make_error_code(operation_aborted));
    };
    const auto user = start_with(fixture, aborted);

    BOOST_TEST(terms == 3u);
    BOOST_TEST(!user->done());
}

BOOST_AUTO_TEST_CASE(a_body_that_is_told_to_resign_is_cancelled_and_released_when_it_has_ended)
{
    elector fixture;
    fixture.slow = true;
    const auto user = fixture.start({.ttl = 3s, .pause = 1h, .watchdog = false});
    BOOST_TEST_REQUIRE(fixture.now != nullptr);

    fixture.now->resign();
    fixture.run_until_idle();
    BOOST_TEST(fixture.left.has_value());
    BOOST_TEST(fixture.is_held());
    fixture.let_it_stop();

    BOOST_TEST(fixture.ended == 1u);
    BOOST_TEST(!fixture.is_held());
    BOOST_TEST(!user->done());
}

BOOST_AUTO_TEST_CASE(a_body_may_tell_itself_to_resign_before_its_first_wait)
{
    elector fixture;
    std::size_t ended = 0;
    const auto resigns = [&](term& led) -> asio::awaitable<void> {
        led.resign();
        co_await asio::this_coro::throw_if_cancelled(false);
        asio::steady_timer never(
            co_await asio::this_coro::executor, asio::steady_timer::time_point::max()
        );
        co_await never.async_wait(asio::as_tuple(asio::deferred));
        ++ended;
    };
    const auto user = start_with(fixture, resigns, {.pause = 1h, .watchdog = false});

    BOOST_TEST(ended == 1u);
    BOOST_TEST(!fixture.is_held());
    BOOST_TEST(!user->done());
}

BOOST_AUTO_TEST_CASE(a_body_is_moved_or_referred_to)
{
    struct moved_body
    {
        explicit moved_body(std::size_t& counter) : terms(counter) {}
        moved_body(moved_body&&) = default;

        asio::awaitable<void> operator()(term&)
        {
            ++terms;
            co_await until_cancelled();
        }

        std::size_t& terms;
    };
    running_client fixture;
    std::size_t terms = 0;
    moved_body kept(terms);

    for (int way = 0; way < 2; ++way)
    {
        const auto user =
            way == 0 ? start_with(fixture, moved_body(terms)) : start_with(fixture, std::ref(kept));
        BOOST_TEST(terms == static_cast<std::size_t>(way + 1));
        user->signal.emit(asio::cancellation_type::terminal);
        fixture.run_until_idle();
        BOOST_TEST(user->done());
    }
}

namespace {

// What `on_overrun` was told. It has to be a function.
std::vector<std::string> overruns;

void note_overrun(const overrun& event) noexcept
{
    overruns.push_back(std::string(event.resource) + ' ' + to_string(event.number));
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_overrun_is_told_once_in_a_term_in_the_last_millisecond_of_the_lease)
{
    running_client fixture(guarded());
    const lease held = fixture.acquire("jobs", {.ttl = 3s});
    lead_metrics counts;
    const lead_options options{.stop_before = 1s, .on_overrun = note_overrun, .metrics = &counts};
    detail::watched_term watched(held, options);
    const auto look = [&] { return watched.look(fixture.time().now().steady); };
    overruns.clear();

    for (int looks = 0; look() != time_point::max(); ++looks)
    {
        BOOST_TEST_REQUIRE(looks < 3);
        BOOST_TEST(overruns.empty());
        fixture.advance(look() - fixture.time().now().steady);
    }

    const auto early = held.valid_until() - fixture.time().now().steady;
    BOOST_TEST(early >= 0ms);
    BOOST_TEST(early < 1ms);
    for (int again = 0; again < 3; ++again)
        BOOST_TEST(look() == time_point::max());
    BOOST_TEST_REQUIRE(overruns.size() == 1u);
    BOOST_TEST(overruns.front() == "jobs " + to_string(held.fence()));
    BOOST_TEST(counts.overruns == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
