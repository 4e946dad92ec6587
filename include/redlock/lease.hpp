#ifndef REDLOCK_LEASE_HPP
#define REDLOCK_LEASE_HPP

#include <redlock/detail/export.hpp>
#include <redlock/detail/initiate.hpp>
#include <redlock/detail/lease_executor.hpp>
#include <redlock/error.hpp>
#include <redlock/fencing.hpp>
#include <redlock/note.hpp>
#include <redlock/release_outcome.hpp>
#include <redlock/time.hpp>

#include <boost/asio/deferred.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace redlock {

class lease;

namespace detail {

class share;

// The operations, each defined in the file of its name.
using to_share = std::shared_ptr<share>;
REDLOCK_EXPORT void start_extend(
    handler_of<> handler,
    to_share asked_by,
    std::optional<milliseconds> ttl
);
REDLOCK_EXPORT void start_announce(handler_of<> handler, to_share asked_by, note text);
REDLOCK_EXPORT void start_release(handler_of<release_outcome> handler, to_share leaving);
REDLOCK_EXPORT void start_wait_lost(handler_of<> handler, to_share watched);

/// Why the lease was lost before its owner ended it. Empty: it was not lost. Call it while the
/// result of `attend` exists.
/// @param waited Outcome of a wait for the loss.
[[nodiscard]] REDLOCK_EXPORT error_code loss_of(const lease& held, error_code waited);

/// A closing client doesn't end the lease as long as the result exists.
[[nodiscard]] REDLOCK_EXPORT std::shared_ptr<const void> attend(const lease& held);

}  // namespace detail

/** A resource held until a deadline.

    No other owner is granted the resource before `valid_until()`. A lease says nothing about later
    times, and can't stop a paused process from acting late.

    The object owns the lease. It can be moved to another thread or coroutine, not copied.
    Destroying it releases the resource in the background, without blocking and without throwing.

    | state | bool | expired() | how it gets there |
    |---|---|---|---|
    | empty | false | true | default-constructed, moved from, abandoned |
    | held | true | false | acquired, extended |
    | over | true | true | deadline reached, released, or lost on a majority of nodes |

    A lease that is over stays over. `async_wait_lost` reports when and why.

    Leases of one `owner` may share a hold, which is one grant by the nodes. They then have the same
    deadline and token, but each is released separately.

    @par Thread safety
    Distinct objects: safe. Shared objects: the getters may be called from any thread, even while an
    operation of the lease runs; moving, destroying and assigning may not.

    @par Executor
    Handlers run on their associated executor, by default on the client's. An empty lease has no
    client, so a handler without an executor runs on the system executor.

    @par Lifetime
    May outlive its client, and then expires at its deadline. The execution context must outlive it.
*/
class [[nodiscard]] REDLOCK_EXPORT lease
{
public:
    /// An empty lease.
    lease() noexcept = default;

    /// Takes the lease over and leaves an empty one.
    lease(lease&& other) noexcept = default;

    /// Releases the previous lease in the background.
    lease& operator=(lease&& other) noexcept;

    /// Releases the resource in the background.
    ~lease();

    /// Whether the lease isn't empty. `expired()` says whether it's still valid.
    explicit operator bool() const noexcept { return share_ != nullptr; }

    /// A lease needs no optional around it: an optional made from an empty lease would be true.
    template <class Optional>
        requires std::same_as<Optional, std::optional<lease>>
    operator Optional() && = delete;

    /// The resource as given to the client, without the key prefix. Empty for an empty lease.
    [[nodiscard]] std::string_view resource() const noexcept;

    /// The deadline, with clock drift already subtracted. The epoch for an empty lease. After a
    /// suspension of the machine the lease may be over earlier: `expired()` and `remaining()`
    /// notice that.
    [[nodiscard]] time_point valid_until() const noexcept;

    /// Time left, rounded down. Never negative; zero when `expired()`.
    [[nodiscard]] milliseconds remaining() const noexcept;

    /// Whether the deadline has passed or the lease is over. Reads the clocks at each call.
    [[nodiscard]] bool expired() const noexcept;

    /// The number of this acquisition, for the protected resource to check. Extensions keep it, and
    /// it remains readable when the lease is over. Empty for an empty lease and in plain mode.
    [[nodiscard]] fencing_token fence() const noexcept;

    /// Whether the holder was asked to stop, by `client::async_revoke`. The lease lasts until its
    /// deadline and is no longer extended.
    [[nodiscard]] bool revoked() const noexcept;

    /// How many nodes have the lease, as far as their last answers say. A quorum is enough, but
    /// with a bare one the loss of another node ends it. Once the lease is over, the last number.
    /// Zero for an empty lease.
    [[nodiscard]] std::size_t votes() const noexcept;

    /// Error of the last answered extension. Empty: it succeeded, or there was none. It explains
    /// why a lease was lost: its nodes may have been silent, or may have lost its key.
    [[nodiscard]] error_code last_extension() const noexcept;

    /** Extends the lease: sets the ttl of its key on all nodes, unless it's already longer.

        Never shortens a ttl. A node that may vote and has no key of anyone, because it was away or
        has forgotten it, takes the lease again. On failure nothing is deleted and `valid_until()`
        doesn't change, unless a quorum extended it and another node said that it is revoked. Waits,
        at most until the deadline, while the client has as many extensions under way as its nodes
        can answer in time.

        @par Completion signature
        `void(boost::system::error_code)`

        @param ttl Counted from now, with the limits of `acquire_options::ttl`.
        @param token Completion token.

        @par Errors
        @li `error::lease_lost`: the lease expired before a quorum agreed, was released, or too many
        nodes have another's key or know that it's over. The lease is over.
        @li `error::quorum_unreachable`, `error::node_rejected`, `error::quarantined`,
        `error::config_mismatch`, `error::overloaded`: no quorum for now. The lease lasts until its
        deadline, and another extension may succeed.
        @li `error::hold_limit_reached`: the extension would exceed `hold_max`. Nothing was sent.
        @li `error::revoked`: the holder was asked to stop. The lease lasts until its deadline.
        @li `error::invalid_argument`: the lease is empty, or the ttl is out of range. Nothing was
        sent.
        @li `error::not_running`: the client has stopped.

        @par Cancellation
        Terminal and partial. `valid_until()` doesn't change; the keys may live up to `ttl` longer.
    */
    template <class Rep, class Period, class Token = boost::asio::deferred_t>
    [[nodiscard]] auto async_extend(std::chrono::duration<Rep, Period> ttl, Token&& token = Token())
    {
        return detail::initiate(
            std::forward<Token>(token), runs_on(), detail::start_extend, share_, saturate(ttl)
        );
    }

    /// Extends the lease by the ttl it was acquired with. See the other overload.
    template <class Token = boost::asio::deferred_t>
        requires(!detail::is_duration<std::remove_cvref_t<Token>>)
    [[nodiscard]] auto async_extend(Token&& token = Token())
    {
        return detail::initiate(
            std::forward<Token>(token), runs_on(), detail::start_extend, share_, std::nullopt
        );
    }

    /** Replaces the note of the hold, for those who inspect the resource, and extends the lease.

        Works like `async_extend` without a ttl, with the same errors and cancellation. If it fails,
        some nodes may have the note, and the next extension, if there is one, brings it to the
        others.

        @par Completion signature
        `void(boost::system::error_code)`

        @param text Replaces the earlier note, even if empty. The later of two notes stays.
        @param token Completion token.

        @par Errors
        Those of `async_extend`. `error::invalid_argument` also in plain mode, which has no notes.
    */
    template <class Token = boost::asio::deferred_t>
    [[nodiscard]] auto async_announce(const note& text, Token&& token = Token()) const
    {
        return detail::initiate(
            std::forward<Token>(token), runs_on(), detail::start_announce, share_, text
        );
    }

    /** Releases the resource: deletes the key on all nodes, if it still belongs to the lease.

        The lease is over from the moment of the call. Completes when a quorum has answered (with
        `acquire_options::at_least`, all nodes) or has become impossible, at the latest after
        `client_config::node_timeout`. Unanswered releases continue in the background until the ttl
        and `at_least` end. An expired lease is an outcome, not an error.

        @par Completion signature
        `void(boost::system::error_code, redlock::release_outcome)`

        @param token Completion token.

        @par Errors
        @li `error::invalid_argument`: the lease is empty.
        @li `error::not_running`: the client has stopped. The key lives until its ttl ends.

        @par Cancellation
        Terminal and partial end only the wait. The release itself continues.
    */
    template <class Token = boost::asio::deferred_t>
    [[nodiscard]] auto async_release(Token&& token = Token())
    {
        return detail::initiate(
            std::forward<Token>(token), runs_on(), detail::start_release, share_
        );
    }

    /** Waits until the lease is over, or the holder is asked to stop.

        Completes at the deadline even if every node hangs, and as soon as a majority of the nodes
        reports that the key is gone. If the deadline passes while the machine is suspended, it
        completes within 500 ms of the end of the suspension.

        @par Completion signature
        `void(boost::system::error_code)`

        @param token Completion token.

        @par Errors
        @li No error: the lease was released, abandoned or destroyed. It was not lost.
        @li `error::lease_lost`: the deadline has passed, or a majority of the nodes no longer has
        the key. `last_extension()` shows what led to it.
        @li `error::hold_limit_reached`: the deadline has passed, because `hold_max` allowed no
        further extension.
        @li `error::revoked`: the holder was asked to stop. The lease lasts until its deadline.
        @li `error::invalid_argument`: the lease is empty.
        @li `error::not_running`: the client has stopped and doesn't watch the lease, which lasts
        until its deadline at most.
        @li `operation_aborted`: the operation or the client was cancelled, or the client was
        closed.

        @par Cancellation
        Terminal and partial. The lease doesn't change.
    */
    template <class Token = boost::asio::deferred_t>
    [[nodiscard]] auto async_wait_lost(Token&& token = Token())
    {
        return detail::initiate(
            std::forward<Token>(token), runs_on(), detail::start_wait_lost, share_
        );
    }

    /// Forgets the resource without releasing it. The keys stay until their ttl ends, and are no
    /// longer extended. Leaves an empty lease.
    void abandon() noexcept;

private:
    friend class detail::share;
    friend error_code detail::loss_of(const lease& held, error_code waited);
    friend std::shared_ptr<const void> detail::attend(const lease& held);

    explicit lease(std::shared_ptr<detail::share> share) noexcept;

    [[nodiscard]] detail::lease_executor runs_on() const;

    std::shared_ptr<detail::share> share_;
};

}  // namespace redlock

#endif
