#ifndef REDLOCK_OPTIONS_HPP
#define REDLOCK_OPTIONS_HPP

#include <redlock/detail/export.hpp>
#include <redlock/fencing.hpp>
#include <redlock/note.hpp>
#include <redlock/time.hpp>

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <type_traits>

namespace redlock {

struct diagnostics;

/** The caller that asks for leases: a number you choose, such as that of a session or a request.

    Leases of one owner on one resource share a hold, which is one grant by the nodes, if they come
    from the same client, so an owner never waits for itself. Different owners exclude each other.
    Don't use threads as owners: coroutines change threads, and a thread serves many.

    Number your owners from 1: `owner{0}` is `owner::none`, which isn't an owner and excludes
    itself.
*/
enum class owner : std::uint64_t
{
    none = 0,  ///< No owner. Excludes every other lease, even those without an owner.
};

/// The number in decimal, "none" for `owner::none`.
[[nodiscard]] REDLOCK_EXPORT std::string to_string(owner value);

/// Prints `to_string(value)`.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream& out, owner value);

/** The options of one acquisition.

    An aggregate for designated initializers: `{.ttl = 30s, .wait = 1s}`. It stays trivially
    copyable, because GCC 12 destroys other temporaries of a `co_await` expression twice.
*/
struct acquire_options
{
    /// Time that the nodes keep the key without an extension. 10 ms to `client_config::ttl_max` (in
    /// plain mode 24 h), and more than `client_config::node_timeout`. The lease is valid for a
    /// little less: the time spent acquiring and the clock drift are subtracted.
    milliseconds ttl{10'000};

    /// Time to keep trying, whether the resource is held, nodes are missing or the client has too
    /// many rounds under way. Zero: one round. `forever`: no limit. The last round may end up to
    /// two `node_timeout`s later. A new client's nodes connect before it begins.
    /// `async_try_acquire` ignores it and makes one round.
    milliseconds wait{10'000};

    /// Extend the lease automatically, each time a third of `ttl` has passed, until it is released
    /// or lost, or `hold_max` is reached. A shared hold is extended until its last lease is
    /// released. See docs/extending.md.
    bool auto_extend = false;

    /// The longest time from acquiring to the end of the last extension. Extending further fails
    /// with `error::hold_limit_reached`. At least 1 ms. Less than `ttl`: no extension. `forever`:
    /// no limit. Leases that share a hold share the limit of the first one.
    milliseconds hold_max{3'600'000};

    /// Only for `with_lock`: if the lease hasn't been extended this long before its deadline,
    /// cancel the body and stop extending. A body that stops within this time has stopped before
    /// the next holder starts. At most 2/3 `ttl`, minus the clock drift of `ttl` and `grace` and
    /// minus two `node_timeout`s. Zero: the body is cancelled when the lease is lost.
    milliseconds stop_before{0};

    /// How long nobody is granted the resource after the deadline of a lost lease, so that work its
    /// holder began can settle. 0 to `client_config::ttl_max` minus `ttl`, and short enough that
    /// the clock drift of `ttl` and `grace` is at most a quarter of `ttl`. More than 0 only in
    /// guarded mode. A release ends it, and so does the end of a body under `with_lock`. Dropping a
    /// lost lease doesn't. Leases that share a hold have the grace of the first one.
    milliseconds grace{0};

    /// How long the resource stays taken, counted from its acquisition, even if it's released
    /// earlier. Use it for a job that should run once in this time, no matter which machine starts
    /// it. 0 to 24 h; more than 0 only in guarded mode. Runs from the token's time on the nodes'
    /// clocks, so it may be longer or shorter by `client_config::clock_window`. A lease that is
    /// lost, or whose holder dies, keeps nothing. Leases that share a hold keep the resource for
    /// the longest of their times, from the acquisition of the first one. Beyond
    /// `client_config::ttl_max` minus `clock_window` it isn't kept if most nodes lose their data.
    /// `client::async_free` ends it. See docs/extending.md.
    milliseconds at_least{0};

    /// What the hold says about its holder to those who inspect it. Empty: `client_config::name`.
    /// Only in guarded mode. Leases that share a hold have the note of the first one.
    redlock::note note{};

    /// The caller that asks. An owner that already holds the resource gets another lease on the
    /// same hold, and the last lease releases the keys. If the hold has less than `ttl` left, it is
    /// extended first.
    redlock::owner owner = redlock::owner::none;

    /// Demand a token greater than this one. Use it for a resource that has recorded a higher token
    /// than the nodes know, because they lost theirs. Empty: no demand. A value more than
    /// `client_config::clock_window` ahead of the nodes' clocks fails with `error::node_rejected`.
    /// An owner whose hold has no greater token gets `error::invalid_argument`. Ignored in plain
    /// mode.
    fencing_token fence_at_least{};

    /// Receives the answer of each node. Null: none. Must live until the operation has completed.
    /// In plain mode, a denied operation that doesn't wait then asks the denying nodes how long the
    /// holder has left, as a waiting one always does. That costs one round trip, at most one
    /// `node_timeout`.
    diagnostics* report = nullptr;
};

static_assert(std::is_trivially_copyable_v<acquire_options>);

namespace detail {

/// The options of an acquisition, or its ttl, as opposed to a completion token in their place.
template <class T>
concept says_how_to_acquire = is_duration<T> || std::convertible_to<T, const acquire_options&>;

/// A ttl leaves all other options at their defaults.
template <says_how_to_acquire How>
[[nodiscard]] acquire_options options_of(const How& how)
{
    if constexpr (is_duration<How>)
        return {.ttl = saturate(how)};
    else
        return how;
}

}  // namespace detail

}  // namespace redlock

#endif
