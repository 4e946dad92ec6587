#include "chaos/nemesis.hpp"

#include <algorithm>

namespace redlock::test {

nemesis::nemesis(redis_servers& nodes, unsigned seed)
    : nodes_(nodes), random_(seed), paused_(nodes.size())
{
}

void nemesis::strike()
{
    const std::size_t index = random_() % nodes_.size();
    const auto choice = random_() % 8;
    if (paused_[index])
    {
        nodes_[index].resume();
        paused_[index] = false;
    }
    else if (choice < 4 && may_pause())
    {
        pause(index);
    }
    else if (choice < 7)
    {
        nodes_[index].restart();
        ++restarts_;
    }
    else
    {
        restart_all();
    }
}

bool nemesis::may_pause() const
{
    const auto count = static_cast<std::size_t>(std::ranges::count(paused_, true));
    return count < (nodes_.size() - 1) / 2;
}

void nemesis::pause(std::size_t index)
{
    nodes_[index].pause();
    paused_[index] = true;
    ++pauses_;
}

void nemesis::restart_all()
{
    std::vector<redis_server*> running;
    for (std::size_t index = 0; index < nodes_.size(); ++index)
    {
        if (!paused_[index])
            running.push_back(&nodes_[index]);
    }
    for (redis_server* node : running)
        node->kill();
    for (redis_server* node : running)
        node->start();
    restarts_ += running.size();
}

}  // namespace redlock::test
