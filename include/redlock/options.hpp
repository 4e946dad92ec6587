#ifndef REDLOCK_OPTIONS_HPP
#define REDLOCK_OPTIONS_HPP

#include <redlock/detail/export.hpp>
#include <redlock/fencing.hpp>
#include <redlock/time.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <type_traits>

namespace redlock {

struct diagnostics;

/** Who asks for leases: any number that the caller chooses, such as that of a session or a request.

    Leases of one owner on one resource share a hold, if they come from the same client: the owner
    never waits for itself. Different owners exclude each other. It is never a thread: coroutines
    change threads, and a thread serves many.

    Number your owners from 1: `owner{0}` is `owner::none`, which is no owner and excludes itself.
*/
enum class owner : std::uint64_t
{
    none = 0,  ///< Everybody else. Excludes every other lease, those without an owner included.
};

/// The number in decimal, "none" for `owner::none`.
[[nodiscard]] REDLOCK_EXPORT std::string to_string(owner value);

/// Prints `to_string(value)`.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream& out, owner value);

/** How to acquire one lease.

    An aggregate for designated initializers: `{.ttl = 30s, .wait = 1s}`. It stays trivially
    copyable, because GCC 12 destroys other temporaries of a `co_await` expression twice.
*/
struct acquire_options
{
    /// How long the nodes keep the key without an extension. 10 ms to `client_config::ttl_max` (in
    /// plain mode 24 h), and more than `client_config::node_timeout`. The lease is valid for a
    /// little less: the time that acquiring took and the clock drift are subtracted.
    milliseconds ttl{10'000};

    /// How long to go on trying, whether the resource is held or nodes are missing. Zero: one
    /// round. `forever`: no limit. The last round may end up to two `node_timeout`s later.
    /// `async_try_acquire` ignores it and makes one round.
    milliseconds wait{10'000};

    /// Extend the lease automatically, each time a third of `ttl` has passed, until it is released,
    /// lost, or `hold_max` has been reached. A hold that several leases share is extended until the
    /// last one is released. See docs/extending.md.
    bool auto_extend = false;

    /// The longest time from acquiring to the end of the last extension. Extending further fails
    /// with `error::hold_limit_reached`. At least 1 ms, where less than `ttl` means: no extension;
    /// `forever`: no limit. Leases that share a hold share the limit of the first one.
    milliseconds hold_max{3'600'000};

    /// Who asks. An owner that holds the resource already gets another lease on the same hold, and
    /// the keys are released with the last one. If `ttl` from now is longer than what the hold has
    /// left, it is extended first.
    redlock::owner owner = redlock::owner::none;

    /// The token will be greater than this one. For a resource that has recorded a higher token
    /// than the nodes know, after they have lost it. Empty: no demand. One that is ahead of the
    /// nodes' clocks by more than `client_config::clock_window` fails with `error::node_rejected`.
    /// An owner whose hold has no greater token gets `error::invalid_argument`. Ignored in plain
    /// mode.
    fencing_token fence_at_least{};

    /// Where to write what each node answered. Null: nowhere. Must live until the operation has
    /// completed. In plain mode a report makes a denied operation that does not wait ask the
    /// denying nodes how long the holder has left, as one that waits does anyway. That costs one
    /// round trip, at most one `node_timeout`.
    diagnostics* report = nullptr;
};

static_assert(std::is_trivially_copyable_v<acquire_options>);

}  // namespace redlock

#endif
