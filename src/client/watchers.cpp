#include "client/watchers.hpp"

namespace redlock::detail {

watching::watching(watchers& among, std::string_view resource, turn& end_of_turn)
    : among_(among), resource_(resource), sleep_(end_of_turn)
{
    among_.all_.emplace(resource_, this);
}

watching::~watching()
{
    const auto [begin, end] = among_.all_.equal_range(resource_);
    for (auto at = begin; at != end; ++at)
    {
        if (at->second == this)
        {
            among_.all_.erase(at);
            return;
        }
    }
}

void watchers::on_change(std::string_view resource)
{
    if (all_.empty())
        return;
    const auto [begin, end] = all_.equal_range(resource);
    for (auto at = begin; at != end; ++at)
        at->second->on_change();
}

}  // namespace redlock::detail
