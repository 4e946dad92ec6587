#include "core/holder_estimate.hpp"

#include <algorithm>

namespace redlock::core {

std::optional<milliseconds> free_after(std::vector<milliseconds> held_for, std::size_t needed)
{
    if (needed == 0)
        return milliseconds(0);
    if (held_for.size() < needed)
        return std::nullopt;

    std::ranges::sort(held_for);
    return held_for[needed - 1];
}

}  // namespace redlock::core
