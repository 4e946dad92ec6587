// Each change of a holder, as another client sees it.

#include <redlock/testing.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_watch)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::error::operation_aborted;
using detail::news;
using detail::verb;

namespace {

/// A client that watches, and another one that holds.
struct watched_resource
{
    explicit watched_resource(client_config config = {})
        : watching(nodes.make_client(config)), other(nodes.make_client(config))
    {
        watching.async_run(asio::detached);
        other.async_run(asio::detached);
        nodes.run_until_idle();
    }

    /// What a watcher tells at once. Empty: nothing, and `waiting` goes on.
    std::optional<holding> next()
    {
        if (!waiting)
            waiting = launch(watcher.async_next());
        nodes.run_until_idle();
        return take();
    }

    /// What it tells within a time.
    std::optional<holding> next(std::chrono::milliseconds within)
    {
        auto seen = next();
        for (auto passed = 0ms; !seen && passed < within; passed += 1ms)
        {
            nodes.advance(1ms);
            seen = take();
        }
        return seen;
    }

    std::optional<holding> take()
    {
        if (!waiting->done())
            return std::nullopt;
        const auto done = std::exchange(waiting, nullptr);
        BOOST_TEST_REQUIRE(done->code() == error_code());
        return done->value();
    }

    lease acquire(const acquire_options& options)
    {
        const auto started = launch(other.async_acquire("a", options));
        nodes.run_until_idle();
        BOOST_TEST_REQUIRE(started->done());
        BOOST_TEST_REQUIRE(started->code() == error_code());
        return std::move(started->value());
    }

    void release(lease& held)
    {
        const auto started = launch(held.async_release());
        nodes.run_until_idle();
        BOOST_TEST_REQUIRE(started->done());
    }

    asio::io_context context;
    testing::fake_nodes nodes{context, 5};
    client watching;
    client other;
    redlock::watcher watcher = watching.watch("a");
    std::shared_ptr<pending<holding>> waiting{};
};

/// A client that watches a key, whose values the test writes.
struct watched_keys : running_client
{
    watched_keys() : running_client({.mode = mode::guarded}) {}

    /// @param value Of the nodes `first` to `last`, which is left out. Empty: they have no key.
    void hold(std::size_t first, std::size_t last, std::string value)
    {
        each_node(first, last, [&](fake_node& node) {
            if (value.empty())
                return node.store().erase("a");
            const std::size_t id = value.find(' ');
            node.store().put(
                "a", value.substr(0, id), forever, time().elapsed(), true, value.substr(id)
            );
        });
    }

    void tell_changes()
    {
        each_node([](fake_node& node) { node.tell({news::kind::changed, "a"}); });
        run_until_idle();
    }

    bool tells_within(nanoseconds time)
    {
        if (!waiting)
            waiting = launch(watcher.async_next());
        run_until_idle();
        if (!waiting->done())
            advance(time);
        return waiting->done();
    }

    holding next()
    {
        BOOST_TEST_REQUIRE(tells_within(600ms));
        return std::exchange(waiting, nullptr)->value();
    }

    redlock::watcher watcher = locks().watch("a");
    std::shared_ptr<pending<holding>> waiting{};
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(the_first_view_comes_at_once, watched_resource)
{
    const auto seen = next();
    BOOST_TEST_REQUIRE(seen.has_value());
    BOOST_TEST(seen->state == holding_state::free);
    BOOST_TEST(watcher.resource() == "a");
}

BOOST_FIXTURE_TEST_CASE(nothing_new_is_not_told, watched_resource)
{
    next();
    BOOST_TEST(!next(5s).has_value());
    const lease held = acquire({.ttl = 10s, .auto_extend = true});
    BOOST_TEST(next(50ms).has_value());
    BOOST_TEST(!next(8s).has_value());
}

BOOST_FIXTURE_TEST_CASE(a_change_is_pushed, watched_resource)
{
    next();
    BOOST_TEST(!next(10ms).has_value());
    lease held = acquire({.ttl = 10s, .note = "other"});
    auto seen = next(5ms);
    BOOST_TEST_REQUIRE(seen.has_value());
    BOOST_TEST(seen->state == holding_state::held);
    BOOST_TEST(seen->note.text() == "other");
    BOOST_TEST(seen->token == held.fence());

    BOOST_TEST(!next(10ms).has_value());
    release(held);
    seen = next(5ms);
    BOOST_TEST_REQUIRE(seen.has_value());
    BOOST_TEST(seen->state == holding_state::free);
}

BOOST_FIXTURE_TEST_CASE(another_note_is_news, watched_resource)
{
    const lease held = acquire({.ttl = 10s, .note = "begins"});
    BOOST_TEST(next()->note.text() == "begins");
    BOOST_TEST(!next(10ms).has_value());
    const auto announced = launch(held.async_announce("ends"));
    BOOST_TEST(next(5ms)->note.text() == "ends");
}

BOOST_FIXTURE_TEST_CASE(a_holder_that_dies_is_seen_when_its_keys_expire, watched_resource)
{
    nodes.hold_elsewhere("a", 900ms, "dies");
    BOOST_TEST(next()->note.text() == "dies");
    BOOST_TEST(!next(899ms).has_value());
    const auto seen = next(5ms);
    BOOST_TEST_REQUIRE(seen.has_value());
    BOOST_TEST(seen->state == holding_state::free);
}

BOOST_FIXTURE_TEST_CASE(what_is_over_before_it_could_be_seen_is_skipped, watched_resource)
{
    next();
    for (int i = 0; i < 10; ++i)
    {
        lease held = acquire({.ttl = 10s, .note = "quick"});
        release(held);
    }
    const lease held = acquire({.ttl = 10s, .note = "slow"});
    BOOST_TEST(next(5ms)->note.text() == "slow");
    BOOST_TEST(!next(50ms).has_value());
}

BOOST_FIXTURE_TEST_CASE(tokens_never_go_back, watched_keys)
{
    hold(0, 5, "aa 9 - 0 9 second");
    BOOST_TEST(next().note.text() == "second");
    // What a node was slow to forget.
    hold(0, 5, "bb 7 - 0 7 first");
    BOOST_TEST(!tells_within(2s));
    hold(0, 5, "cc 11 - 0 11 third");
    BOOST_TEST(next().note.text() == "third");
}

BOOST_FIXTURE_TEST_CASE(notes_never_go_back, watched_keys)
{
    hold(0, 1, "aa 9 - 0 12 late");
    hold(1, 5, "aa 9 - 0 9 early");
    BOOST_TEST(next().note.text() == "late");
    // The node that has taken the announcement is silent.
    node(0).becomes(node_state::down);
    BOOST_TEST(!tells_within(2s));
    hold(1, 5, "aa 9 - 0 13 later still");
    BOOST_TEST(next().note.text() == "later still");
}

BOOST_FIXTURE_TEST_CASE(however_often_a_key_changes_it_is_looked_at_every_5_ms, watched_keys)
{
    hold(0, 5, "aa 9 - 0 9 first");
    next();
    log().clear();
    for (int i = 10; i < 110; ++i)
    {
        hold(0, 5, "aa 9 - 0 " + std::to_string(i) + " note " + std::to_string(i));
        tell_changes();
        if (tells_within(1ms))
            next();
    }
    BOOST_TEST(sent_to(verb::inspect).size() <= 5u * 21);
    BOOST_TEST(sent_to(verb::inspect).size() >= 5u * 19);
}

BOOST_FIXTURE_TEST_CASE(a_key_that_expires_is_seen_although_no_holder_was, watched_keys)
{
    hold(0, 3, "aa 9 - 0 9 one");
    hold(3, 5, "");
    each_node(0, 3, [this](fake_node& node) {
        node.store().put("a", "half", 123ms, time().elapsed());
    });
    hold(1, 3, "bb 9 - 0 9 another");
    BOOST_TEST(tells_within(25ms));
    BOOST_TEST(next().state == holding_state::undecided);
    BOOST_TEST(!tells_within(95ms));
    advance(5ms);
    BOOST_TEST(next().state == holding_state::free);
}

BOOST_FIXTURE_TEST_CASE(a_change_that_is_half_done_is_not_told, watched_keys)
{
    hold(0, 5, "aa 9 - 0 9 before");
    BOOST_TEST(next().note.text() == "before");
    hold(0, 2, "bb 10 - 0 10 after");
    hold(2, 5, "");
    hold(3, 4, "cc 11 - 0 11 rival");
    tell_changes();
    BOOST_TEST(!tells_within(15ms));
    hold(0, 3, "bb 10 - 0 10 after");
    tell_changes();
    BOOST_TEST(next().note.text() == "after");
}

BOOST_FIXTURE_TEST_CASE(a_change_that_stays_half_done_is_told, watched_keys)
{
    hold(0, 5, "aa 9 - 0 9 before");
    next();
    hold(0, 2, "bb 10 - 0 10 after");
    hold(2, 4, "cc 11 - 0 11 rival");
    tell_changes();
    BOOST_TEST(tells_within(30ms));
    BOOST_TEST(next().state == holding_state::undecided);
}

BOOST_FIXTURE_TEST_CASE(a_watcher_that_cannot_ask_says_so, watched_resource)
{
    const lease held = acquire({.ttl = 10s});
    next();
    BOOST_TEST(!next().has_value());
    nodes.take_down(3);
    nodes.run_until_idle();
    auto seen = next(600ms);
    BOOST_TEST_REQUIRE(seen.has_value());
    BOOST_TEST(seen->state == holding_state::undecided);
    BOOST_TEST(seen->answered == 2u);

    BOOST_TEST(!next().has_value());
    nodes.take_down(0);
    seen = next(5ms);
    BOOST_TEST_REQUIRE(seen.has_value());
    BOOST_TEST(seen->state == holding_state::held);
}

BOOST_FIXTURE_TEST_CASE(a_client_sees_what_it_does_itself, watched_resource)
{
    next();
    BOOST_TEST(!next(10ms).has_value());
    const auto started = launch(watching.async_acquire("a", 10s));
    nodes.run_until_idle();
    BOOST_TEST_REQUIRE(started->done());
    BOOST_TEST(next(10ms)->state == holding_state::held);
    BOOST_TEST(!next(10ms).has_value());
    const auto released = launch(started->value().async_release());
    BOOST_TEST(next(10ms)->state == holding_state::free);
}

BOOST_AUTO_TEST_CASE(a_client_without_queues_polls)
{
    watched_resource polls({.waiting = {.queue = false, .poll = 300ms}});
    polls.next();
    BOOST_TEST(!polls.next(10ms).has_value());
    const lease held = polls.acquire({.ttl = 10s});
    BOOST_TEST(!polls.next(200ms).has_value());
    BOOST_TEST(polls.next(100ms)->state == holding_state::held);
}

BOOST_AUTO_TEST_CASE(a_client_in_plain_mode_sees_another_holder_without_a_token)
{
    watched_resource plain({.mode = mode::plain});
    lease held = plain.acquire({.ttl = 10s});
    BOOST_TEST(plain.next()->state == holding_state::held);
    plain.release(held);
    held = plain.acquire({.ttl = 10s});
    const auto seen = plain.next(500ms);
    BOOST_TEST_REQUIRE(seen.has_value());
    BOOST_TEST(seen->state == holding_state::held);
    BOOST_TEST(!seen->token);
}

BOOST_FIXTURE_TEST_CASE(one_wait_at_a_time, watched_resource)
{
    next();
    BOOST_TEST(!next().has_value());
    const auto second = launch(watcher.async_next());
    nodes.run_until_idle();
    BOOST_TEST_REQUIRE(second->done());
    BOOST_TEST(second->code() == error::invalid_argument);
    BOOST_TEST(!waiting->done());
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_was_cancelled_can_be_repeated, watched_resource)
{
    next();
    BOOST_TEST(!next().has_value());
    waiting->cancel();
    nodes.run_until_idle();
    BOOST_TEST(std::exchange(waiting, nullptr)->code() == operation_aborted);
    const lease held = acquire({.ttl = 10s});
    BOOST_TEST(next(5ms)->state == holding_state::held);
}

BOOST_FIXTURE_TEST_CASE(a_watcher_ends_with_its_client, watched_resource)
{
    next();
    BOOST_TEST(!next().has_value());
    watching.cancel();
    nodes.advance(1s);
    BOOST_TEST(std::exchange(waiting, nullptr)->code() == operation_aborted);
    waiting = launch(watcher.async_next());
    nodes.run_until_idle();
    BOOST_TEST(waiting->code() == error::not_running);
}

BOOST_FIXTURE_TEST_CASE(a_watcher_may_be_destroyed_while_it_waits, watched_resource)
{
    next();
    BOOST_TEST(!next().has_value());
    watcher = watching.watch("b");
    const lease held = acquire({.ttl = 10s});
    nodes.advance(5ms);
    BOOST_TEST(take()->state == holding_state::held);
}

BOOST_FIXTURE_TEST_CASE(a_bad_resource_is_told_by_the_first_wait, watched_resource)
{
    watcher = watching.watch("");
    waiting = launch(watcher.async_next());
    nodes.run_until_idle();
    BOOST_TEST(waiting->code() == error::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
