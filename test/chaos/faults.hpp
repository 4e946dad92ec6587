#ifndef REDLOCK_TEST_CHAOS_FAULTS_HPP
#define REDLOCK_TEST_CHAOS_FAULTS_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "chaos/stage.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_proxy.hpp"

namespace redlock::test {

/// What a fault harms.
enum class harm : std::uint8_t
{
    node,
    all_nodes,  ///< Those that nothing else harms at the time.
    link,
    worker,
};

/// What a fault is done to.
struct aim
{
    stage& on;
    std::mt19937_64& random;
    std::size_t node = 0;
    std::size_t worker = 0;

    [[nodiscard]] redis_server& server() const { return on.node(node); }
    [[nodiscard]] tcp_proxy& link() const { return on.link(worker, node); }

    /// Sends a command to the node. Throws if the answer is an error.
    void command(const std::vector<std::string>& words) const;

    /// A number from `least` to `most`.
    [[nodiscard]] std::uint64_t draw(std::uint64_t least, std::uint64_t most) const
    {
        return std::uniform_int_distribution(least, most)(random);
    }
};

/// Undoes a fault. Empty: there is nothing to undo.
using heal = std::function<void()>;

/// Which nodes a fault is for. Leases of plain mode survive only the first two kinds.
enum class site : std::uint8_t
{
    any,
    always,       ///< Those that find every write again after a restart.
    guarded,      ///< Any, in guarded mode.
    everysec,     ///< Those that may lose the last second.
    snapshot,     ///< Those that find nothing again, or what they had at a `SAVE`.
    not_durable,  ///< All but those that find every write again.
    admitted,     ///< Those not in quarantine: a clock that jumps would end one.
};

/** One line of the menu.

    None of them breaks an assumption of docs/safety.md in the mode that it is for.
*/
struct fault
{
    const char* name;
    harm what;
    std::uint32_t weight;             ///< How often it is drawn, compared with the others.
    std::chrono::milliseconds least;  ///< How long it lasts.
    std::chrono::milliseconds most;
    heal (*strike)(const aim& at);
    site where = site::any;
};

/// All of them.
[[nodiscard]] std::span<const fault> all_faults();

}  // namespace redlock::test

#endif
