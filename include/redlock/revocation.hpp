#ifndef REDLOCK_REVOCATION_HPP
#define REDLOCK_REVOCATION_HPP

#include <redlock/time.hpp>

#include <cstddef>

namespace redlock {

/// The result of `client::async_revoke`: a quorum will no longer extend the hold.
struct revocation
{
    /// Neither a deadline of the hold nor the end of its grace is later than this. If the holder
    /// ends it, the resource is free earlier, unless the release keeps it: see
    /// `acquire_options::at_least`.
    time_point until{};

    std::size_t marked = 0;  ///< Nodes that had the hold and marked it.
};

}  // namespace redlock

#endif
