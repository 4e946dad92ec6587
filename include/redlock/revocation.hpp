#ifndef REDLOCK_REVOCATION_HPP
#define REDLOCK_REVOCATION_HPP

#include <redlock/time.hpp>

#include <cstddef>

namespace redlock {

/// What came of `client::async_revoke`: a quorum will not extend the hold any more.
struct revocation
{
    /// No deadline of the hold is later, nor is the end of its grace. If its holder ends it, the
    /// resource is free earlier, unless the release keeps it: see `acquire_options::at_least`.
    time_point until{};

    std::size_t marked = 0;  ///< Nodes that had the hold and marked it.
};

}  // namespace redlock

#endif
