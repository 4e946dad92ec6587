#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>
#include <boost/version.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <tuple>
#include <utility>

#include "support/fixture.hpp"

#if BOOST_VERSION >= 108600
#include <boost/asio/cancel_after.hpp>
#endif

BOOST_AUTO_TEST_SUITE(test_tokens)

/// Every operation with every kind of completion token.

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::error::operation_aborted;
using detail::verb;

namespace {

/// What an operation is tried on.
struct bench
{
    client_fixture fixture;
    lease held;

    void silence(verb what)
    {
        fixture.each_node([what](fake_node& node) { node.on(what).never(); });
    }
};

struct acquire
{
    static void prepare(bench& on)
    {
        on.fixture.start_client();
        on.held = on.fixture.acquire("held");
    }

    template <class Token>
    static auto start(bench& on, Token&& token)
    {
        return on.fixture.locks().async_acquire("orders:42", 10s, std::forward<Token>(token));
    }

    /// Makes it last until it is cancelled.
    static void prolong(bench& on) { on.silence(verb::acquire); }

    /// Makes it complete without an error.
    static void finish(bench& on) { on.fixture.advance(100ms); }
};

struct try_acquire : acquire
{
    template <class Token>
    static auto start(bench& on, Token&& token)
    {
        const acquire_options options{.ttl = 10s};
        return on.fixture.locks().async_try_acquire(
            "orders:42", options, std::forward<Token>(token)
        );
    }
};

struct extend : acquire
{
    template <class Token>
    static auto start(bench& on, Token&& token)
    {
        return on.held.async_extend(20s, std::forward<Token>(token));
    }

    static void prolong(bench& on) { on.silence(verb::extend); }
};

struct extend_by_the_same_ttl : extend
{
    template <class Token>
    static auto start(bench& on, Token&& token)
    {
        return on.held.async_extend(std::forward<Token>(token));
    }
};

struct release : acquire
{
    template <class Token>
    static auto start(bench& on, Token&& token)
    {
        return on.held.async_release(std::forward<Token>(token));
    }

    static void prolong(bench& on) { on.silence(verb::release); }
};

struct wait_ready : acquire
{
    template <class Token>
    static auto start(bench& on, Token&& token)
    {
        return on.fixture.locks().async_wait_ready(std::forward<Token>(token));
    }

    static void prolong(bench& on)
    {
        on.fixture.each_node([](fake_node& node) { node.becomes(node_state::down); });
        on.fixture.run_until_idle();
    }
};

struct wait_lost : acquire
{
    template <class Token>
    static auto start(bench& on, Token&& token)
    {
        return on.held.async_wait_lost(std::forward<Token>(token));
    }

    static void prolong(bench&) {}

    static void finish(bench& on)
    {
        on.fixture.run_until_idle();
        on.held = lease();
        on.fixture.advance(100ms);
    }
};

struct inspect : acquire
{
    template <class Token>
    static auto start(bench& on, Token&& token)
    {
        return on.fixture.locks().async_inspect("orders:42", std::forward<Token>(token));
    }

    static void prolong(bench& on) { on.silence(verb::inspect); }
};

struct next_view : inspect
{
    template <class Token>
    static auto start(bench& on, Token&& token)
    {
        return on.fixture.locks().watch("orders:42").async_next(std::forward<Token>(token));
    }
};

struct close : release
{
    template <class Token>
    static auto start(bench& on, Token&& token)
    {
        return on.fixture.locks().async_close(std::forward<Token>(token));
    }
};

struct run : acquire
{
    static void prepare(bench&) {}

    template <class Token>
    static auto start(bench& on, Token&& token)
    {
        return on.fixture.locks().async_run(std::forward<Token>(token));
    }

    static void prolong(bench&) {}

    static void finish(bench& on)
    {
        on.fixture.run_until_idle();
        on.fixture.locks().cancel();
        on.fixture.advance(100ms);
    }
};

using operations = std::tuple<
    acquire,
    try_acquire,
    extend,
    extend_by_the_same_ttl,
    release,
    wait_lost,
    wait_ready,
    inspect,
    next_view,
    close,
    run>;

/// A bench that is ready for `Operation`.
template <class Operation>
struct bench_for : bench
{
    bench_for() { Operation::prepare(*this); }
};

/// Runs the context in real time until something is done. Virtual time goes on, too slowly for any
/// timeout of a node, so that a client can stop.
template <class Done>
void run_in_real_time(client_fixture& fixture, Done done)
{
    for (int turn = 0; turn < 5000 && !done(); ++turn)
    {
        fixture.context().restart();
        fixture.context().run_one_for(1ms);
        fixture.time().advance(1us);
    }
    for (int turn = 0; turn < 100 && !done(); ++turn)
        fixture.advance(1ms);
    BOOST_TEST_REQUIRE(done());
}

/// Counts how often a handler is called, and where that is.
struct call_watcher
{
    client_fixture& fixture;
    bool initiating = false;
    int calls = 0;

    void operator()(error_code ec)
    {
        ++calls;
        BOOST_TEST(!initiating);
        BOOST_TEST(!fixture.on_strand());
        BOOST_TEST(!ec, ec.message());
    }
};

}  // namespace

BOOST_AUTO_TEST_CASE_TEMPLATE(deferred_starts_when_it_is_called, Operation, operations)
{
    bench_for<Operation> on;
    on.fixture.log().clear();
    int calls = 0;

    auto later = Operation::start(on, asio::deferred);
    on.fixture.advance(1s);
    BOOST_TEST(on.fixture.log().empty());
    BOOST_TEST(!on.held.expired() == static_cast<bool>(on.held));
    std::move(later)([&](error_code ec, auto...) {
        ++calls;
        BOOST_TEST(ec == error_code());
    });
    Operation::finish(on);

    BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_callback_is_called_once_and_elsewhere, Operation, operations)
{
    bench_for<Operation> on;
    call_watcher seen{on.fixture};

    seen.initiating = true;
    Operation::start(on, [&](error_code ec, auto...) { seen(ec); });
    seen.initiating = false;
    Operation::finish(on);

    BOOST_TEST(seen.calls == 1);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(
    a_callback_is_not_called_from_an_initiation_in_a_handler,
    Operation,
    operations
)
{
    bench_for<Operation> on;
    call_watcher seen{on.fixture};

    asio::post(on.fixture.context(), [&] {
        seen.initiating = true;
        Operation::start(on, [&](error_code ec, auto...) { seen(ec); });
        seen.initiating = false;
    });
    on.fixture.run_until_idle();
    Operation::finish(on);

    BOOST_TEST(seen.calls == 1);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_callback_may_be_move_only, Operation, operations)
{
    bench_for<Operation> on;
    int calls = 0;

    Operation::start(on, [&calls, unique = std::make_unique<int>(1)](error_code, auto...) {
        calls += *unique;
    });
    Operation::finish(on);

    BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_callback_keeps_its_alignment, Operation, operations)
{
    struct alignas(128) wide_block
    {
        std::array<char, 128> bytes{};
    };
    bench_for<Operation> on;
    int calls = 0;

    Operation::start(on, [&calls, wide = wide_block()](error_code, auto...) {
        ++calls;
        BOOST_TEST(reinterpret_cast<std::uintptr_t>(&wide) % alignof(wide_block) == 0U);
    });
    Operation::finish(on);

    BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_future_gets_the_result, Operation, operations)
{
    bench_for<Operation> on;

    auto future = Operation::start(on, asio::use_future);
    Operation::finish(on);

    BOOST_TEST_REQUIRE((future.wait_for(0s) == std::future_status::ready));
    BOOST_CHECK_NO_THROW((void)future.get());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(detached_goes_on_alone, Operation, operations)
{
    bench_for<Operation> on;

    Operation::start(on, asio::detached);
    Operation::finish(on);

    BOOST_TEST(on.fixture.log().size() + on.fixture.locks().nodes().size() > 0u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_coroutine_can_await_it, Operation, operations)
{
    bench_for<Operation> on;
    int completions = 0;
    const auto body = [&]() -> asio::awaitable<void> {
        (void)co_await Operation::start(on, asio::use_awaitable);
        ++completions;
    };

    asio::co_spawn(on.fixture.context(), body(), asio::detached);
    Operation::finish(on);

    BOOST_TEST(completions == 1);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_coroutine_can_await_a_deferred_operation, Operation, operations)
{
    bench_for<Operation> on;
    int completions = 0;
    const auto body = [&]() -> asio::awaitable<void> {
        (void)co_await Operation::start(on, asio::deferred);
        ++completions;
    };

    asio::co_spawn(on.fixture.context(), body(), asio::detached);
    Operation::finish(on);

    BOOST_TEST(completions == 1);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(as_tuple_yields_the_code_as_a_value, Operation, operations)
{
    bench_for<Operation> on;
    int completions = 0;
    const auto body = [&]() -> asio::awaitable<void> {
        const auto outcome = co_await Operation::start(on, asio::as_tuple(asio::use_awaitable));
        BOOST_TEST(std::get<0>(outcome) == error_code());
        ++completions;
    };

    asio::co_spawn(on.fixture.context(), body(), asio::detached);
    Operation::finish(on);

    BOOST_TEST(completions == 1);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(redirect_error_sets_the_code, Operation, operations)
{
    bench_for<Operation> on;
    error_code ec = operation_aborted;
    int completions = 0;
    const auto body = [&]() -> asio::awaitable<void> {
        (void)co_await Operation::start(on, asio::redirect_error(asio::use_awaitable, ec));
        ++completions;
    };

    asio::co_spawn(on.fixture.context(), body(), asio::detached);
    Operation::finish(on);

    BOOST_TEST(completions == 1);
    BOOST_TEST(ec == error_code());
}

#if BOOST_VERSION >= 108600  // Before, Asio had no cancel_after.
BOOST_AUTO_TEST_CASE_TEMPLATE(cancel_after_ends_it, Operation, operations)
{
    bench_for<Operation> on;
    Operation::prolong(on);
    int calls = 0;

    Operation::start(on, asio::cancel_after(1ms, [&](error_code ec, auto...) {
                         ++calls;
                         BOOST_TEST(ec == operation_aborted);
                         BOOST_TEST(!on.fixture.on_strand());
                     }));
    run_in_real_time(on.fixture, [&] { return calls > 0; });

    BOOST_TEST(calls == 1);
}
#endif

#if BOOST_VERSION >= 108600  // Before, Asio had no cancel_after.
BOOST_AUTO_TEST_CASE_TEMPLATE(cancel_after_leaves_alone_what_is_faster, Operation, operations)
{
    bench_for<Operation> on;
    int calls = 0;

    Operation::start(on, asio::cancel_after(1h, [&](error_code ec, auto...) {
                         ++calls;
                         BOOST_TEST(ec == error_code());
                     }));
    Operation::finish(on);

    BOOST_TEST(calls == 1);
}
#endif

BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_runs_on_its_executor, Operation, operations)
{
    bench_for<Operation> on;
    asio::io_context elsewhere;
    int calls = 0;

    Operation::start(on, asio::bind_executor(elsewhere, [&](error_code ec, auto...) {
                         ++calls;
                         BOOST_TEST(ec == error_code());
                         BOOST_TEST(elsewhere.get_executor().running_in_this_thread());
                     }));
    elsewhere.poll();
    BOOST_TEST(!elsewhere.stopped());  // The operation is outstanding work there.
    Operation::finish(on);
    BOOST_TEST(calls == 0);
    elsewhere.restart();
    elsewhere.poll();

    BOOST_TEST(calls == 1);
    BOOST_TEST(elsewhere.stopped());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_parallel_group_waits_for_all, Operation, operations)
{
    bench_for<Operation> on;
    int calls = 0;

    asio::experimental::make_parallel_group(
        Operation::start(on, asio::deferred), on.fixture.locks().async_acquire("other", 10s)
    )
        .async_wait(asio::experimental::wait_for_all(), [&](std::array<std::size_t, 2>, auto&&...) {
            ++calls;
        });
    Operation::finish(on);

    BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_parallel_group_cancels_the_loser, Operation, operations)
{
    bench_for<Operation> on;
    Operation::prolong(on);
    asio::steady_timer timer(on.fixture.context(), 0ms);
    error_code ec;
    int calls = 0;

    asio::experimental::make_parallel_group(
        Operation::start(on, asio::deferred), timer.async_wait(asio::deferred)
    )
        .async_wait(
            asio::experimental::wait_for_one(),
            [&](std::array<std::size_t, 2> order, error_code first, auto&&...) {
                ++calls;
                BOOST_TEST(order[0] == 1u);
                ec = first;
            }
        );
    run_in_real_time(on.fixture, [&] { return calls > 0; });

    BOOST_TEST(calls == 1);
    BOOST_TEST(ec == operation_aborted);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_is_destroyed_with_its_context, Operation, operations)
{
    const auto alive = std::make_shared<int>();
    {
        bench_for<Operation> on;
        Operation::prolong(on);
        Operation::start(on, [alive](error_code, auto...) { BOOST_ERROR("called"); });
        on.fixture.run_until_idle();
        BOOST_TEST(alive.use_count() == 2);
    }

    BOOST_TEST(alive.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(an_awaited_failure_is_thrown)
{
    client_fixture fixture;
    error_code thrown;
    const auto body = [&]() -> asio::awaitable<void> {
        try
        {
            const lease held = co_await fixture.locks().async_acquire("", 10s);
            BOOST_ERROR("not thrown");
        }
        catch (const boost::system::system_error& failure)
        {
            thrown = failure.code();
        }
    };

    asio::co_spawn(fixture.context(), body(), asio::detached);
    fixture.run_until_idle();

    BOOST_TEST(thrown == error::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_future_carries_a_failure)
{
    client_fixture fixture;

    std::future<lease> held = fixture.locks().async_acquire("", 10s, asio::use_future);
    fixture.run_until_idle();

    BOOST_CHECK_EXCEPTION(
        (void)held.get(),
        boost::system::system_error,
        [](const boost::system::system_error& failure) {
            return failure.code() == error::invalid_argument;
        }
    );
}

BOOST_AUTO_TEST_CASE(a_lease_reaches_the_one_who_awaits_it)
{
    running_client fixture;
    lease received;
    const auto body = [&]() -> asio::awaitable<void> {
        received = co_await fixture.locks().async_acquire("orders:42", 10s);
    };

    asio::co_spawn(fixture.context(), body(), asio::detached);
    fixture.run_until_idle();

    BOOST_TEST(received.resource() == "orders:42");
    BOOST_TEST(fixture.keys_left() == 5u);
}

BOOST_AUTO_TEST_CASE(a_lease_that_nobody_takes_is_released)
{
    running_client fixture;

    fixture.locks().async_acquire("orders:42", 10s, asio::detached);
    fixture.run_until_idle();

    BOOST_TEST(fixture.sent_to(verb::release).size() == 5u);
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(the_resource_is_copied)
{
    running_client fixture;
    std::string resource = "orders:42";
    auto later = fixture.locks().async_acquire(resource, 10s);
    resource = "changed:1";

    const auto held = launch(std::move(later));
    fixture.run_until_idle();

    BOOST_TEST(held->value().resource() == "orders:42");
}

BOOST_AUTO_TEST_SUITE_END()
