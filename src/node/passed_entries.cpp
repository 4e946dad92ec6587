#include "node/passed_entries.hpp"

#include "core/electorate.hpp"

#include <algorithm>

namespace redlock::detail {

void passed_entries::enter(std::size_t node, entrant& passed)
{
    const bool were_quorum = are_quorum();
    passed_[node] = &passed;
    if (were_quorum || !are_quorum())
        return;
    for (std::size_t other = 0; other < passed_.size(); ++other)
    {
        if (other != node && passed_[other])
            passed_[other]->on_quorum();
    }
}

bool passed_entries::are_quorum() const noexcept
{
    const auto absent = static_cast<std::size_t>(std::ranges::count(passed_, nullptr));
    return absent <= core::electorate(passed_.size()).spare();
}

}  // namespace redlock::detail
