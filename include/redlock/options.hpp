#ifndef REDLOCK_OPTIONS_HPP
#define REDLOCK_OPTIONS_HPP

#include <redlock/fencing.hpp>
#include <redlock/time.hpp>

#include <type_traits>

namespace redlock {

struct diagnostics;

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

    /// The longest time from acquiring to the end of the last extension. Extending further fails
    /// with `error::hold_limit_reached`. At least 1 ms; `forever`: no limit.
    milliseconds hold_max{3'600'000};

    /// The token will be greater than this one. For a resource that has recorded a higher token
    /// than the nodes know, after they have lost it. Empty: no demand. One that is ahead of the
    /// nodes' clocks by more than `client_config::clock_window` fails with `error::node_rejected`.
    /// Ignored in plain mode.
    fencing_token fence_at_least{};

    /// Where to write what each node answered. Null: nowhere. Must live until the operation has
    /// completed. With a report, a denied operation in plain mode asks the denying nodes how long
    /// the holder has left before it fails, which costs one round trip, at most one `node_timeout`.
    diagnostics* report = nullptr;
};

static_assert(std::is_trivially_copyable_v<acquire_options>);

}  // namespace redlock

#endif
