#include "chat_room/timing.hpp"

#include <algorithm>
#include <iterator>

namespace chat {

void acquisition_times::on_round(const redlock::round_event& round) noexcept
{
    const std::chrono::duration<double> seconds = round.duration;
    if (!round.extension && !round.code)
        to_.Observe(seconds.count());
}

void delivery_times::on_said(std::string id, clock::time_point when)
{
    said_.emplace_back(std::move(id), when);
}

void delivery_times::on_message(const std::string& id)
{
    const auto is_it = [&id](const auto& each) { return each.first == id; };
    const auto found = std::ranges::find_if(said_, is_it);
    if (found == said_.end())
        return;
    const std::chrono::duration<double> seconds = clock::now() - found->second;
    to_.Observe(seconds.count());
    // The log keeps the order of the inbox: what came before it was in the log already.
    said_.erase(said_.begin(), std::next(found));
}

}  // namespace chat
