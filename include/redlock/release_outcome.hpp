#ifndef REDLOCK_RELEASE_OUTCOME_HPP
#define REDLOCK_RELEASE_OUTCOME_HPP

#include <redlock/detail/export.hpp>
#include <redlock/detail/printing.hpp>

namespace redlock {

/// What a release found on the nodes.
enum class release_outcome : unsigned char
{
    released,      ///< A quorum answered, and our key was deleted.
    already_gone,  ///< None of a quorum had our key: it had expired. Or the lease was over already.

    /// Too few nodes answered for a quorum. The nodes that did not answer get the release once more
    /// when they are connected again, until the ttl ends. One that answered with an error does not.
    /// Goes with every error of the operation, too.
    unconfirmed,

    /// Another lease of the same owner still holds the resource. Its key stays.
    still_held,
};

/// Lower-case name, for logs.
[[nodiscard]] REDLOCK_EXPORT const char* to_string(release_outcome value) noexcept;

}  // namespace redlock

#endif
