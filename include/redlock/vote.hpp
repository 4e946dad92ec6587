#ifndef REDLOCK_VOTE_HPP
#define REDLOCK_VOTE_HPP

#include <redlock/detail/export.hpp>
#include <redlock/detail/printing.hpp>

#include <cstdint>

namespace redlock {

/// What the answer of one node counts as.
enum class vote : std::uint8_t
{
    granted,  ///< The node holds our key, with the requested ttl.
    denied,   ///< The node holds the key of another attempt, or no longer holds ours.
    refused,  ///< The node answered that it wrote nothing, for a reason other than a holder.
    unknown,  ///< No usable answer. The command may have run, may run later, or never.
};

/// Lower-case name, for logs and diagnostics.
[[nodiscard]] REDLOCK_EXPORT const char* to_string(vote value) noexcept;

}  // namespace redlock

#endif
