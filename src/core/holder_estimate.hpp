#ifndef REDLOCK_SRC_CORE_HOLDER_ESTIMATE_HPP
#define REDLOCK_SRC_CORE_HOLDER_ESTIMATE_HPP

#include <redlock/time.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace redlock::core {

/** How long until enough holders' keys have expired for a quorum to be free.

    @param held_for What each denying node said about its holder's key; `forever` for a key without
    a ttl. Nodes that didn't say are left out.
    @param needed How many of them must become free, 0 or more.
    @return Empty if fewer than `needed` nodes said something.
*/
[[nodiscard]] std::optional<milliseconds> free_after(
    std::vector<milliseconds> held_for,
    std::size_t needed
);

}  // namespace redlock::core

#endif
