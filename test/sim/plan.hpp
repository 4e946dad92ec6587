#ifndef REDLOCK_TEST_SIM_PLAN_HPP
#define REDLOCK_TEST_SIM_PLAN_HPP

#include <redlock/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/dice.hpp"
#include "sim/network.hpp"
#include "sim/processors.hpp"
#include "sim/server.hpp"

namespace redlock::sim {

/// What may go wrong in a schedule. `respecting` has what docs/safety.md promises to survive, the
/// others break one assumption each.
enum class profile : std::uint8_t
{
    respecting,
    majority_step,    ///< A majority of the nodes' clocks jump forward together (A3).
    no_quarantine,    ///< Nodes forget, and do not sit out their quarantine (A5).
    plain_amnesia,    ///< Nodes forget in plain mode (A5).
    deleted_keys,     ///< An operator deletes lock keys (A3).
    fast_nodes,       ///< Clocks of nodes gain more than the drift allows for (A3).
    different_lists,  ///< Clients have different lists of as many nodes (A1).
    unfenced_reads,   ///< The resource checks the token of writes only.
    late_actors,      ///< Holders act without asking whether they still hold, unfenced (A8).
    overloaded,    ///< More is asked for at once than the nodes do in their time. They stand still.
    mixed,         ///< Some of the clients have the scripts of an older version.
    lines,         ///< Clients with many and with few who want the same resource, all the time.
    failovers,     ///< Each node is a master with a replica, behind one address.
    long_overlap,  ///< The same, and old masters go on for longer than was promised.
    same_replication_id,  ///< The same, and a server hides that it became a master again.
    rolling,  ///< Nodes are away one after the other, and have all extended holds before the next.
    crowd,    ///< Many clients that want one resource all the time, and share processors.
};

inline constexpr std::array all_profiles{
    profile::respecting,
    profile::majority_step,
    profile::no_quarantine,
    profile::plain_amnesia,
    profile::deleted_keys,
    profile::fast_nodes,
    profile::different_lists,
    profile::unfenced_reads,
    profile::late_actors,
    profile::overloaded,
    profile::mixed,
    profile::lines,
    profile::failovers,
    profile::long_overlap,
    profile::same_replication_id,
    profile::rolling,
    profile::crowd,
};

[[nodiscard]] std::string_view to_string(profile value) noexcept;
[[nodiscard]] std::optional<profile> to_profile(std::string_view name) noexcept;

/// What happens at some time of a schedule. What belongs to messages is in `network_habits`.
enum class fault : std::uint8_t
{
    block_to_server,
    block_to_client,
    freeze,
    reset,
    crash,
    copy,  ///< A node becomes a replica of another one, and a master again.
    flush,
    flush_scripts,
    error_replies,
    clock_back,
    clock_far_forward,  ///< More than two windows away from all others, for a minority.
    wall_of_client,
    stall,
    suspend,
    client_crash,
    client_destroyed,
    client_closed,
    spoil_queue,  ///< An operator writes rubbish into a queue, or deletes one.
    // Of other profiles than `respecting`.
    failover,        ///< A replica becomes the master, and the old one goes on for a while.
    there_and_back,  ///< A failover, and at once one back.
    majority_forward,
    delete_keys,
    freeze_quorum,  ///< Too many nodes for a quorum of others stand still together.
};

inline constexpr std::size_t fault_count = 23;

[[nodiscard]] std::string_view to_string(fault value) noexcept;

/// A majority. Not the library's, for that may be what is wrong.
[[nodiscard]] constexpr std::size_t majority_of(std::size_t nodes) noexcept
{
    return nodes / 2 + 1;
}

/// What too much load is. See `profile::overloaded` and `profile::lines`.
struct load
{
    std::size_t burst = 0;             ///< Resources that each client asks for at once, all free.
    std::vector<std::size_t> lines{};  ///< How many of each client want one resource all the time.
    nanoseconds hold{0};               ///< The longest hold.
    nanoseconds burst_at{0};
    nanoseconds lasts{0};  ///< No client asks any more after this time.
    nanoseconds stall_at{0};
    nanoseconds stall{0};  ///< So long a quorum stands still. Zero: it does not.
};

/// What disturbs a crowd.
enum class disturbance : std::uint8_t
{
    long_waits,     ///< Longer ones than the clock window.
    clocks_apart,   ///< Nodes whose clocks are apart, within the window.
    far_clients,    ///< Some clients are far from all nodes.
    eager_polls,    ///< So many polls that the nodes can't answer all of them.
    partial_reach,  ///< Some clients reach a quorum and no more nodes.
    lost_queues,    ///< Nodes lose their queue.
    killed,         ///< Some of those who wait.
    frozen,         ///< Some of those who wait, for the rest of the schedule.
    rush,           ///< All clients connect and ask at once.
};

inline constexpr std::size_t disturbance_count = 9;

[[nodiscard]] std::string_view to_string(disturbance value) noexcept;
[[nodiscard]] std::optional<disturbance> to_disturbance(std::string_view name) noexcept;

/// Clients that all want one resource, all the time. See `profile::crowd`.
struct crowd
{
    std::vector<disturbance> by{};
    std::size_t processors = 2;
    processors::costs client{};
    processors::costs server{};
    std::vector<nanoseconds> walls{};  ///< Of the nodes.
    nanoseconds far_way{0};
    nanoseconds hold{0};

    // How many of the clients, in this order. Of the others the same is expected.
    std::size_t distant = 0;
    std::size_t partial = 0;
    std::size_t killed = 0;
    std::size_t frozen = 0;

    std::size_t queues_lost = 0;
    nanoseconds between_arrivals{0};
    static constexpr nanoseconds time_of_faults = std::chrono::milliseconds(30);
    nanoseconds faults_at{0};  ///< All of them, spread over a moment.
    nanoseconds watch_from{0};
    nanoseconds watch_until{0};
};

/// One schedule, as drawn.
struct plan
{
    profile of = profile::respecting;
    redlock::mode mode = redlock::mode::guarded;
    std::size_t nodes = 3;
    std::size_t clients = 2;
    std::size_t actors = 1;  ///< Of each client.
    std::size_t resources = 1;
    std::size_t rounds = 3;   ///< Of each actor.
    std::size_t old = 0;      ///< So many of the clients have older scripts.
    std::size_t polling = 0;  ///< So many of the clients do not wait in queues.
    milliseconds poll{500};   ///< How often those ask who do.
    milliseconds ttl_max{400};
    milliseconds clock_window{100};
    milliseconds node_timeout{20};
    double clock_drift = 0.01;
    milliseconds first_delay{0};  ///< Of a retry.
    std::int64_t rate = 0;        ///< How far clocks may run off, in millionths.
    bool marked = true;           ///< The nodes are marked before, as by an initialization.
    bool durable = false;         ///< The nodes are, and are told so.
    milliseconds overlap{0};      ///< Promised for nodes that fail over. Zero: none does.
    bool bare_quorum = false;     ///< Each client reaches no more nodes than a quorum.
    bool calm = false;            ///< Nothing goes wrong, and no key is left behind.
    bool cancels = false;
    bool right_walls = false;  ///< The wall clocks of clients are.
    bool right_nodes = false;  ///< Those of nodes are: turns go round by them.
    bool lingers = false;      ///< Resources stay taken, by a grace or for a time after a release.
    bool looks = true;         ///< The simulator asks `expired()`, which leaves a mark.
    nanoseconds latest_timer{0};
    std::size_t punctual = 0;  ///< So many of the clients have timers that are in time.
    std::size_t absences = 0;  ///< Of nodes, one after the other.
    network_habits habits{};
    sim::load load{};
    sim::crowd crowd{};
    std::vector<fault> faults{};
    nanoseconds between_faults{0};
    nanoseconds heal_at{0};  ///< From then on nothing goes wrong.

    [[nodiscard]] bool guarded() const noexcept { return mode == redlock::mode::guarded; }
    [[nodiscard]] bool fails_over() const noexcept { return overlap > milliseconds(0); }
    [[nodiscard]] bool has_load() const noexcept
    {
        return of == profile::overloaded || of == profile::lines || of == profile::crowd;
    }

    /// Whether nothing goes wrong that docs/safety.md does not promise to survive.
    [[nodiscard]] bool keeps_promises() const noexcept
    {
        return of == profile::respecting || of == profile::mixed || of == profile::failovers ||
               of == profile::rolling || has_load();
    }

    /// What a hand-over to a client takes in a crowd: crowd_plan.cpp.
    [[nodiscard]] nanoseconds hand_over(nanoseconds way) const noexcept;

    /// The mean of all clients, if each gets the resource equally often.
    [[nodiscard]] nanoseconds fair_hand_over() const noexcept;

    /// How long a node that votes again may lack an extended hold. It takes it again at once, but
    /// rounds of those who wait get in between.
    [[nodiscard]] nanoseconds longest_lack() const noexcept { return 10 * ttl_max; }

    /// The longest time for which a release keeps a resource.
    [[nodiscard]] milliseconds longest_at_least() const noexcept { return 2 * ttl_max; }

    /// What a node is known by, which is another one whenever it may have forgotten something.
    [[nodiscard]] std::string incarnation(const server& node) const
    {
        return fails_over() ? node.run_id() + " " + node.replication_id() : node.run_id();
    }

    /// @param client Counted from 0.
    [[nodiscard]] client_config config(std::size_t client = 0) const;
};

[[nodiscard]] plan draw_plan(profile of, dice& chance);

/// A schedule of `profile::crowd`: crowd_plan.cpp.
[[nodiscard]] plan draw_crowd(std::span<const disturbance> by, dice& chance);
[[nodiscard]] std::vector<disturbance> draw_disturbances(dice& chance);

}  // namespace redlock::sim

#endif
