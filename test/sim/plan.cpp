#include "sim/plan.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace redlock::sim {

namespace {

using namespace std::chrono_literals;

constexpr std::array profile_names{
    "respecting",
    "majority_step",
    "no_quarantine",
    "plain_amnesia",
    "deleted_keys",
    "fast_nodes",
    "different_lists",
    "unfenced_reads",
    "late_actors",
    "overloaded",
    "mixed",
    "lines",
    "failovers",
    "long_overlap",
    "same_replication_id",
    "rolling",
    "crowd",
};
static_assert(profile_names.size() == all_profiles.size());

constexpr std::array fault_names{
    "block to server",
    "block to client",
    "freeze",
    "reset",
    "crash",
    "copy of another node",
    "flush",
    "flush scripts",
    "error replies",
    "clock back",
    "clock far forward",
    "wall of client",
    "stall",
    "suspend",
    "client crash",
    "client destroyed",
    "client closed",
    "rubbish in a queue",
    "failover",
    "failover there and back",
    "majority forward",
    "delete keys",
    "freeze of a quorum",
};
static_assert(fault_names.size() == fault_count);

template <class T, std::size_t N>
T one_of(dice& chance, const std::array<T, N>& from)
{
    return from[chance.below(N)];
}

void draw_settings(plan& made, dice& chance)
{
    constexpr std::array<std::size_t, 12> nodes{3, 3, 3, 3, 3, 3, 5, 5, 5, 4, 1, 2};
    // Few values, for each makes scripts of its own, which are compiled once.
    constexpr std::array ttls{100ms, 250ms, 600ms};
    constexpr std::array windows{30ms, 150ms, 500ms};
    constexpr std::array timeouts{5ms, 20ms, 50ms};
    constexpr std::array drifts{0.01, 0.01, 0.05};

    made.mode = chance.chance(0.65) ? redlock::mode::guarded : redlock::mode::plain;
    made.nodes = one_of(chance, nodes);
    made.clients = 2 + chance.below(2);
    made.actors = 1 + (chance.below(4) == 0);
    made.resources = 1 + (chance.below(4) == 0);
    made.rounds = 2 + chance.below(3);
    made.ttl_max = one_of(chance, ttls);
    made.clock_window = one_of(chance, windows);
    made.node_timeout = one_of(chance, timeouts);
    made.clock_drift = one_of(chance, drifts);
    // A drift of 2r / (1 + r) covers a rate error of r. Guarded nodes must stay together.
    if (made.guarded())
        made.rate = chance.below(2) ? 2000 : 0;
    else if (chance.below(2))
        made.rate = static_cast<std::int64_t>(made.clock_drift / (2 - made.clock_drift) * 1e6);
    // By default a client asks again very soon, which makes for long schedules.
    if (chance.below(8) != 0)
        made.first_delay = made.ttl_max / 4;
    made.marked = chance.below(8) != 0;
    made.durable = made.guarded() && chance.below(8) == 0;
    made.calm = chance.below(12) == 0;
    made.bare_quorum = !made.calm && chance.below(6) == 0;
    made.cancels = !made.calm && chance.below(3) == 0;
    made.looks = chance.below(2) == 0;
    made.heal_at = made.ttl_max * static_cast<int>(4 + chance.below(8));
    made.lingers = made.guarded() && !made.calm && chance.below(3) == 0;
    made.polling = chance.below(3) == 0 ? 1 + chance.below(made.clients) : 0;
    made.poll = one_of(chance, std::array{10ms, 100ms, 500ms});
}

void draw_network(plan& made, dice& chance)
{
    network_habits& habits = made.habits;
    habits.usual = one_of(chance, std::array<nanoseconds, 3>{100us, 1ms, 4ms});
    habits.longest = 2 * habits.usual;
    if (made.calm)
        return;
    if (chance.below(3) == 0)
        habits.longest = 5 * made.ttl_max;
    if (chance.below(4) == 0)
        habits.loses = 0.003;
    if (chance.below(4) == 0)
        habits.resets = 0.02;
    if (chance.below(4) == 0)
        habits.replays = 0.05;
    if (chance.below(3) == 0)
        habits.splits = 0.3;
    if (chance.below(5) == 0)
        made.latest_timer = made.ttl_max / 2;
}

/// The faults that a mode promises to survive.
std::vector<fault> survivable(const plan& of)
{
    std::vector<fault> list{
        fault::block_to_server,
        fault::block_to_client,
        fault::freeze,
        fault::reset,
        fault::crash,
        fault::flush_scripts,
        fault::error_replies,
        fault::clock_back,
        fault::wall_of_client,
        fault::stall,
        fault::suspend,
        fault::client_crash,
        fault::client_destroyed,
        fault::client_closed,
    };
    if (of.guarded())
        list.insert(
            list.end(), {fault::copy, fault::flush, fault::clock_far_forward, fault::spoil_queue}
        );
    return list;
}

void draw_faults(plan& made, dice& chance)
{
    if (made.calm)
        return;
    for (const fault each : survivable(made))
    {
        if (chance.below(5) == 0)
            made.faults.push_back(each);
    }
    made.between_faults = made.ttl_max / static_cast<int>(1 + chance.below(6));
}

/// What a profile other than `respecting` insists on.
void break_assumption(plan& made)
{
    const auto allow_only = [&made](std::initializer_list<fault> faults) {
        made.faults = faults;
        made.between_faults = made.ttl_max / 2;
    };
    switch (made.of)
    {
    case profile::respecting: break;
    case profile::majority_step: allow_only({fault::majority_forward, fault::reset}); break;
    case profile::no_quarantine:
        made.mode = redlock::mode::guarded;
        made.durable = false;
        made.marked = true;
        made.polling = made.clients;  // A client that polls is there when a node has forgotten.
        allow_only({fault::crash});
        break;
    case profile::plain_amnesia:
        made.mode = redlock::mode::plain;
        allow_only({fault::crash});
        break;
    case profile::deleted_keys: allow_only({fault::delete_keys}); break;
    case profile::fast_nodes: made.bare_quorum = true; break;
    case profile::different_lists:
        made.mode = redlock::mode::plain;
        made.nodes = 3;
        break;
    case profile::unfenced_reads:
        made.mode = redlock::mode::guarded;
        allow_only({fault::stall});
        break;
    case profile::late_actors: allow_only({fault::stall}); break;
    case profile::overloaded:
    case profile::mixed:
    case profile::lines:
    case profile::failovers:
    case profile::rolling:
    case profile::crowd: break;
    case profile::long_overlap: allow_only({fault::failover}); break;
    case profile::same_replication_id: allow_only({fault::there_and_back}); break;
    }
}

/// Some of the clients are old ones. What they did not survive does not happen.
void mix_versions(plan& made, dice& chance)
{
    made.mode = redlock::mode::guarded;
    made.lingers = false;
    made.old = 1 + chance.below(made.clients);
    std::erase(made.faults, fault::copy);
}

/// Nodes with a replica each. What they did before is over.
void add_replicas(plan& made, dice& chance)
{
    made.mode = redlock::mode::guarded;
    made.nodes = one_of(chance, std::array<std::size_t, 4>{1, 1, 2, 3});
    // In a longer one leases outlive what the clocks ask for.
    if (made.of != profile::failovers || chance.below(2))
        made.ttl_max = 2500ms;
    made.clock_window = one_of(chance, std::array{30ms, 150ms});
    made.overlap = one_of(chance, std::array{50ms, 300ms, 2000ms});
    made.marked = made.marked || made.of != profile::failovers;
    made.durable = made.bare_quorum = made.calm = false;
    made.heal_at = made.overlap + made.ttl_max * static_cast<int>(3 + chance.below(6));
    made.between_faults = made.ttl_max / static_cast<int>(1 + chance.below(3));
    if (made.of != profile::failovers)
        return;
    std::erase(made.faults, fault::copy);
    std::erase(made.faults, fault::clock_far_forward);
    made.faults.push_back(fault::failover);
    if (chance.below(2))
        made.faults.push_back(fault::there_and_back);
}

/// Nodes that have to work for what they answer, and nothing that goes wrong by itself.
void calm_down(plan& made, dice& chance)
{
    made.clients = 1 + chance.below(3);
    made.rate = 0;
    made.marked = true;
    made.durable = made.bare_quorum = made.calm = made.cancels = made.lingers = false;
    // A client learns the time from answers that are not late, which there are none of.
    made.right_walls = true;
    made.polling = 0;
    made.poll = 500ms;
    made.first_delay = 0ms;
    made.latest_timer = nanoseconds(0);
    made.habits = {};
    made.habits.usual = one_of(chance, std::array<nanoseconds, 4>{50us, 100us, 1ms, 5ms});
    made.habits.longest = 2 * made.habits.usual;
    made.habits.service = one_of(chance, std::array<nanoseconds, 4>{5us, 10us, 30us, 100us});
    made.faults.clear();
}

/// Hundreds of free resources, asked for at once, and mostly a quorum that stands still meanwhile.
void overload(plan& made, dice& chance)
{
    calm_down(made, chance);
    load& more = made.load;
    made.nodes = one_of(chance, std::array<std::size_t, 3>{3, 3, 5});
    made.ttl_max = one_of(chance, std::array{5000ms, 10'000ms});
    made.clock_window = one_of(chance, std::array{200ms, 500ms});
    // A slow node with few questions is as busy as a fast one with many, and costs less time here.
    made.habits.service = one_of(chance, std::array<nanoseconds, 5>{10us, 30us, 100us, 300us, 1ms});
    made.node_timeout = one_of(chance, std::array{20ms, 50ms, 100ms});
    more.burst = one_of(chance, std::array<std::size_t, 6>{50, 200, 300, 300, 500, 1500});
    more.burst /= made.clients;
    more.hold = chance.below(2) ? 0ms : 20ms;
    more.burst_at = chance.below(2) ? 0ms : 50ms;
    more.stall_at = chance.between(nanoseconds(0), nanoseconds(120ms));
    if (chance.below(8) != 0)
        more.stall = chance.between(nanoseconds(100ms), nanoseconds(3s));
    made.heal_at = more.stall_at + more.stall;
}

/// Lines of any length for one resource.
void form_lines(plan& made, dice& chance)
{
    calm_down(made, chance);
    load& more = made.load;
    made.mode = redlock::mode::guarded;
    made.nodes = 3;
    made.resources = 1;
    made.clients = 2 + chance.below(2);
    made.ttl_max = 5000ms;
    made.clock_window = 500ms;
    made.node_timeout = one_of(chance, std::array{20ms, 50ms});
    made.right_nodes = true;
    // A client further away than a reservation lasts has another share.
    made.habits.usual = one_of(chance, std::array<nanoseconds, 3>{50us, 100us, 500us});
    made.habits.longest = 2 * made.habits.usual;
    for (std::size_t i = 0; i < made.clients; ++i)
        more.lines.push_back(one_of(chance, std::array<std::size_t, 5>{1, 3, 10, 40, 150}));
    more.hold = one_of(chance, std::array<nanoseconds, 3>{0ms, 1ms, 4ms});
    // For some hundred turns.
    const nanoseconds turn = more.hold + 4 * made.habits.usual + 8 * made.habits.service;
    more.lasts = std::max<nanoseconds>(500ms, 400 * turn);
    made.heal_at = more.lasts;
}

/// Nodes that restart or stand still, one after the other. Nothing else goes wrong, for a hold is
/// lost only if two things do.
void roll(plan& made, dice& chance)
{
    made.mode = chance.below(5) != 0 ? redlock::mode::guarded : redlock::mode::plain;
    made.nodes = one_of(chance, std::array<std::size_t, 4>{3, 3, 3, 5});
    made.actors = 1 + chance.below(2);
    made.ttl_max = one_of(chance, std::array{400ms, 1000ms});
    made.clock_window = one_of(chance, std::array{150ms, 500ms});
    made.node_timeout = one_of(chance, std::array{20ms, 50ms});
    // For up to half a minute, in which nodes must not leave each other's window.
    made.rate = chance.below(2) ? 500 : 0;
    made.first_delay = made.ttl_max / static_cast<int>(2 + chance.below(6));
    made.poll = one_of(chance, std::array{50ms, 200ms, 500ms});
    made.durable = made.guarded() && chance.below(6) == 0;
    made.bare_quorum = made.calm = made.cancels = made.lingers = false;
    const double splits = made.habits.splits;
    const double replays = made.habits.replays;
    made.habits = {};
    made.habits.usual = one_of(chance, std::array<nanoseconds, 3>{100us, 1ms, 4ms});
    made.habits.longest = 2 * made.habits.usual;
    made.habits.splits = splits;
    made.habits.replays = replays;
    // An extension may meet two of them, and has a third of half of that.
    made.latest_timer = made.ttl_max / 20;
    // A wrong clock is corrected until a quorum takes its stamps, and one node may refuse them on.
    made.right_walls = true;
    made.punctual = chance.below(made.clients + 1);
    made.absences = made.nodes + chance.below(3);
    made.faults = {fault::freeze, fault::crash, fault::block_to_server, fault::block_to_client};
    if (made.guarded() && !made.durable)
        made.faults.insert(made.faults.end(), {fault::crash, fault::flush});
    made.heal_at = 120s;  // Long before that it is over.
}

}  // namespace

std::string_view to_string(profile value) noexcept
{
    return profile_names[static_cast<std::size_t>(value)];
}

std::optional<profile> to_profile(std::string_view name) noexcept
{
    const auto found = std::ranges::find(profile_names, name);
    if (found == profile_names.end())
        return std::nullopt;
    return all_profiles[static_cast<std::size_t>(found - profile_names.begin())];
}

std::string_view to_string(fault value) noexcept
{
    return fault_names[static_cast<std::size_t>(value)];
}

client_config plan::config(std::size_t client) const
{
    client_config made;
    made.log = nullptr;
    for (std::size_t i = 0; i < nodes; ++i)
    {
        node_config& node = made.nodes.emplace_back();
        node.host = "n" + std::to_string(i + 1);
        node.durable = durable;
        if (fails_over())
            node.overlap = overlap;
    }
    made.mode = mode;
    made.ttl_max = ttl_max;
    made.clock_window = clock_window;
    made.node_timeout = node_timeout;
    made.clock_drift = clock_drift;
    made.retry.first_delay = first_delay;
    made.waiting.queue = client >= polling;
    made.waiting.poll = poll;
    return made;
}

plan draw_plan(profile of, dice& chance)
{
    if (of == profile::crowd)
        return draw_crowd(draw_disturbances(chance), chance);
    plan made;
    made.of = of;
    draw_settings(made, chance);
    draw_network(made, chance);
    draw_faults(made, chance);
    break_assumption(made);
    made.lingers = made.lingers && made.guarded();
    if (of == profile::mixed)
        mix_versions(made, chance);
    if (of == profile::failovers || of == profile::long_overlap ||
        of == profile::same_replication_id)
        add_replicas(made, chance);
    if (of == profile::overloaded)
        overload(made, chance);
    if (of == profile::lines)
        form_lines(made, chance);
    if (of == profile::rolling)
        roll(made, chance);
    return made;
}

}  // namespace redlock::sim
