#ifndef REDLOCK_TEST_CHAOS_NEMESIS_HPP
#define REDLOCK_TEST_CHAOS_NEMESIS_HPP

#include <cstddef>
#include <random>
#include <vector>

#include "support/redis_server.hpp"

namespace redlock::test {

/** Harms nodes that store every write.

    A minority stands still at any time, each for a while. The others are killed and started again
    at once, one of them or all together: a lease must survive that.
*/
class nemesis
{
public:
    nemesis(redis_servers& nodes, unsigned seed);

    /// Harms a node or several, or lets one go on.
    void strike();

    [[nodiscard]] std::size_t pauses() const noexcept { return pauses_; }
    [[nodiscard]] std::size_t restarts() const noexcept { return restarts_; }

private:
    [[nodiscard]] bool may_pause() const;
    void pause(std::size_t index);
    void restart_all();

    redis_servers& nodes_;
    std::mt19937 random_;
    std::vector<char> paused_;
    std::size_t pauses_ = 0;
    std::size_t restarts_ = 0;
};

}  // namespace redlock::test

#endif
