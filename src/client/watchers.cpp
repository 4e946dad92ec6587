#include "client/watchers.hpp"

namespace redlock::detail {

watching::watching(watchers& among, std::string_view resource, turn& end_of_turn)
    : among_(among), at_(among.all_.emplace(resource, this)), sleep_(end_of_turn)
{
}

watching::~watching()
{
    among_.all_.erase(at_);
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
