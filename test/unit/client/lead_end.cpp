#include <redlock/lead.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <stdexcept>
#include <utility>

#include "support/contains.hpp"
#include "support/elector.hpp"
#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_lead_end)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::error::operation_aborted;
using detail::verb;

/// How `lead` ends: with its client, by cancellation, and with what waiting does not mend.

BOOST_AUTO_TEST_CASE(nodes_that_are_marked_for_other_settings_end_it)
{
    elector fixture;
    fixture.each_node([](fake_node& node) {
        node.on(verb::acquire).reply(vote::refused, reason::config_mismatch);
    });
    const auto user = fixture.start();

    fixture.advance(11s);

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error::config_mismatch);
    BOOST_TEST(contains(user->what(), "jobs"));
}

BOOST_AUTO_TEST_CASE(arguments_out_of_range_end_it_at_once)
{
    const std::pair<const char*, lead_options> mistakes[] = {
        {"no ttl", {.ttl = 0ms}},
        {"a stop_before beyond its limit", {.ttl = 3s, .stop_before = 2s}},
        {"a negative stop_before", {.ttl = 3s, .stop_before = -1ms}},
        {"no hold_max", {.hold_max = 0ms}},
        {"a negative pause", {.pause = -1ms}},
        {"a pause of more than a day", {.pause = 24h + 1ms}},
        {"no on_overrun", {.on_overrun = nullptr}},
    };
    for (const auto& [what, options] : mistakes)
    {
        BOOST_TEST_CONTEXT(what)
        {
            elector fixture;
            const auto user = fixture.start(options);
            BOOST_TEST_REQUIRE(user->done());
            BOOST_TEST(user->code() == error::invalid_argument);
            BOOST_TEST(fixture.log().empty());
        }
    }
}

BOOST_AUTO_TEST_CASE(a_client_that_does_not_run_ends_it)
{
    client_fixture fixture;
    const auto user = start_with(fixture, nothing);
    BOOST_TEST(!user->done());
    fixture.advance(10s);

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error::not_running);
}

BOOST_AUTO_TEST_CASE(a_client_that_ended_before_ends_it)
{
    running_client fixture;
    fixture.locks().cancel();
    fixture.advance(100ms);
    const auto user = start_with(fixture, nothing);

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error::not_running);
}

namespace {

using moment = void (*)(elector&);

/// The parts of its life, and how each is reached.
const std::pair<const char*, moment> moments[] = {
    {"while it stands", [](elector& on) { on.hold_elsewhere("jobs", 1h, 0, 5); }},
    {"while it leads", [](elector&) {}},
    {"in a pause",
     [](elector& on) {
         on.each_node([](fake_node& node) {
             node.on(verb::extend).reply(vote::denied, reason::gone);
         });
     }},
};

}  // namespace

BOOST_AUTO_TEST_CASE(it_returns_when_its_client_ends)
{
    using end = void (*)(elector&);
    const std::pair<const char*, end> ends[] = {
        {"closed", [](elector& on) { on.locks().async_close(asio::detached); }},
        {"cancelled", [](elector& on) { on.locks().cancel(); }},
    };
    for (const auto& [how, finish] : ends)
    {
        for (const auto& [when, prepare] : moments)
        {
            BOOST_TEST_CONTEXT("a client that is " << how << ' ' << when)
            {
                elector fixture;
                prepare(fixture);
                const auto user = fixture.start({.ttl = 3s, .pause = 40ms, .watchdog = false});
                fixture.advance(1500ms);
                BOOST_TEST(!user->done());

                finish(fixture);
                fixture.advance(100ms);

                BOOST_TEST_REQUIRE(in_real_time(fixture, [&] { return user->done(); }));
                BOOST_TEST(!user->failure);
                BOOST_TEST(fixture.begun == fixture.ended);
                BOOST_TEST(fixture.keys_left() == 0u);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(only_a_term_that_has_ended_by_itself_is_followed_by_a_pause)
{
    elector fixture;
    const auto user = fixture.start({.ttl = 3s, .pause = 1h, .watchdog = false});
    BOOST_TEST(fixture.begun == 1u);

    fixture.locks().cancel();
    fixture.run_until_idle();

    BOOST_TEST(user->done());
}

BOOST_AUTO_TEST_CASE(a_cancellation_ends_it_and_releases)
{
    for (const auto& [when, prepare] : moments)
    {
        BOOST_TEST_CONTEXT(when)
        {
            elector fixture;
            prepare(fixture);
            const auto user = fixture.start({.ttl = 3s, .pause = 1h, .watchdog = false});
            fixture.advance(1500ms);
            BOOST_TEST(!user->done());

            user->signal.emit(asio::cancellation_type::terminal);
            fixture.advance(100ms);

            BOOST_TEST_REQUIRE(user->done());
            BOOST_TEST(user->code() == operation_aborted);
            BOOST_TEST(fixture.begun == fixture.ended);
            BOOST_TEST(fixture.keys_left() == 0u);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_cancellation_ends_it_also_in_a_coroutine_in_which_it_throws_nothing)
{
    running_client fixture;
    const auto stay = [](term&) { return until_cancelled(); };
    const auto caller = [&]() -> asio::awaitable<void> {
        co_await asio::this_coro::throw_if_cancelled(false);
        co_await lead(fixture.locks(), "jobs", three_seconds, stay);
    };
    const auto user = start_coroutine(fixture, caller());
    fixture.run_until_idle();

    user->signal.emit(asio::cancellation_type::terminal);
    fixture.run_until_idle();

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == operation_aborted);
}

BOOST_AUTO_TEST_CASE(what_the_body_throws_ends_it_and_is_passed_on)
{
    running_client fixture;
    const auto throws = [](term&) -> asio::awaitable<void> {
        throw std::out_of_range("of the body");
        co_return;
    };
    const auto user = start_with(fixture, throws);

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->what() == "of the body");
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(an_error_that_would_be_waited_out_ends_it_if_the_body_throws_it)
{
    for (const error code : {error::contended, error::lease_lost, error::not_running})
    {
        BOOST_TEST_CONTEXT(code)
        {
            running_client fixture;
            const auto throws = [code](term&) -> asio::awaitable<void> {
                throw boost::system::system_error(make_error_code(code));
                co_return;
            };
            const auto user = start_with(fixture, throws);

            BOOST_TEST_REQUIRE(user->done());
            BOOST_TEST(user->code() == code);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_body_that_ignores_a_cancellation_is_awaited)
{
    elector fixture;
    fixture.slow = true;
    const auto user = fixture.start();

    user->signal.emit(asio::cancellation_type::terminal);
    fixture.advance(1h);
    BOOST_TEST(!user->done());
    fixture.let_it_stop();
    fixture.advance(100ms);

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == operation_aborted);
    BOOST_TEST(fixture.begun == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
