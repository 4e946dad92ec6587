#ifndef REDLOCK_RELEASE_OUTCOME_HPP
#define REDLOCK_RELEASE_OUTCOME_HPP

#include <redlock/detail/export.hpp>
#include <redlock/detail/printing.hpp>

namespace redlock {

/// What a release found on the nodes.
enum class release_outcome : unsigned char
{
    /// A quorum answered, and at least one of its nodes deleted our key. With
    /// `acquire_options::at_least`: more nodes than a quorum needs, or all of one or two, keep the
    /// resource until that time, or that time has passed.
    released,

    /// No node in a quorum had our key, or the lease was already over. With
    /// `acquire_options::at_least` only the latter: if a node still had the key of the lost lease,
    /// as in a grace, it's `unconfirmed`.
    already_gone,

    /// Too few nodes answered for a quorum, or too few keep the resource. The release is sent again
    /// to silent nodes when they're connected again, until the ttl or `at_least` ends, but not to a
    /// node that answered with an error. Also the outcome if the operation fails.
    unconfirmed,

    /// Another lease of the same owner still holds the resource. The key stays.
    still_held,

    /// Only with `acquire_options::at_least`: as `released`, but no more than a quorum keeps the
    /// resource, as far as the nodes said within a node timeout. If another node loses its data
    /// before that time, the resource may be granted again.
    barely_kept,
};

/// Lower-case name, for logs.
[[nodiscard]] REDLOCK_EXPORT const char* to_string(release_outcome value) noexcept;

}  // namespace redlock

#endif
