#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_lost)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

nanoseconds time_left(client_fixture& fixture, const lease& held)
{
    return held.valid_until() - fixture.time().now().steady;
}

}  // namespace

BOOST_AUTO_TEST_CASE(loss_is_told_at_the_deadline)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 1s});
    const auto lost = launch(held.async_wait_lost());

    fixture.advance(time_left(fixture, held) - 1ns);
    BOOST_TEST(!lost->done());
    fixture.advance(1ns);

    BOOST_TEST_REQUIRE(lost->done());
    BOOST_TEST(lost->code() == error::lease_lost);
    BOOST_TEST(held.expired());
}

BOOST_AUTO_TEST_CASE(loss_is_told_at_the_deadline_while_every_extension_hangs)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 1s, .auto_extend = true});
    fixture.silence(verb::extend);
    const auto lost = launch(held.async_wait_lost());

    fixture.advance(time_left(fixture, held));

    BOOST_TEST_REQUIRE(lost->done());
    BOOST_TEST(lost->code() == error::lease_lost);
    BOOST_TEST(held.last_extension() == error::quorum_unreachable);
}

BOOST_AUTO_TEST_CASE(loss_is_told_as_soon_as_a_majority_has_the_key_no_longer)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 3s, .auto_extend = true});
    const auto lost = launch(held.async_wait_lost());
    fixture.each_node(0, 3, [](fake_node& node) { node.store().lose_all(); });

    fixture.advance(1100ms);

    BOOST_TEST_REQUIRE(lost->done());
    BOOST_TEST(lost->code() == error::lease_lost);
    BOOST_TEST(held.expired());
    BOOST_TEST(held.last_extension() == error::lease_lost);
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_lease_that_its_owner_ends_is_not_lost)
{
    using end = void (*)(lease&);
    const std::pair<const char*, end> ends[] = {
        {"released", [](lease& held) { held.async_release(asio::detached); }},
        {"destroyed", [](lease& held) { held = lease(); }},
        {"abandoned", [](lease& held) { held.abandon(); }},
    };
    for (const auto& [how, end_lease] : ends)
    {
        BOOST_TEST_CONTEXT(how)
        {
            running_client fixture;
            lease held = fixture.acquire("orders:42");
            const auto waiting = launch(held.async_wait_lost());
            fixture.run_until_idle();

            end_lease(held);
            fixture.advance(100ms);

            BOOST_TEST_REQUIRE(waiting->done());
            BOOST_TEST(waiting->code() == error_code());
        }
    }
}

BOOST_AUTO_TEST_CASE(who_asks_late_is_told_at_once)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 1s});
    fixture.advance(1h);

    const auto lost = launch(held.async_wait_lost());
    fixture.run_until_idle();

    BOOST_TEST_REQUIRE(lost->done());
    BOOST_TEST(lost->code() == error::lease_lost);
}

BOOST_AUTO_TEST_CASE(who_asks_after_the_release_of_a_lease_that_was_lost_is_told)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 3s});
    fixture.each_node(0, 3, [](fake_node& node) { node.store().lose_all(); });
    const auto [refused] = fixture.complete(held.async_extend());
    BOOST_TEST_REQUIRE(refused == error::lease_lost);
    fixture.complete(held.async_release());

    const auto [ec] = fixture.complete(held.async_wait_lost());

    BOOST_TEST(ec == error::lease_lost);
}

BOOST_AUTO_TEST_CASE(everybody_who_waits_is_told)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 1s});
    std::vector<std::shared_ptr<pending<>>> waiting;
    for (int i = 0; i < 10; ++i)
        waiting.push_back(launch(held.async_wait_lost()));

    fixture.advance(1s);

    for (const auto& each : waiting)
    {
        BOOST_TEST_REQUIRE(each->done());
        BOOST_TEST(each->completions == 1u);
        BOOST_TEST(each->code() == error::lease_lost);
    }
}

BOOST_AUTO_TEST_CASE(an_empty_lease_cannot_be_lost)
{
    running_client fixture;
    lease empty;
    // Without a client it has no executor but the system's, in another thread.
    std::promise<error_code> told;
    empty.async_wait_lost([&](error_code ec) { told.set_value(ec); });

    BOOST_TEST(told.get_future().get() == error::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_lease_lives_while_it_is_extended)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 1s});
    const auto lost = launch(held.async_wait_lost());

    for (int i = 0; i < 20; ++i)
    {
        fixture.advance(500ms);
        fixture.complete(held.async_extend());
    }
    BOOST_TEST(!lost->done());
    fixture.advance(1s);

    BOOST_TEST(lost->done());
}

BOOST_AUTO_TEST_CASE(an_expired_lease_is_not_revived_by_an_extension_that_was_granted)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 1s});
    const time_point before = held.valid_until();
    fixture.each_node([](fake_node& node) { node.on(verb::extend).after(40ms); });
    fixture.advance(time_left(fixture, held) - 20ms);
    const auto extended = launch(held.async_extend(10s));
    const auto lost = launch(held.async_wait_lost());

    fixture.advance(100ms);

    BOOST_TEST(extended->code() == error::lease_lost);
    BOOST_TEST(lost->code() == error::lease_lost);
    BOOST_TEST(held.expired());
    BOOST_TEST(held.valid_until() == before);
    // The keys would live for ten more seconds.
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_loop_that_stood_still_past_the_deadline_tells_the_loss_before_the_replies)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 1s});
    std::vector<std::string> order;
    held.async_wait_lost([&](error_code) { order.push_back("lost"); });
    fixture.each_node([](fake_node& node) { node.on(verb::extend).after(40ms); });
    fixture.advance(time_left(fixture, held) - 50ms);
    held.async_extend(10s, [&](error_code ec) {
        order.push_back(ec == error::lease_lost ? "not extended" : "extended");
    });
    fixture.run_until_idle();

    fixture.time().advance(5s);  // All at once: the answers are there, in time, and nobody looked.
    fixture.run_until_idle();

    const std::vector<std::string> expected{"lost", "not extended"};
    BOOST_TEST(order == expected, boost::test_tools::per_element());
}

// The timer comes behind the sockets, so the turn itself has to look.
BOOST_AUTO_TEST_CASE(replies_that_are_read_after_the_deadline_are_acted_on_after_the_loss)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 1s});
    std::vector<std::string> order;
    held.async_wait_lost([&](error_code) { order.push_back("lost"); });
    fixture.each_node([](fake_node& node) { node.on(verb::acquire).after(40ms); });
    fixture.advance(time_left(fixture, held) - 50ms);
    fixture.locks().async_acquire("orders:43", 10s, [&](error_code, lease) {
        order.push_back("acquired");
    });
    fixture.advance(40ms - 1ns);

    fixture.time().pass_with_each_look(20ms);  // No timer is told.
    fixture.advance(1ns);

    const std::vector<std::string> expected{"lost", "acquired"};
    BOOST_TEST(order == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_process_that_is_slow_gets_a_lease_or_an_error)
{
    for (milliseconds per_look = 1ms; per_look <= 60ms; ++per_look)
    {
        BOOST_TEST_CONTEXT(per_look.count() << " ms for each look at the clocks")
        {
            running_client fixture;
            fixture.time().pass_with_each_look(per_look);

            const auto [ec, held] = fixture.complete(
                fixture.locks().async_acquire("orders:42", {.ttl = 60ms, .wait = 0ms})
            );

            BOOST_TEST(static_cast<bool>(held) == !ec);
        }
    }
}

BOOST_AUTO_TEST_CASE(who_saw_the_deadline_pass_never_sees_the_lease_live_again)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 1s});
    fixture.advance(900ms);
    const core::instant before = fixture.time().now();
    fixture.time().jump(manual_time::clock::boot, 1s);
    BOOST_TEST(held.expired());

    fixture.time().jump(manual_time::clock::boot, before.boot - fixture.time().now().boot);
    const auto [ec] = fixture.complete(held.async_extend(10s));

    BOOST_TEST(ec == error::lease_lost);
    BOOST_TEST(held.expired());
}

BOOST_AUTO_TEST_CASE(a_suspension_is_noticed_within_half_a_second)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 30s});
    const auto lost = launch(held.async_wait_lost());
    fixture.advance(1s);

    fixture.time().jump(manual_time::clock::boot, 40s);  // The steady clock stood still meanwhile.
    BOOST_TEST(held.expired());
    fixture.advance(500ms);

    BOOST_TEST_REQUIRE(lost->done());
    BOOST_TEST(lost->code() == error::lease_lost);
}

BOOST_AUTO_TEST_CASE(a_short_suspension_moves_the_deadline_and_the_extension)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 30s});
    const auto lost = launch(held.async_wait_lost());
    fixture.advance(1s);

    fixture.time().jump(manual_time::clock::boot, 20s);
    fixture.advance(500ms);
    BOOST_TEST(!lost->done());
    BOOST_TEST(held.remaining() < 9s);
    fixture.advance(held.remaining() + 1ms);

    BOOST_TEST(lost->done());
}

BOOST_AUTO_TEST_CASE(a_node_that_connects_late_is_not_asked_for_a_lease_that_is_over)
{
    for (const bool abandoned : {false, true})
    {
        client_fixture fixture(setup{.nodes = 3});
        fixture.node(2).starts(node_state::connecting);
        fixture.start_client();
        lease held = fixture.acquire("orders:42", {.ttl = 200ms});
        fixture.advance(abandoned ? 10ms : 250ms);
        if (abandoned)
            held.abandon();
        fixture.run_until_idle();

        fixture.node(2).becomes(node_state::ready);
        fixture.run_until_idle();

        BOOST_TEST(fixture.node(2).store().count_set(fixture.time().elapsed()) == 0u);
    }
}

BOOST_AUTO_TEST_CASE(loss_is_told_while_the_boot_clock_stands_still)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 1s});
    const auto lost = launch(held.async_wait_lost());
    fixture.time().stop(manual_time::clock::boot);

    fixture.advance(1s);

    BOOST_TEST(lost->done());
}

BOOST_AUTO_TEST_CASE(a_lease_that_was_released_in_time_was_not_lost_whatever_became_of_others)
{
    running_client fixture;
    const acquire_options options{.ttl = 10s, .owner = owner{7}};
    lease released = fixture.acquire("orders:42", options);
    const lease other = fixture.acquire("orders:42", options);
    const auto lost = launch(released.async_wait_lost());
    fixture.run_until_idle();

    released.async_release(asio::detached);
    fixture.time().advance(1h);
    fixture.advance(10ms);

    BOOST_TEST_REQUIRE(lost->done());
    BOOST_TEST(lost->code() == error_code());
    BOOST_TEST(other.expired());
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_released_too_late_was_lost)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42", {.ttl = 10s});
    const auto lost = launch(held.async_wait_lost());
    fixture.run_until_idle();

    fixture.time().advance(1h);
    held.async_release(asio::detached);
    fixture.advance(10ms);

    BOOST_TEST_REQUIRE(lost->done());
    BOOST_TEST(lost->code() == error::lease_lost);
}

BOOST_AUTO_TEST_SUITE_END()
