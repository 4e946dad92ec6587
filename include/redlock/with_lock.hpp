#ifndef REDLOCK_WITH_LOCK_HPP
#define REDLOCK_WITH_LOCK_HPP

#include <redlock/client.hpp>
#include <redlock/detail/deliver.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/detail/initiate.hpp>
#include <redlock/detail/lease_executor.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/error.hpp>
#include <redlock/lease.hpp>
#include <redlock/options.hpp>
#include <redlock/time.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 to 14 inline Asio's allocation of a coroutine's frame, but not its deallocation.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

namespace redlock {

namespace detail {

template <class T>
struct awaitable_traits;

template <class T, class Executor>
struct awaitable_traits<boost::asio::awaitable<T, Executor>>
{
    using result = T;
    using executor = Executor;
};

template <class Body>
using awaitable_of = std::invoke_result_t<Body&, lease&>;

template <class Body>
using awaitable_traits_of = awaitable_traits<awaitable_of<Body>>;

template <class Body>
concept returns_awaitable = requires { typename awaitable_traits_of<Body>::result; };

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
/// GCC 12 destroys the captures of a lambda written into a `co_await` expression twice.
template <class Body>
inline constexpr bool safe_body =
    std::is_lvalue_reference_v<Body> || std::is_trivially_destructible_v<Body>;
#else
template <class Body>
inline constexpr bool safe_body = true;
#endif

/// The result of a body. Optional, because its type need not be default-constructible.
template <class T>
class body_result
{
public:
    void put(T&& value) { value_.emplace(std::move(value)); }
    [[nodiscard]] T take() { return std::move(*value_); }

private:
    std::optional<T> value_;
};

template <>
class body_result<void>
{
public:
    void take() const noexcept {}
};

/// Makes the release of `held` free its resource, unless other leases share its hold.
REDLOCK_EXPORT void keep_nothing(const lease& held) noexcept;

/// A lease whose body may be cancelled before it begins. Its release then keeps nothing.
class unused_lease
{
public:
    /// @param held Must outlive this.
    explicit unused_lease(const lease& held) noexcept : held_(&held) {}

    unused_lease(const unused_lease&) = delete;
    unused_lease& operator=(const unused_lease&) = delete;

    ~unused_lease()
    {
        if (held_)
            keep_nothing(*held_);
    }

    /// The body begins.
    void use() noexcept { held_ = nullptr; }

private:
    const lease* held_;
};

/// Runs the body and puts its result where a cancelled group cannot lose it.
template <class Body, class T, class Executor>
boost::asio::awaitable<void, Executor> run_body(
    Body& body,
    lease& held,
    unused_lease& unused,
    body_result<T>& result
)
{
    // The client may have closed since the grant, or this process may have been paused.
    if (held.expired())
        throw boost::system::system_error(boost::asio::error::operation_aborted);
    unused.use();
    if constexpr (std::is_void_v<T>)
        co_await std::invoke(body, held);
    else
        result.put(co_await std::invoke(body, held));
}

/// Ends the wait for body and loss when the body has ended or must end. A body may release its
/// lease itself, which isn't a loss.
struct body_ended_or_lease_lost
{
    boost::asio::cancellation_type operator()(const std::exception_ptr&) const noexcept
    {
        return boost::asio::cancellation_type::all;
    }

    boost::asio::cancellation_type operator()(error_code lost) const noexcept
    {
        return lost ? boost::asio::cancellation_type::all : boost::asio::cancellation_type::none;
    }
};

[[nodiscard]] inline bool is_cancellation(const std::exception_ptr& failure)
{
    try
    {
        std::rethrow_exception(failure);
    }
    catch (const boost::system::system_error& error)
    {
        return error.code() == boost::asio::error::operation_aborted;
    }
    catch (...)
    {
        return false;
    }
}

/// Why the body is not called. Names the resource and what the nodes said.
[[nodiscard]] REDLOCK_EXPORT boost::system::system_error not_acquired(
    error_code why,
    std::string_view resource,
    const diagnostics& report
);

/// Why the body was cancelled. Names the resource and how the last extension failed.
[[nodiscard]] REDLOCK_EXPORT boost::system::system_error lock_lost(
    error_code why,
    std::string_view resource,
    const lease& held
);

/// Like `attend`, and lets the client warn if the function under `with_lock` waits for itself.
/// @param serial Made by `make_serial` for this function.
[[nodiscard]] REDLOCK_EXPORT std::shared_ptr<const void> attend_body(
    const lease& held,
    const boost::asio::any_io_executor& serial
);

/// The same for an executor that others may run on.
template <class Executor>
[[nodiscard]] std::shared_ptr<const void> attend_body(const lease& held, const Executor&)
{
    return attend(held);
}

/// The share that `held` refers to. Null if the lease is empty.
[[nodiscard]] REDLOCK_EXPORT std::shared_ptr<share> share_of(const lease& held) noexcept;

REDLOCK_EXPORT void start_wait_stop(
    handler_of<> handler,
    std::shared_ptr<share> held,
    milliseconds stop_before
);

/// Like `lease::async_wait_lost`, but completes with an error when the lease has `stop_before`
/// left.
template <class Token>
auto async_wait_stop(client& locks, const lease& held, milliseconds stop_before, Token&& token)
{
    return initiate(
        std::forward<Token>(token),
        lease_executor(locks.get_executor()),
        start_wait_stop,
        share_of(held),
        stop_before
    );
}

/// Makes an executor that runs one function at a time. The cancellation of a body must not race
/// with the body on another thread.
[[nodiscard]] REDLOCK_EXPORT boost::asio::any_io_executor make_serial(
    boost::asio::any_io_executor executor
);

/// An executor of another type must already be serial.
template <class Executor>
[[nodiscard]] Executor make_serial(Executor executor)
{
    return executor;
}

/// Acquires, runs the body, and releases, all on one serial executor.
template <class Body, class T, class Executor>
boost::asio::awaitable<void, Executor> hold_lock(
    client& locks,
    std::string resource,
    acquire_options options,
    Body& body,
    body_result<T>& result
)
{
    namespace asio = boost::asio;

    options.auto_extend = true;
    diagnostics report;
    if (!options.report)
        options.report = &report;
    auto acquired = co_await locks.async_acquire(resource, options, asio::as_tuple(asio::deferred));
    auto& [failed, held] = acquired;
    if (failed)
        throw not_acquired(failed, resource, *options.report);

    unused_lease unused(held);
    const auto executor = co_await asio::this_coro::executor;
    // A closing client must not end the lease of a running body, not even before the body's first
    // wait or while it winds up.
    const std::shared_ptr<const void> attended = attend_body(held, executor);
    auto race = asio::experimental::make_parallel_group(
        asio::co_spawn(
            executor,
            run_body<Body, T, Executor>(body, held, unused, result),
            asio::bind_executor(executor, asio::deferred)
        ),
        async_wait_stop(
            locks, held, options.stop_before, asio::bind_executor(executor, asio::deferred)
        )
    );
    // Completes when both have completed. The first may cancel the other, and a cancelled body
    // still runs to its end.
    auto outcome = co_await race.async_wait(body_ended_or_lease_lost(), asio::deferred);
    const auto& [order, failure, waited] = outcome;
    const error_code lost = loss_of(held, waited);
    std::exception_ptr thrown = failure;
    if (lost && (!thrown || is_cancellation(thrown)))
        thrown = std::make_exception_ptr(lock_lost(lost, resource, held));

    // A cancellation of this coroutine must not cut the release short.
    co_await asio::this_coro::throw_if_cancelled(false);
    if (held)
    {
        // Errors need no handling: remaining keys expire with the ttl.
        co_await held.async_release(
            asio::bind_cancellation_slot(asio::cancellation_slot(), asio::as_tuple(asio::deferred))
        );
    }
    if (thrown)
        std::rethrow_exception(thrown);
}

/// Keeps the body, which must outlive the coroutines that it returns.
template <class Body>
auto with_lock(client& locks, std::string resource, acquire_options options, Body body)
    -> awaitable_of<Body>
{
    namespace asio = boost::asio;
    using result_type = typename awaitable_traits_of<Body>::result;
    using executor_type = typename awaitable_traits_of<Body>::executor;

    body_result<result_type> result;
    const executor_type own = co_await asio::this_coro::executor;
    // With an executor bound to its handler, `co_spawn` dispatches a cancellation to the new
    // coroutine's executor instead of the emitting thread.
    co_await asio::co_spawn(
        make_serial(own),
        hold_lock<Body, result_type, executor_type>(
            locks, std::move(resource), options, body, result
        ),
        asio::bind_executor(own, asio::use_awaitable_t<executor_type>())
    );
    co_return result.take();
}

}  // namespace detail

/** Runs `body` under a lease, which is extended until the body has ended and then released.

    1. Acquires `resource`, as `client::async_acquire`.
    2. Runs `body(lease&)` and extends the lease each time a third of the ttl has passed.
    3. If the lease is lost or revoked, or has only `acquire_options::stop_before` left, cancels the
    body (`cancellation_type::terminal`) and waits for it to end.
    4. Releases the resource and waits for that, even after an exception.

    A body that ignores cancellation continues without protection: nothing can stop it. It can still
    call `lease::expired()`, and the protected resource can check `lease::fence()`.

    @param locks Must live until the returned coroutine has ended.

    @param resource As for `client::async_acquire`. Copied.

    @param how Options or ttl, as for `client::async_acquire`, but `auto_extend` is always on.
    `hold_max` limits how long the body may run.

    @par Executor
    Runs on a strand over the executor of the awaiting coroutine, and so does the body, because the
    client cancels it from another strand. An executor other than `any_io_executor` must itself run
    one function at a time.

    @param body Function object that takes the lease and returns `boost::asio::awaitable<T>`. Called
    once, after the acquisition. Copied or moved into the coroutine. `std::ref(body)` avoids both,
    but then `body` must live until the coroutine has ended. With GCC 12 a temporary must be
    trivially destructible, like a lambda that captures by reference. Name any other lambda first.

    @return A coroutine to await or spawn, with the result of the body. `T` may be void, and need
    not be copyable or default-constructible.

    @par Errors
    Thrown as `boost::system::system_error`, whose `what()` names the resource and what the nodes
    said last. The first of these that applies:
    @li the error of `async_acquire`, such as `error::not_running`; the body is not called.
    @li `error::lease_lost`, or `operation_aborted` if the client was closed: the lease was over
    before the body began, and the body is not called.
    @li the exception of the body, unless it is the `operation_aborted` of a lost lease.
    @li `error::lease_lost` or `error::hold_limit_reached`: the lease was lost before the body had
    ended, or had only `stop_before` left. `error::revoked`: its holder was asked to stop. The
    body's result is dropped. A failed release throws nothing: remaining keys expire with the ttl
    and the grace.

    @par Cancellation
    Terminal. Cancels the acquisition or the body, whichever is under way, but not the release that
    follows. `client::cancel` and `client::async_close` also cancel the body.
*/
template <detail::says_how_to_acquire How = acquire_options, class Body>
[[nodiscard]] auto with_lock(client& locks, std::string_view resource, const How& how, Body&& body)
{
    using function = std::decay_t<Body>;
    constexpr bool callable = std::invocable<function&, lease&>;
    constexpr bool awaitable = detail::returns_awaitable<function>;
    static_assert(
        callable, "with_lock calls its body with a redlock::lease&, so the body must take one."
    );
    static_assert(
        !callable || awaitable,
        "The body of with_lock must return boost::asio::awaitable<T>; a lambda has to say so: "
        "[&](redlock::lease& held) -> boost::asio::awaitable<void> { ... co_return; }"
    );
    static_assert(
        detail::safe_body<Body>,
        "GCC 12 would destroy the captures of this body twice. Give the lambda a name and pass the "
        "name, which copies it, or std::ref(name)."
    );
    constexpr bool kept = std::constructible_from<function, Body>;
    static_assert(
        kept,
        "with_lock copies its body, but this one can't be copied. Pass std::move(body), or "
        "std::ref(body) if it outlives the coroutine."
    );
    if constexpr (awaitable && kept)
    {
        return detail::with_lock<function>(
            locks, std::string(resource), detail::options_of(how), std::forward<Body>(body)
        );
    }
}

/// Runs `body` under a lease with the defaults of `acquire_options`. See above.
template <class Body>
[[nodiscard]] auto with_lock(client& locks, std::string_view resource, Body&& body)
{
    return with_lock(locks, resource, acquire_options(), std::forward<Body>(body));
}

}  // namespace redlock

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif
