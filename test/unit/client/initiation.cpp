#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "support/fixture.hpp"
#include "support/lent_executor.hpp"

BOOST_AUTO_TEST_SUITE(test_initiation)

/// How each operation is started, cancelled and completed. What completion tokens make of that is
/// the same for all of them, and in tokens.cpp.

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::cancellation_type;
using asio::error::operation_aborted;
using detail::verb;

namespace {

/// What an operation is tried on.
struct bench : client_fixture
{
    explicit bench(redlock::mode mode) : client_fixture({.mode = mode}) {}

    lease held;
};

/// The calls of a handler.
struct calls
{
    explicit calls(const client_fixture& of) : fixture(of) {}

    const client_fixture& fixture;
    bool initiating = false;
    std::size_t count = 0;
    error_code ec{};
    std::shared_ptr<const int> alive = std::make_shared<int>();  ///< A handler has it, too.
};

/// A handler that can be moved only, and with an alignment that few have.
class alignas(128) handler
{
public:
    explicit handler(calls& seen) : seen_(&seen), alive_(seen.alive) {}
    handler(handler&&) = default;
    handler(const handler&) = delete;

    void operator()(error_code ec, auto...)
    {
        ++seen_->count;
        seen_->ec = ec;
        BOOST_TEST(!seen_->initiating);
        BOOST_TEST(!seen_->fixture.on_strand());
        BOOST_TEST(reinterpret_cast<std::uintptr_t>(this) % alignof(handler) == 0u);
    }

private:
    calls* seen_;
    std::shared_ptr<const int> alive_;
};

/// The same with an executor and a cancellation slot.
class bound_handler : public handler
{
public:
    using executor_type = asio::io_context::executor_type;
    using cancellation_slot_type = asio::cancellation_slot;

    bound_handler(calls& seen, executor_type executor, cancellation_slot_type slot)
        : handler(seen), executor_(executor), slot_(slot)
    {
    }

    [[nodiscard]] executor_type get_executor() const noexcept { return executor_; }
    [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }

private:
    executor_type executor_;
    cancellation_slot_type slot_;
};

struct operation
{
    std::string_view name;

    void (*start)(bench& on, handler seen);
    void (*start_bound)(bench& on, bound_handler seen);
    std::function<void(handler)> (*defer)(bench& on);
    asio::any_io_executor (*lend)(bench& on);

    void (*prolong)(bench& on);  ///< Makes it last until it is cancelled.
    void (*finish)(bench& on);   ///< Makes it complete without an error.

    error_code at_end = operation_aborted;  ///< If its client ends.
    redlock::mode mode = redlock::mode::plain;
    bool needs_run = true;  ///< A running client, that is.
};

void let_nodes_answer(bench& on)
{
    on.advance(100ms);
}

/// The nodes never answer this.
template <verb What>
void silence(bench& on)
{
    on.silence(What);
}

/// @tparam Make Calls the initiating function with a token.
template <class Make>
operation describe(
    std::string_view name,
    Make,
    void (*prolong)(bench&),
    void (*finish)(bench&) = let_nodes_answer
)
{
    return {
        .name = name,
        .start = [](bench& on, handler seen) { Make()(on, std::move(seen)); },
        .start_bound = [](bench& on, bound_handler seen) { Make()(on, std::move(seen)); },
        .defer = [](bench& on) -> std::function<void(handler)> {
            return [later = Make()(on, asio::deferred)](handler seen) mutable {
                std::move(later)(std::move(seen));
            };
        },
        .lend = [](bench& on) { return Make()(on, lent_executor()); },
        .prolong = prolong,
        .finish = finish
    };
}

operation in_guarded_mode(operation described)
{
    described.mode = mode::guarded;
    return described;
}

/// It begins before the client runs, and ends with it.
operation before_run(operation described)
{
    described.needs_run = false;
    described.at_end = {};
    return described;
}

const operation operations[] = {
    describe(
        "client::async_acquire",
        [](bench& on, auto token) {
            return on.locks().async_acquire("orders:42", 10s, std::move(token));
        },
        silence<verb::acquire>
    ),
    describe(
        "client::async_try_acquire",
        [](bench& on, auto token) {
            return on.locks().async_try_acquire("orders:42", 10s, std::move(token));
        },
        silence<verb::acquire>
    ),
    describe(
        "lease::async_extend with a ttl",
        [](bench& on, auto token) { return on.held.async_extend(20s, std::move(token)); },
        silence<verb::extend>
    ),
    describe(
        "lease::async_extend",
        [](bench& on, auto token) { return on.held.async_extend(std::move(token)); },
        silence<verb::extend>
    ),
    in_guarded_mode(describe(
        "lease::async_announce",
        [](bench& on, auto token) { return on.held.async_announce("noted", std::move(token)); },
        silence<verb::extend>
    )),
    describe(
        "lease::async_release",
        [](bench& on, auto token) { return on.held.async_release(std::move(token)); },
        silence<verb::release>
    ),
    describe(
        "lease::async_wait_lost",
        [](bench& on, auto token) { return on.held.async_wait_lost(std::move(token)); },
        [](bench&) {},
        [](bench& on) {
            on.run_until_idle();
            on.held = lease();
            on.advance(100ms);
        }
    ),
    describe(
        "client::async_wait_ready",
        [](bench& on, auto token) { return on.locks().async_wait_ready(std::move(token)); },
        [](bench& on) {
            on.each_node([](fake_node& node) { node.becomes(node_state::down); });
            on.run_until_idle();
        }
    ),
    describe(
        "client::async_inspect",
        [](bench& on, auto token) {
            return on.locks().async_inspect("orders:42", std::move(token));
        },
        silence<verb::inspect>
    ),
    describe(
        "watcher::async_next",
        [](bench& on, auto token) {
            return on.locks().watch("orders:42").async_next(std::move(token));
        },
        silence<verb::inspect>
    ),
    in_guarded_mode(describe(
        "client::async_revoke",
        [](bench& on, auto token) {
            return on.locks().async_revoke("held", on.held.fence(), std::move(token));
        },
        silence<verb::revoke>
    )),
    in_guarded_mode(describe(
        "client::async_free",
        [](bench& on, auto token) { return on.locks().async_free("orders:42", std::move(token)); },
        silence<verb::inspect>
    )),
    describe(
        "client::async_close",
        [](bench& on, auto token) { return on.locks().async_close(std::move(token)); },
        silence<verb::release>
    ),
    before_run(describe(
        "client::async_run",
        [](bench& on, auto token) { return on.locks().async_run(std::move(token)); },
        [](bench&) {},
        [](bench& on) {
            on.run_until_idle();
            on.locks().cancel();
            on.advance(100ms);
        }
    )),
};

/// Calls `check` for each operation, with a bench that is ready for it.
template <class Check>
void with_each_operation(Check check)
{
    for (const operation& tried : operations)
    {
        BOOST_TEST_CONTEXT(tried.name)
        {
            bench on(tried.mode);
            if (tried.needs_run)
            {
                on.start_client();
                on.held = on.acquire("held");
            }
            check(tried, on);
        }
    }
}

[[nodiscard]] asio::io_context::executor_type here(bench& on)
{
    return on.context().get_executor();
}

/// Starts an operation that lasts until it is cancelled.
void start_without_end(const operation& tried, bench& on, bound_handler seen)
{
    tried.prolong(on);
    tried.start_bound(on, std::move(seen));
    on.run_until_idle();
}

void check_completed(const calls& seen)
{
    BOOST_TEST(seen.count == 1u);
    BOOST_TEST(!seen.ec, seen.ec.message());
}

}  // namespace

BOOST_AUTO_TEST_CASE(deferred_starts_when_it_is_called)
{
    with_each_operation([](const operation& tried, bench& on) {
        calls seen(on);
        on.log().clear();

        const auto later = tried.defer(on);
        on.advance(1s);
        BOOST_TEST(on.log().empty());
        BOOST_TEST(!on.held.expired() == static_cast<bool>(on.held));
        later(handler(seen));
        tried.finish(on);

        check_completed(seen);
    });
}

BOOST_AUTO_TEST_CASE(a_callback_is_called_once_and_elsewhere)
{
    with_each_operation([](const operation& tried, bench& on) {
        calls seen(on);

        seen.initiating = true;
        tried.start(on, handler(seen));
        seen.initiating = false;
        tried.finish(on);

        check_completed(seen);
    });
}

BOOST_AUTO_TEST_CASE(a_callback_is_not_called_from_an_initiation_in_a_handler)
{
    with_each_operation([](const operation& tried, bench& on) {
        calls seen(on);

        asio::post(on.context(), [&] {
            seen.initiating = true;
            tried.start(on, handler(seen));
            seen.initiating = false;
        });
        on.run_until_idle();
        tried.finish(on);

        check_completed(seen);
    });
}

BOOST_AUTO_TEST_CASE(a_handler_runs_on_its_executor)
{
    with_each_operation([](const operation& tried, bench& on) {
        calls seen(on);
        asio::io_context elsewhere;

        tried.start_bound(on, bound_handler(seen, elsewhere.get_executor(), {}));
        elsewhere.poll();
        BOOST_TEST(!elsewhere.stopped());  // The operation is outstanding work there.
        tried.finish(on);
        BOOST_TEST(seen.count == 0u);
        elsewhere.restart();
        elsewhere.poll();

        check_completed(seen);
        BOOST_TEST(elsewhere.stopped());
    });
}

// So `cancel_after` has its timer there, unless the handler has another executor.
BOOST_AUTO_TEST_CASE(an_operation_has_the_executor_of_its_client)
{
    with_each_operation([](const operation& tried, bench& on) {
        BOOST_TEST((tried.lend(on) == on.locks().get_executor()));
    });
}

BOOST_AUTO_TEST_CASE(terminal_and_partial_cancellation_end_it)
{
    for (const auto type : {cancellation_type::terminal, cancellation_type::partial})
    {
        with_each_operation([type](const operation& tried, bench& on) {
            calls seen(on);
            asio::cancellation_signal signal;
            start_without_end(tried, on, bound_handler(seen, here(on), signal.slot()));
            BOOST_TEST(seen.count == 0u);

            signal.emit(type);
            on.advance(10ms);  // Less than a node_timeout.

            BOOST_TEST(seen.count == 1u);
            BOOST_TEST(seen.ec == operation_aborted);
        });
    }
}

BOOST_AUTO_TEST_CASE(total_cancellation_changes_nothing)
{
    with_each_operation([](const operation& tried, bench& on) {
        calls seen(on);
        asio::cancellation_signal signal;
        start_without_end(tried, on, bound_handler(seen, here(on), signal.slot()));

        signal.emit(cancellation_type::total);
        on.run_until_idle();

        BOOST_TEST(seen.count == 0u);
    });
}

BOOST_AUTO_TEST_CASE(the_end_of_the_client_ends_it)
{
    with_each_operation([](const operation& tried, bench& on) {
        calls seen(on);
        tried.prolong(on);
        tried.start(on, handler(seen));
        on.run_until_idle();
        BOOST_TEST(seen.count == 0u);

        on.locks().cancel();
        on.advance(100ms);

        BOOST_TEST(seen.count == 1u);
        BOOST_TEST(seen.ec == tried.at_end);
    });
}

BOOST_AUTO_TEST_CASE(a_client_that_has_ended_fails_it_and_sends_nothing)
{
    with_each_operation([](const operation& tried, bench& on) {
        calls seen(on);
        on.locks().cancel();
        on.advance(1s);
        on.log().clear();

        tried.start(on, handler(seen));
        on.run_until_idle();

        BOOST_TEST(seen.count == 1u);
        BOOST_TEST(seen.ec == error::not_running);
        BOOST_TEST(on.log().empty());
    });
}

BOOST_AUTO_TEST_CASE(a_handler_is_destroyed_with_its_context)
{
    with_each_operation([](const operation& tried, bench& on) {
        calls seen(on);
        tried.prolong(on);
        tried.start(on, handler(seen));
        on.run_until_idle();
        BOOST_TEST(seen.alive.use_count() == 2);

        on.held = lease();
        on.destroy_context();

        BOOST_TEST(seen.alive.use_count() == 1);
        BOOST_TEST(seen.count == 0u);
    });
}

BOOST_AUTO_TEST_SUITE_END()
