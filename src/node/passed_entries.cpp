#include "node/passed_entries.hpp"

#include "core/quorum.hpp"

#include <algorithm>
#include <utility>

namespace redlock::detail {

void passed_entries::enter(std::size_t node, quorum_handler on_quorum)
{
    const bool were_quorum = are_quorum();
    passed_[node] = std::move(on_quorum);
    if (were_quorum || !are_quorum())
        return;
    for (std::size_t other = 0; other < passed_.size(); ++other)
    {
        if (other != node && passed_[other])
            passed_[other]();
    }
}

bool passed_entries::are_quorum() const noexcept
{
    const auto passed = std::ranges::count_if(passed_, [](const quorum_handler& each) {
        return static_cast<bool>(each);
    });
    return static_cast<std::size_t>(passed) >= core::quorum_size(passed_.size());
}

}  // namespace redlock::detail
