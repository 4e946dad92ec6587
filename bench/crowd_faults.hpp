#ifndef REDLOCK_BENCH_CROWD_FAULTS_HPP
#define REDLOCK_BENCH_CROWD_FAULTS_HPP

#include "child.hpp"
#include "scenario.hpp"
#include "scoreboard.hpp"
#include "slow_line.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "chaos/wall_clock.hpp"
#include "support/posix.hpp"
#include "support/redis_server.hpp"

namespace bench {

/// The servers of a scenario, with their clocks.
class crowd_nodes
{
public:
    /// @param clients That will connect.
    crowd_nodes(const scenario& what, std::size_t clients);

    [[nodiscard]] redlock::test::redis_servers& servers() noexcept { return *servers_; }
    [[nodiscard]] const std::vector<std::uint16_t>& ports() const noexcept { return ports_; }

    /// Returns the CPU time that all of them have used.
    [[nodiscard]] double cpu_seconds();

    /// Deletes what the first nodes know of those who wait for a resource.
    void lose_queues(const std::string& resource, std::size_t nodes);

private:
    std::deque<redlock::test::wall_clock> clocks_;
    std::optional<redlock::test::redis_servers> servers_;
    std::vector<std::uint16_t> ports_;
};

/// How each process reaches the nodes.
class crowd_routes
{
public:
    crowd_routes(const scenario& what, const std::vector<std::uint16_t>& ports);

    [[nodiscard]] std::vector<std::uint16_t> ports_for(std::size_t process) const;

    /// Returns whether the process is far or misses a node.
    [[nodiscard]] bool is_weak(std::size_t process) const;

private:
    [[nodiscard]] bool misses_nodes(std::size_t process) const;

    scenario what_;
    std::vector<std::uint16_t> ports_;
    std::deque<redlock::test::loopback_port> closed_;
    std::optional<slow_line> line_;
};

/// A server that runs for one millisecond in so many, while the object lives.
class slow_node
{
public:
    slow_node(redlock::test::redis_server& server, std::size_t factor);
    slow_node(const slow_node&) = delete;
    slow_node& operator=(const slow_node&) = delete;
    ~slow_node();

private:
    redlock::test::redis_server& server_;
    std::optional<child> stopper_;
};

/// Starts processes that compute from the start of the contention on, for a second.
[[nodiscard]] std::vector<child> start_compilers(std::size_t count, const scoreboard& board);

}  // namespace bench

#endif
