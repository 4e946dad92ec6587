#include <redlock/with_lock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/contains.hpp"
#include "support/fixture.hpp"
#include "support/spawned.hpp"

BOOST_AUTO_TEST_SUITE(test_with_lock)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::error::operation_aborted;
using detail::verb;

namespace {

constexpr acquire_options three_seconds{.ttl = 3s};
constexpr acquire_options impatient{.wait = 500ms};

/// Starts a coroutine of the user and lets it run until it waits.
std::shared_ptr<spawned> spawn(client_fixture& fixture, asio::awaitable<void> work)
{
    auto started = start_coroutine(fixture, std::move(work));
    fixture.run_until_idle();
    return started;
}

/// Lets the fixture's time pass in a body, until it is cancelled. The wait is one that does not end
/// by itself: for the loss of another lease.
asio::awaitable<void> wait_until_cancelled(lease& other)
{
    co_await other.async_wait_lost(asio::deferred);
}

asio::awaitable<void> nothing(lease&)
{
    co_return;
}

struct not_default
{
    explicit not_default(int given) : value(given) {}
    not_default(not_default&&) = default;
    not_default& operator=(not_default&&) = delete;

    int value;
};

/// A running client, and a lease whose loss bodies may wait for.
struct locked_world : running_client
{
    lease other = acquire("another", {.ttl = 1h});
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_body_runs_under_a_lease_that_is_released_afterwards)
{
    running_client fixture;
    bool ran = false;
    const auto body = [&](lease& held) -> asio::awaitable<void> {
        ran = true;
        BOOST_TEST(!held.expired());
        BOOST_TEST(held.resource() == "orders:42");
        BOOST_TEST(fixture.keys_left() == 5u);
        co_return;
    };

    const auto user = spawn(fixture, with_lock(fixture.locks(), "orders:42", {}, body));

    BOOST_TEST(user->done());
    BOOST_TEST(user->code() == error_code());
    BOOST_TEST(ran);
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_ttl_may_stand_for_the_options_and_so_may_nothing)
{
    running_client fixture;
    const auto body = [](lease&) -> asio::awaitable<void> { co_return; };

    const auto of_ttl = spawn(fixture, with_lock(fixture.locks(), "orders:42", 3s, body));
    const auto of_defaults = spawn(fixture, with_lock(fixture.locks(), "orders:43", body));

    BOOST_TEST(of_ttl->done());
    BOOST_TEST(of_defaults->done());
    BOOST_TEST(fixture.log(verb::acquire).front().ttl == 3s);
    BOOST_TEST(fixture.log(verb::acquire).back().ttl == acquire_options().ttl);
}

BOOST_AUTO_TEST_CASE(the_result_of_the_body_is_handed_out)
{
    running_client fixture;
    std::optional<int> number;
    std::unique_ptr<std::string> text;
    const auto user = [&]() -> asio::awaitable<void> {
        auto value = co_await with_lock(
            fixture.locks(),
            "a",
            {},
            [](lease&) -> asio::awaitable<not_default> { co_return not_default(42); }
        );
        number = value.value;
        text = co_await with_lock(
            fixture.locks(),
            "b",
            {},
            [](lease&) -> asio::awaitable<std::unique_ptr<std::string>> {
                co_return std::make_unique<std::string>("moved");
            }
        );
    };

    const auto ended = spawn(fixture, user());

    BOOST_TEST(ended->code() == error_code());
    BOOST_TEST_REQUIRE(number.has_value());
    BOOST_TEST(*number == 42);
    BOOST_TEST_REQUIRE(text != nullptr);
    BOOST_TEST(*text == "moved");
}

BOOST_AUTO_TEST_CASE(the_lease_is_extended_while_the_body_runs)
{
    locked_world fixture;
    const auto body = [&](lease&) { return wait_until_cancelled(fixture.other); };
    const auto user = spawn(fixture, with_lock(fixture.locks(), "orders:42", three_seconds, body));

    fixture.advance(60s);
    BOOST_TEST(!user->done());
    fixture.complete(fixture.other.async_release());
    fixture.run_until_idle();

    BOOST_TEST(user->done());
    BOOST_TEST(user->code() == error_code());
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_failed_acquisition_does_not_call_the_body)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:42", 1h, 0, 5);
    bool ran = false;
    const auto body = [&](lease&) -> asio::awaitable<void> {
        ran = true;
        co_return;
    };

    const auto user = spawn(fixture, with_lock(fixture.locks(), "orders:42", {.wait = 0ms}, body));
    fixture.advance(1s);

    BOOST_TEST(user->done());
    BOOST_TEST(user->code() == error::contended);
    BOOST_TEST(!ran);
}

BOOST_AUTO_TEST_CASE(a_body_is_cancelled_when_the_lease_is_lost_and_the_last_extension_is_told)
{
    locked_world fixture;
    error_code seen;
    bool expired = false;
    const auto body = [&](lease& held) -> asio::awaitable<void> {
        auto waited = co_await fixture.other.async_wait_lost(asio::as_tuple(asio::deferred));
        seen = std::get<0>(waited);
        expired = held.expired();
    };
    const auto user = spawn(fixture, with_lock(fixture.locks(), "orders:42", three_seconds, body));
    fixture.each_node([](fake_node& node) { node.on(verb::extend).error("LOADING"); });

    fixture.advance(3s);

    BOOST_TEST(seen == operation_aborted);
    BOOST_TEST(expired);
    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error::lease_lost);
    const error_code last = error::node_rejected;
    const std::string said =
        "orders:42 (last extension: " + last.message() + "): the lease is over";
    BOOST_TEST(user->what().starts_with(said), user->what());
}

BOOST_AUTO_TEST_CASE(a_body_at_the_limit_of_its_hold_is_cancelled_and_the_limit_is_the_reason)
{
    locked_world fixture;
    const auto body = [&](lease&) { return wait_until_cancelled(fixture.other); };

    const auto user =
        spawn(fixture, with_lock(fixture.locks(), "orders:42", {.ttl = 3s, .hold_max = 10s}, body));
    fixture.advance(10s);

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error::hold_limit_reached);
}

BOOST_AUTO_TEST_CASE(a_body_that_ignores_cancellation_is_awaited_and_its_result_is_dropped)
{
    locked_world fixture;
    std::size_t waits = 0;
    const auto body = [&](lease& held) -> asio::awaitable<int> {
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        while (waits < 5)
        {
            const lease own =
                co_await fixture.locks().async_try_acquire("own" + std::to_string(waits), 1s);
            ++waits;
        }
        fixture.advance(0ms);
        BOOST_TEST(held.expired());
        co_return 42;
    };
    fixture.each_node([](fake_node& node) {
        node.on(verb::acquire).times(1);
        node.on(verb::acquire).after(40ms);
        node.on(verb::extend).never();
    });
    const auto work = [&]() -> asio::awaitable<void> {
        co_await with_lock(fixture.locks(), "orders:42", {.ttl = 100ms}, body);
        BOOST_TEST(false, "there is no result");
    };

    const auto user = spawn(fixture, work());
    fixture.advance(5s);

    BOOST_TEST(waits == 5u);
    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error::lease_lost);
}

BOOST_AUTO_TEST_CASE(what_the_body_throws_wins_over_a_failed_release)
{
    running_client fixture;
    fixture.each_node([](fake_node& node) { node.on(verb::release).error("LOADING"); });
    const auto body = [](lease&) -> asio::awaitable<void> {
        throw std::out_of_range("of the body");
        co_return;
    };

    const auto user = spawn(fixture, with_lock(fixture.locks(), "orders:42", {}, body));
    fixture.advance(1s);

    BOOST_TEST_REQUIRE(user->done());
    BOOST_CHECK_THROW(std::rethrow_exception(user->failure), std::out_of_range);
}

BOOST_AUTO_TEST_CASE(what_the_body_throws_wins_over_the_loss)
{
    locked_world fixture;
    const auto body = [&](lease&) -> asio::awaitable<void> {
        co_await fixture.other.async_wait_lost(asio::as_tuple(asio::deferred));
        throw std::out_of_range("of the body");
    };
    const auto user = spawn(fixture, with_lock(fixture.locks(), "orders:42", three_seconds, body));
    fixture.each_node([](fake_node& node) { node.store().lose_all(); });

    fixture.advance(3s);

    BOOST_TEST_REQUIRE(user->done());
    BOOST_CHECK_THROW(std::rethrow_exception(user->failure), std::out_of_range);
}

BOOST_AUTO_TEST_CASE(cancelling_the_whole_cancels_the_body_and_releases)
{
    locked_world fixture;
    const auto body = [&](lease&) { return wait_until_cancelled(fixture.other); };
    const auto user = spawn(fixture, with_lock(fixture.locks(), "orders:42", three_seconds, body));
    fixture.each_node([](fake_node& node) { node.on(verb::release).after(30ms); });

    user->signal.emit(asio::cancellation_type::terminal);
    fixture.run_until_idle();
    BOOST_TEST(!user->done());  // The release is awaited, cancelled or not.
    fixture.advance(100ms);

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == operation_aborted);
    BOOST_TEST(fixture.holders("orders:42", "") == 5u);
}

BOOST_AUTO_TEST_CASE(cancelling_the_whole_cancels_the_acquisition)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:42", 1h, 0, 5);
    const auto body = [](lease&) -> asio::awaitable<void> { co_return; };
    const auto user =
        spawn(fixture, with_lock(fixture.locks(), "orders:42", {.wait = forever}, body));

    user->signal.emit(asio::cancellation_type::terminal);
    fixture.advance(1s);

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == operation_aborted);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_client_cancels_the_body)
{
    for (const bool orderly : {true, false})
    {
        BOOST_TEST_CONTEXT((orderly ? "close" : "cancel"))
        {
            locked_world fixture;
            const auto body = [&](lease& held) -> asio::awaitable<void> {
                // The lease of a body is its own until it has ended.
                const auto waited =
                    co_await fixture.other.async_wait_lost(asio::as_tuple(asio::deferred));
                BOOST_TEST(std::get<0>(waited) == operation_aborted);
                BOOST_TEST(!held.expired());
                BOOST_TEST(fixture.holders("orders:42", "") == 0u);
                throw boost::system::system_error(std::get<0>(waited));
            };
            const auto user =
                spawn(fixture, with_lock(fixture.locks(), "orders:42", three_seconds, body));

            std::shared_ptr<pending<>> closed;
            if (orderly)
                closed = launch(fixture.locks().async_close());
            else
                fixture.locks().cancel();
            fixture.advance(100ms);

            BOOST_TEST_REQUIRE(user->done());
            BOOST_TEST(user->code() == operation_aborted);
            BOOST_TEST(fixture.holders("orders:42", "") == 5u);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_close_that_the_body_starts_before_its_first_wait_leaves_it_the_lease)
{
    locked_world fixture;
    std::shared_ptr<pending<>> closed;
    const auto body = [&](lease& held) -> asio::awaitable<void> {
        closed = launch(fixture.locks().async_close());
        co_await fixture.other.async_wait_lost(asio::as_tuple(asio::deferred));
        BOOST_TEST(!held.expired());
        BOOST_TEST(fixture.holders("orders:42", "") == 0u);
    };
    const auto user = spawn(fixture, with_lock(fixture.locks(), "orders:42", three_seconds, body));
    fixture.advance(100ms);

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST_REQUIRE(closed->done());
    BOOST_TEST(fixture.holders("orders:42", "") == 5u);
}

BOOST_AUTO_TEST_CASE(a_cancelled_body_that_releases_the_lease_itself_has_not_lost_it)
{
    using interruption = void (*)(locked_world&, spawned&);
    const interruption interruptions[] = {
        [](locked_world&, spawned& user) { user.signal.emit(asio::cancellation_type::terminal); },
        [](locked_world& fixture, spawned&) { fixture.locks().async_close(asio::detached); },
        [](locked_world& fixture, spawned&) { fixture.locks().cancel(); },
    };
    for (const interruption interrupt : interruptions)
    {
        locked_world fixture;
        const auto body = [&](lease& held) -> asio::awaitable<int> {
            co_await asio::this_coro::throw_if_cancelled(false);
            co_await fixture.other.async_wait_lost(asio::as_tuple(asio::deferred));
            co_await asio::this_coro::reset_cancellation_state();
            co_await held.async_release(asio::as_tuple(asio::deferred));
            co_return 42;
        };
        std::optional<int> result;
        const auto work = [&]() -> asio::awaitable<void> {
            result = co_await with_lock(fixture.locks(), "orders:42", three_seconds, body);
        };
        const auto user = spawn(fixture, work());

        interrupt(fixture, *user);
        fixture.advance(100ms);

        BOOST_TEST_REQUIRE(user->done());
        BOOST_TEST(user->code() == error_code());
        BOOST_TEST(result.value_or(0) == 42);
    }
}

BOOST_AUTO_TEST_CASE(a_cancelled_body_that_winds_up_keeps_its_lease_when_the_client_closes)
{
    locked_world fixture;
    std::shared_ptr<pending<>> closed;
    bool kept = false;
    const auto body = [&](lease& held) -> asio::awaitable<void> {
        co_await asio::this_coro::throw_if_cancelled(false);
        co_await fixture.other.async_wait_lost(asio::as_tuple(asio::deferred));
        co_await asio::this_coro::reset_cancellation_state();
        for (int i = 0; i < 10; ++i)
            co_await asio::post(asio::deferred);
        closed = launch(fixture.locks().async_close());
        for (int i = 0; i < 10; ++i)
            co_await asio::post(asio::deferred);
        kept = !held.expired() && !closed->done() && fixture.holders("orders:42", "") == 0u;
    };
    const auto user = spawn(fixture, with_lock(fixture.locks(), "orders:42", three_seconds, body));

    user->signal.emit(asio::cancellation_type::terminal);
    fixture.advance(100ms);

    BOOST_TEST(kept);
    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error_code());
    BOOST_TEST_REQUIRE(closed->done());
    BOOST_TEST(fixture.holders("orders:42", "") == 5u);
}

BOOST_AUTO_TEST_CASE(a_body_that_releases_what_it_has_lost_is_told)
{
    for (const bool cancelled : {false, true})
    {
        BOOST_TEST_CONTEXT((cancelled ? "cancelled" : "not cancelled"))
        {
            locked_world fixture;
            const auto body = [&](lease& held) -> asio::awaitable<int> {
                co_await asio::this_coro::throw_if_cancelled(false);
                if (cancelled)
                    co_await fixture.other.async_wait_lost(asio::as_tuple(asio::deferred));
                co_await asio::this_coro::reset_cancellation_state();
                fixture.time().advance(1h);  // Others may have had it since.
                co_await held.async_release(asio::as_tuple(asio::deferred));
                co_return 42;
            };
            const auto work = [&]() -> asio::awaitable<void> {
                co_await with_lock(fixture.locks(), "orders:42", three_seconds, body);
            };
            const auto user = spawn(fixture, work());

            user->signal.emit(asio::cancellation_type::terminal);  // Nothing, if it has ended.
            fixture.advance(100ms);

            BOOST_TEST_REQUIRE(user->done());
            BOOST_TEST(user->code() == error::lease_lost);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_body_may_release_the_lease_itself_and_go_on)
{
    locked_world fixture;
    bool ended = false;
    const auto body = [&](lease& held) -> asio::awaitable<void> {
        co_await held.async_release();
        co_await fixture.other.async_wait_lost(asio::deferred);
        ended = true;
    };
    const auto user = spawn(fixture, with_lock(fixture.locks(), "orders:42", three_seconds, body));

    fixture.advance(10s);
    BOOST_TEST(!user->done());
    fixture.complete(fixture.other.async_release());
    fixture.run_until_idle();

    BOOST_TEST(ended);
    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error_code());
}

BOOST_AUTO_TEST_CASE(a_body_may_keep_the_lease)
{
    running_client fixture;
    lease kept;
    const auto body = [&](lease& held) -> asio::awaitable<void> {
        kept = std::move(held);
        co_return;
    };

    const auto user = spawn(fixture, with_lock(fixture.locks(), "orders:42", {}, body));

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error_code());
    BOOST_TEST(!kept.expired());
}

BOOST_AUTO_TEST_CASE(a_temporary_body_lives_as_long_as_the_coroutine)
{
    running_client fixture;
    const auto shared = std::make_shared<int>(42);
    int seen = 0;
    {
        auto body = [kept = shared, &seen](lease&) -> asio::awaitable<void> {
            seen = *kept;
            co_return;
        };
        auto work =
            detail::with_lock<decltype(body)>(fixture.locks(), "orders:42", {}, std::move(body));
        spawn(fixture, std::move(work));
    }

    BOOST_TEST(seen == 42);
    BOOST_TEST(shared.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(a_named_body_is_copied_and_may_be_gone_when_it_runs)
{
    running_client fixture;
    const auto shared = std::make_shared<int>(42);
    int seen = 0;
    std::optional<asio::awaitable<void>> work;
    {
        std::optional body = [kept = shared, &seen](lease&) -> asio::awaitable<void> {
            seen = *kept;
            co_return;
        };
        work = with_lock(fixture.locks(), "orders:42", *body);
        body.reset();
    }
    BOOST_TEST(shared.use_count() == 2);

    spawn(fixture, std::move(*work));
    work.reset();

    BOOST_TEST(seen == 42);
    BOOST_TEST(shared.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(a_reference_to_a_body_is_not_copied)
{
    running_client fixture;
    int runs = 0;
    auto body = [only = std::make_unique<int>(0), &runs](lease&) -> asio::awaitable<void> {
        runs = ++*only;
        co_return;
    };

    for (int i = 0; i < 2; ++i)
        spawn(fixture, with_lock(fixture.locks(), "orders:42", std::ref(body)));

    BOOST_TEST(runs == 2);
}

BOOST_AUTO_TEST_CASE(a_body_that_ended_in_a_loop_that_stood_still_has_lost_the_lease)
{
    running_client fixture;
    const auto body = [&](lease&) -> asio::awaitable<int> {
        fixture.time().advance(1h);  // Blocks everything.
        co_return 42;
    };
    const auto work = [&]() -> asio::awaitable<void> {
        co_await with_lock(fixture.locks(), "orders:42", {}, body);
    };

    const auto user = spawn(fixture, work());
    fixture.run_until_idle();

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error::lease_lost);
    BOOST_TEST(user->what().starts_with("orders:42: the lease is over"), user->what());
}

BOOST_AUTO_TEST_CASE(a_failed_acquisition_is_told_with_the_resource_and_what_the_nodes_said)
{
    running_client fixture;
    fixture.hold_elsewhere("orders:\n42", 8200ms, 0, 5);
    diagnostics report;
    const auto body = [](lease&) -> asio::awaitable<void> { co_return; };
    const std::string held = "node0 held 8.2s left, node1 held 8.2s left, node2 held 8.2s left, ";

    for (diagnostics* const wanted : {static_cast<diagnostics*>(nullptr), &report})
    {
        const acquire_options options{.wait = 0ms, .report = wanted};
        const auto user = spawn(fixture, with_lock(fixture.locks(), "orders:\n42", options, body));

        BOOST_TEST(user->code() == error::contended);
        const std::string said = "orders: 42 (need 3 of 5: " + held;
        BOOST_TEST(user->what().starts_with(said), user->what());
        BOOST_TEST(contains(user->what(), "): another owner holds the resource"), user->what());
    }
    BOOST_TEST(report.votes.size() == 5u);
}

BOOST_AUTO_TEST_CASE(a_body_that_waits_for_itself_is_told_at_once)
{
    using again = std::function<asio::awaitable<void>(client&)>;
    const std::vector<again> ways{
        [](client& locks) -> asio::awaitable<void> {
            const lease held = co_await locks.async_acquire("orders:42", impatient);
        },
        [](client& locks) -> asio::awaitable<void> {
            co_await with_lock(locks, "orders:42", impatient, nothing);
        },
        [](client& locks) -> asio::awaitable<void> {
            co_await asio::co_spawn(
                co_await asio::this_coro::executor,
                with_lock(locks, "orders:42", impatient, nothing),
                asio::deferred
            );
        },
    };
    for (const again& way : ways)
    {
        std::vector<std::string> lines;
        running_client fixture({.lines = &lines});
        const auto body = [&](lease&) { return way(fixture.locks()); };
        lines.clear();

        const auto user = spawn(fixture, with_lock(fixture.locks(), "orders:42", body));
        BOOST_TEST_REQUIRE(lines.size() == 1u);
        BOOST_TEST(contains(lines.front(), "acquire of 'orders:42'"), lines.front());
        BOOST_TEST(contains(lines.front(), "waits for itself"), lines.front());
        fixture.advance(1s);

        BOOST_TEST(lines.size() == 1u);
        BOOST_TEST(user->code() == error::contended);
    }
}

BOOST_AUTO_TEST_CASE(a_body_that_waits_for_itself_is_told_in_the_report)
{
    running_client fixture;
    diagnostics report;
    const auto body = [&](lease&) -> asio::awaitable<void> {
        const acquire_options again{.wait = 500ms, .report = &report};
        const lease held = co_await fixture.locks().async_acquire("orders:42", again);
    };

    const auto user = spawn(fixture, with_lock(fixture.locks(), "orders:42", body));
    fixture.advance(1s);

    BOOST_TEST(user->code() == error::contended);
    BOOST_TEST(contains(to_string(report), "held by this client; the function that asks"));
}

BOOST_AUTO_TEST_CASE(ordinary_contention_is_not_taken_for_a_body_that_waits_for_itself)
{
    std::vector<std::string> lines;
    running_client fixture({.lines = &lines});
    lease other = fixture.acquire("another", {.ttl = 1h});
    lines.clear();
    const auto waits = [&](lease&) { return wait_until_cancelled(other); };
    const auto asks = [&](lease& held) -> asio::awaitable<void> {
        client& locks = fixture.locks();
        BOOST_TEST(!co_await locks.async_try_acquire(std::string(held.resource())));
        const lease third = co_await locks.async_acquire("orders:44", {.wait = 100ms});
        co_await held.async_release();
        const lease after = co_await locks.async_acquire(std::string(held.resource()));
        BOOST_TEST(static_cast<bool>(after));
    };
    const auto shares = [&](lease&) -> asio::awaitable<void> {
        const lease again =
            co_await fixture.locks().async_acquire("orders:45", {.owner = owner(1)});
    };

    const auto holder = spawn(fixture, with_lock(fixture.locks(), "orders:42", waits));
    const auto contender = spawn(fixture, with_lock(fixture.locks(), "orders:42", nothing));
    const auto asking = spawn(fixture, with_lock(fixture.locks(), "orders:43", asks));
    const auto sharing =
        spawn(fixture, with_lock(fixture.locks(), "orders:45", {.owner = owner(1)}, shares));
    fixture.advance(1s);

    BOOST_TEST(!contender->done());
    BOOST_TEST(asking->code() == error_code());
    BOOST_TEST(sharing->code() == error_code());
    BOOST_TEST(lines.empty());
}

BOOST_AUTO_TEST_SUITE_END()
