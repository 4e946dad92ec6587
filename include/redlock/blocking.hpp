#ifndef REDLOCK_BLOCKING_HPP
#define REDLOCK_BLOCKING_HPP

#include <redlock/config.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/error.hpp>
#include <redlock/fencing.hpp>
#include <redlock/holding.hpp>
#include <redlock/metrics.hpp>
#include <redlock/node_status.hpp>
#include <redlock/note.hpp>
#include <redlock/options.hpp>
#include <redlock/release_outcome.hpp>
#include <redlock/revocation.hpp>
#include <redlock/time.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace redlock {
class lease;
}

/// Locks for programs without coroutines. Nothing in this header needs Boost.Asio.
namespace redlock::blocking {

namespace detail {

class bound_to_process;
class engine;
class held_lease;
class held_watcher;

/// Destroys it, except in a child process.
struct end_at_home
{
    void operator()(bound_to_process* of) const noexcept;
};

template <class T>
using held_ptr = std::unique_ptr<T, end_at_home>;

}  // namespace detail

/** A resource held until a deadline: `redlock::lease` with blocking functions.

    Functions throw errors as `boost::system::system_error`, with the codes of `redlock::error`.

    Destroying it releases the resource in the background, without blocking and without throwing.

    @par Thread safety
    Distinct objects: safe. Shared objects: the getters may be called from any thread; moving,
    destroying and assigning may not.

    @par Lifetime
    May outlive its client, and then expires at its deadline.
*/
class [[nodiscard]] REDLOCK_EXPORT lease
{
public:
    /// An empty lease.
    lease() noexcept;

    /// Takes the lease over and leaves an empty one.
    lease(lease&& other) noexcept;

    /// Releases the previous lease in the background.
    lease& operator=(lease&& other) noexcept;

    /// Releases the resource in the background.
    ~lease();

    /// Whether the lease isn't empty. `expired()` says whether it's still valid.
    explicit operator bool() const noexcept { return held_ != nullptr; }

    /// The resource as given to the client. Empty for an empty lease.
    [[nodiscard]] std::string_view resource() const noexcept;

    /// As `redlock::lease::valid_until()`.
    [[nodiscard]] time_point valid_until() const noexcept;

    /// Time left, rounded down. Never negative; zero when `expired()`.
    [[nodiscard]] milliseconds remaining() const noexcept;

    /// Whether the deadline has passed or the lease is over. Reads the clocks at each call.
    [[nodiscard]] bool expired() const noexcept;

    /// The token for the protected resource. Empty for an empty lease and in plain mode.
    [[nodiscard]] fencing_token fence() const noexcept;

    /// Whether the holder was asked to stop. A body under a lock must check this, because nothing
    /// else notifies it.
    [[nodiscard]] bool revoked() const noexcept;

    /// As `redlock::lease::votes`.
    [[nodiscard]] std::size_t votes() const noexcept;

    /// Error of the last answered extension. Empty: it succeeded, or there was none.
    [[nodiscard]] error_code last_extension() const noexcept;

    /** Extends the lease by `ttl`, counted from now. Blocks for at most `node_timeout`, or longer
        if the client has too many extensions under way: see `redlock::lease::async_extend`.

        @throws boost::system::system_error with the errors of `redlock::lease::async_extend`.
    */
    template <class Rep, class Period>
    void extend(std::chrono::duration<Rep, Period> ttl)
    {
        extend_to(saturate(ttl));
    }

    /// Extends the lease by the ttl it was acquired with.
    void extend();

    /// Replaces the note of the hold and extends the lease.
    /// @throws boost::system::system_error with the errors of `redlock::lease::async_announce`.
    void announce(const note& text);

    /** Releases the resource. Blocks until a quorum has answered, for at most `node_timeout`.

        @return What the release found. The lease is over in any case.
        @throws boost::system::system_error with the errors of `redlock::lease::async_release`.
    */
    release_outcome release();

    /// Forgets the resource without releasing it: the keys stay until their ttl ends. Leaves an
    /// empty lease.
    void abandon() noexcept;

private:
    friend class client;

    lease(std::shared_ptr<detail::engine> by, redlock::lease held);

    /// @throws boost::system::system_error if the lease is empty.
    [[nodiscard]] detail::held_lease& held() const;

    /// Not empty, and not a copy in a child process.
    [[nodiscard]] bool is_ours() const noexcept;

    void extend_to(milliseconds ttl);

    detail::held_ptr<detail::held_lease> held_;
};

/** Reports who holds a resource, and then each change, with blocking functions.

    Made by `client::watch`. See `redlock::watcher` for what it reports. `next` may be called from
    any thread, one at a time.
*/
class REDLOCK_EXPORT watcher
{
public:
    /// Takes over the watcher. `other` may then only be assigned or destroyed.
    watcher(watcher&& other) noexcept;

    /// Drops the previous watcher.
    watcher& operator=(watcher&& other) noexcept;

    /// Call it when no `next` is under way.
    ~watcher();

    /** Waits for the next view, for at most `at_most`.

        Each call asks the nodes again. A call shorter than their answers take, which is at most one
        `node_timeout`, may never return a view.

        @return Nothing if nothing is new by then.
        @throws boost::system::system_error with the errors of `redlock::watcher::async_next`.
    */
    [[nodiscard]] std::optional<holding> next(milliseconds at_most = forever);

private:
    friend class client;

    watcher(std::shared_ptr<detail::engine> by, std::string_view resource);

    detail::held_ptr<detail::held_watcher> held_;
};

/** Acquires leases with blocking functions, in its own thread.

    `redlock::client` for programs without coroutines. Functions throw errors as
    `boost::system::system_error`, with the codes of `redlock::error`.

    @par Thread safety
    Every function except the destructor may be called from any thread. The log function and the
    observer of the configuration must not call any: they run in the client's thread, where a
    blocking function throws `std::logic_error`.

    @par Fork
    A child process doesn't have the thread and must make its own client. In its copies of the
    client and of leases, functions throw `error::not_running`. Functions that don't throw do
    nothing: the leases are over, and destroying them releases nothing.

    @par Example
    @code
    redlock::blocking::client locks("redis://a,redis://b,redis://c");
    locks.with_lock("orders:42", 10s, [](redlock::blocking::lease& held) {
        ship(42, held.fence());
    });
    @endcode
*/
class REDLOCK_EXPORT client
{
public:
    /** Starts the thread, which connects to the nodes. Doesn't wait for them.

        @throws std::invalid_argument naming the field and the value, if the configuration is
        outside its limits (docs/configuration.md).
    */
    explicit client(client_config config);

    /// Makes a client of the nodes in a list of URLs, as for `parse_nodes`, with the defaults of
    /// `client_config`.
    template <std::convertible_to<std::string_view> Urls>
    explicit client(const Urls& urls) : client(redlock::detail::with_nodes(urls))
    {
    }

    client(const client&) = delete;
    client& operator=(const client&) = delete;

    /// As `close(1s)`. No other function may be under way: call `cancel()` and wait for them first.
    ~client();

    /// Waits until a quorum of nodes is ready, for at most `at_most`. @return Whether it is ready.
    /// @throws boost::system::system_error with the errors of `redlock::client::async_wait_ready`.
    bool wait_ready(milliseconds at_most);

    /** Acquires a resource; waits while another owner holds it.

        @param resource As for `redlock::client::async_acquire`.
        @param how Options or ttl, as there. `acquire_options::wait` limits how long this blocks.

        @throws boost::system::system_error with the errors of `redlock::client::async_acquire`.
        `operation_aborted`: another thread called `cancel()` or `close()`.
    */
    template <redlock::detail::says_how_to_acquire How = acquire_options>
    lease acquire(std::string_view resource, const How& how = How())
    {
        return acquire_with(resource, redlock::detail::options_of(how));
    }

    /// Tries to acquire a resource with one round. @return An empty lease if another owner holds
    /// it. @throws boost::system::system_error with the errors of
    /// `redlock::client::async_try_acquire`.
    template <redlock::detail::says_how_to_acquire How = acquire_options>
    lease try_acquire(std::string_view resource, const How& how = How())
    {
        return try_acquire_with(resource, redlock::detail::options_of(how));
    }

    /** Runs `body` in this thread under a lease, which is extended until the body has ended.

        Nothing stops the body: neither a loss of the lease, nor `acquire_options::stop_before`,
        which is ignored. The body can call `lease::expired()`, and the protected resource can check
        `lease::fence()`.

        @param resource As for `redlock::client::async_acquire`.
        @param how As for `acquire`, but `auto_extend` is always on.
        @param body Called once with the lease, which it may release.

        @return The result of the body, by value.

        @throws boost::system::system_error as `acquire`, without calling the body; also
        `error::lease_lost` or `error::hold_limit_reached`, if the lease was lost before the body
        had ended. Their `what()` names the resource and what the nodes said last. An exception from
        the body is passed on, and the release continues in the background.
    */
    template <redlock::detail::says_how_to_acquire How = acquire_options, class Body>
    auto with_lock(std::string_view resource, const How& how, Body&& body)
    {
        constexpr bool callable = std::invocable<Body&, lease&>;
        static_assert(
            callable,
            "with_lock calls its body with a redlock::blocking::lease&, so the body must take one."
        );
        if constexpr (callable)
        {
            lease held = acquire_for_body(resource, redlock::detail::options_of(how));
            if constexpr (std::is_void_v<std::invoke_result_t<Body&, lease&>>)
            {
                std::invoke(body, held);
                end_body(held);
            }
            else
            {
                auto result = std::invoke(body, held);
                end_body(held);
                return result;
            }
        }
    }

    /// Runs `body` under a lease with the defaults of `acquire_options`.
    template <class Body>
    auto with_lock(std::string_view resource, Body&& body)
    {
        return with_lock(resource, acquire_options(), std::forward<Body>(body));
    }

    /// Asks all nodes who holds a resource.
    /// @throws boost::system::system_error with the errors of `redlock::client::async_inspect`.
    holding inspect(std::string_view resource);

    /// Asks the holder of a resource to stop: its hold is no longer extended.
    /// @throws boost::system::system_error with the errors of `redlock::client::async_revoke`.
    revocation revoke(std::string_view resource, fencing_token hold);

    /// Frees a resource that nobody holds but a release keeps: see `acquire_options::at_least`.
    /// @throws boost::system::system_error with the errors of `redlock::client::async_free`.
    release_outcome free(std::string_view resource);

    /// Watches who holds a resource.
    [[nodiscard]] watcher watch(std::string_view resource);

    /// Aborts the calls of all threads and ends the client. Doesn't release leases.
    void cancel() noexcept;

    /** Releases the leases, as `redlock::client::async_close` does, and ends the client.

        @param at_most Longest wait for the nodes. Leases not released by then end with their ttl.
        @return Whether a quorum has confirmed each release in time.
    */
    bool close(milliseconds at_most);

    /// Counters of what the client has done so far.
    [[nodiscard]] redlock::metrics metrics() const noexcept;

    /// The current state of each node, in the order of the configuration.
    [[nodiscard]] std::vector<node_status> nodes() const;

private:
    lease acquire_with(std::string_view resource, const acquire_options& options);
    lease try_acquire_with(std::string_view resource, const acquire_options& options);
    lease acquire_for_body(std::string_view resource, acquire_options options);

    /// Releases the lease. If it was lost, throws the reason.
    static void end_body(lease& held);

    std::shared_ptr<detail::engine> engine_;
};

}  // namespace redlock::blocking

#endif
