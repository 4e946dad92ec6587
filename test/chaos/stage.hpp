#ifndef REDLOCK_TEST_CHAOS_STAGE_HPP
#define REDLOCK_TEST_CHAOS_STAGE_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "chaos/crew.hpp"
#include "chaos/wall_clock.hpp"
#include "chaos/worker_options.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_proxy.hpp"

namespace redlock::test {

/// What becomes of a node that has forgotten its locks.
enum class restart_guard : std::uint8_t
{
    on,
    bypassed,  ///< The node is marked at once, as if it had not been away. For the control.
};

struct stage_options
{
    /// What each node finds again after a restart. One node for each.
    std::vector<redis_storage> storage{};
    std::size_t workers = 8;
    std::size_t polling = 0;  ///< How many of them poll. The others wait in queues.
    bool proxies = true;      ///< Whether each worker has a proxy before each node.
    bool fenced = true;       ///< Whether there is a store that workers use.

    /// How many resources are held by workers that give none back, each wanted by another one too.
    /// Their numbers are those behind the resources of the others.
    std::uint32_t kept = 0;

    /// The clock of each node is so much ahead of that of the one before it.
    std::chrono::milliseconds spread{0};

    restart_guard guard = restart_guard::on;
    worker_options work{};  ///< Nodes, log, number and store are chosen here.
};

/** All that a run consists of, and that can be harmed: nodes with clocks of their own, workers, and
    a proxy on the way from each worker to each node. The store is left alone.
*/
class stage
{
public:
    /// Starts the nodes and makes them ready. Starts the workers, whose clocks are right.
    explicit stage(stage_options options);

    [[nodiscard]] std::size_t node_count() const noexcept { return nodes_.size(); }
    [[nodiscard]] redis_server& node(std::size_t index) { return nodes_.at(index); }
    [[nodiscard]] redis_storage storage(std::size_t node) const { return options_.storage[node]; }
    [[nodiscard]] wall_clock& clock_of_node(std::size_t index) { return clocks_.at(index); }
    [[nodiscard]] crew& workers() noexcept { return workers_; }

    /// Those that give nothing back. They have no links.
    [[nodiscard]] crew& keepers() noexcept { return keepers_; }
    [[nodiscard]] std::uint32_t first_kept() const noexcept;
    [[nodiscard]] bool has_links() const noexcept { return !links_.empty(); }
    [[nodiscard]] tcp_proxy& link(std::size_t worker, std::size_t node);

    /// A server without any data. The first call starts it.
    [[nodiscard]] redis_server& empty_server();

    /// Starts a node that was killed.
    void bring_back(std::size_t node);

    /// Whether a node is in use as it is now, and not in quarantine.
    [[nodiscard]] bool is_admitted(std::size_t node);

    /// Whether all nodes are, and all have the leases of all keepers.
    [[nodiscard]] bool all_nodes_have_what_is_kept();

    /// Sends a command to a node until it answers. Throws if it never does.
    std::string command(std::size_t node, const std::vector<std::string>& words);

    /// What the workers did, and what the store has. They are stopped meanwhile.
    [[nodiscard]] history read();

private:
    [[nodiscard]] std::string urls(std::size_t worker) const;
    [[nodiscard]] std::string urls_of_nodes() const;
    void hire_keepers();
    void make_ready();

    static constexpr std::uint32_t first_keeper = 1'000'000;

    stage_options options_;
    std::string fingerprint_;  ///< Of the marker that admitted nodes have.
    std::deque<wall_clock> clocks_;
    std::deque<redis_server> nodes_;
    std::deque<redis_server> store_;  ///< One or none, and so is the next.
    std::deque<redis_server> empty_;
    std::deque<tcp_proxy> links_;  ///< Those of the first worker to all nodes, and so on.
    crew workers_;
    crew keepers_{first_keeper};
};

/// What follows `name:` in the answer to INFO.
[[nodiscard]] std::string info_field(const redis_server& node, const std::string& name);

}  // namespace redlock::test

#endif
