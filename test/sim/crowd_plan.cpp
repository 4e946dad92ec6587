// The schedules of a crowd: few costly clients rather than many cheap ones, and short windows, so
// that a second of a crowd of hundreds is a moment here.

#include <algorithm>
#include <utility>

#include "sim/plan.hpp"

namespace redlock::sim {

namespace {

using namespace std::chrono_literals;

constexpr std::array disturbance_names{
    "long_waits",
    "clocks_apart",
    "far_clients",
    "eager_polls",
    "partial_reach",
    "lost_queues",
    "killed",
    "frozen",
    "rush",
};
static_assert(disturbance_names.size() == disturbance_count);

template <class T, std::size_t N>
T one_of(dice& chance, const std::array<T, N>& from)
{
    return from[chance.below(N)];
}

bool has(const plan& of, disturbance what)
{
    return std::ranges::find(of.crowd.by, what) != of.crowd.by.end();
}

void draw_clients(plan& made, dice& chance)
{
    crowd& more = made.crowd;
    made.nodes = one_of(chance, std::array<std::size_t, 5>{3, 3, 3, 4, 5});
    made.clients = one_of(chance, std::array<std::size_t, 3>{8, 16, 24});
    if (has(made, disturbance::clocks_apart))
        made.clients = one_of(chance, std::array<std::size_t, 3>{4, 8, 16});
    if (has(made, disturbance::rush))
        made.clients = one_of(chance, std::array<std::size_t, 3>{24, 48, 64});
    if (has(made, disturbance::eager_polls))
        made.clients = one_of(chance, std::array<std::size_t, 2>{48, 64});
    if (has(made, disturbance::long_waits))
    {
        // The fewer nodes, the more rarely they disagree.
        made.nodes = one_of(chance, std::array<std::size_t, 5>{3, 4, 4, 5, 5});
        made.clients = one_of(chance, std::array<std::size_t, 3>{32, 32, 48});
    }
    if (has(made, disturbance::far_clients))
        made.clients = one_of(chance, std::array<std::size_t, 3>{8, 24, 32});
    more.processors = one_of(chance, std::array<std::size_t, 3>{2, 2, 4});
    more.client = {75us, 30us};
    more.server = {30us, 75us};
    more.hold = one_of(chance, std::array<nanoseconds, 3>{0us, 0us, 200us});
    made.habits.usual = 50us;
    made.habits.longest = 100us;
}

void draw_times(plan& made, dice& chance)
{
    made.ttl_max = 5000ms;
    made.clock_window = 500ms;
    made.node_timeout = one_of(chance, std::array{20ms, 50ms, 200ms});
    made.poll = 500ms;
    if (has(made, disturbance::long_waits))
        made.clock_window = one_of(chance, std::array{5ms, 10ms, 20ms});
    if (has(made, disturbance::lost_queues))
        made.poll = 100ms;
    if (has(made, disturbance::eager_polls))
        made.poll = one_of(chance, std::array{10ms, 20ms});
}

/// From the first to the last, evenly, or one of them behind.
void set_clocks_apart(plan& made, dice& chance)
{
    // Clients that see other nodes see another median, and lose rounds to the fences of each other.
    const bool far_apart = chance.below(4) == 0 && !has(made, disturbance::partial_reach);
    const nanoseconds apart = std::min<nanoseconds>(
        far_apart ? 100ms : one_of(chance, std::array{1ms, 3ms, 10ms}), made.clock_window / 2
    );
    const bool one_behind = chance.below(2) == 0;
    const auto gaps = static_cast<nanoseconds::rep>(made.nodes - 1);
    for (std::size_t i = 0; i < made.nodes; ++i)
    {
        const auto at = static_cast<nanoseconds::rep>(i);
        made.crowd.walls[i] = one_behind ? (i == 0 ? -apart : 0ns) : apart * at / gaps;
    }
}

void disturb(plan& made, disturbance by, dice& chance)
{
    crowd& more = made.crowd;
    const std::size_t some = std::max<std::size_t>(made.clients / 8, 1);
    switch (by)
    {
    case disturbance::long_waits:
        // A crowd that begins well stays well. So all begin at once, and nodes may stop later.
        made.load.stall = one_of(chance, std::array<nanoseconds, 3>{0ms, 60ms, 120ms});
        break;
    case disturbance::eager_polls: break;  // See `draw_clients` and `draw_times`.
    case disturbance::clocks_apart: set_clocks_apart(made, chance); break;
    case disturbance::far_clients:
        more.distant = some;
        more.far_way = one_of(chance, std::array{10ms, 40ms});
        made.node_timeout = more.far_way == 10ms ? 50ms : 200ms;
        // A token that is on its way for longer than the window is refused.
        made.clock_window =
            std::max(made.clock_window, std::chrono::ceil<milliseconds>(10 * more.far_way));
        break;
    case disturbance::partial_reach: more.partial = 2 * some; break;
    case disturbance::lost_queues: more.queues_lost = 1 + chance.below(made.nodes); break;
    case disturbance::killed: more.killed = some; break;
    case disturbance::frozen: more.frozen = std::min<std::size_t>(some, 4); break;
    case disturbance::rush: break;
    }
}

/// Long enough for some turns of everybody, and to see that somebody has none.
void set_end(plan& made)
{
    crowd& more = made.crowd;
    const auto clients = static_cast<int>(made.clients);
    const auto nodes = static_cast<int>(made.nodes);
    if (!has(made, disturbance::rush) && !has(made, disturbance::long_waits))
        more.between_arrivals = 700us * nodes;
    const nanoseconds round = clients * made.fair_hand_over();
    more.faults_at = clients * more.between_arrivals + round;
    // Reservations for those that are frozen, and polls of those whose place was lost. Clients that
    // see only a part of the nodes wake a frozen one on those first, and on the others later.
    nanoseconds recovery = static_cast<int>(more.frozen) * (more.partial > 0 ? 120ms : 60ms);
    // The one that had just been woken when it was killed.
    if (more.killed > 0)
        recovery += 60ms;
    if (more.queues_lost > 0)
        recovery += 2 * nanoseconds(made.poll);
    if (made.load.stall > 0ns)
        recovery += made.load.stall + 2 * nanoseconds(made.node_timeout);
    made.load.stall_at = more.faults_at;
    more.watch_from = more.faults_at + more.time_of_faults + recovery + 2 * round;
    more.watch_until = more.watch_from + std::max<nanoseconds>(8 * round, 100ms);
    if (more.distant > 0)
        more.watch_until = std::max(
            more.watch_until, more.watch_from + 25 * clients * made.hand_over(made.habits.usual)
        );
    made.heal_at = more.watch_until;
}

}  // namespace

std::string_view to_string(disturbance value) noexcept
{
    return disturbance_names[static_cast<std::size_t>(value)];
}

std::optional<disturbance> to_disturbance(std::string_view name) noexcept
{
    const auto found = std::ranges::find(disturbance_names, name);
    if (found == disturbance_names.end())
        return std::nullopt;
    return static_cast<disturbance>(found - disturbance_names.begin());
}

/// A release, a wake-up, a question and its answer, each to or from all nodes. What is longer
/// counts: the way of one after the other, or the work of all by as many as there are processors.
nanoseconds plan::hand_over(nanoseconds way) const noexcept
{
    const auto count = static_cast<int>(nodes);
    const nanoseconds of_server = crowd.server.base + crowd.server.each;
    const nanoseconds of_client = crowd.client.base + count * crowd.client.each;
    const nanoseconds path = 4 * way + 2 * of_server + 2 * of_client;
    // The one behind is told as well, and what arrives is rarely taken together.
    const nanoseconds work =
        2 * count * of_server + 5 * count * (crowd.client.base + crowd.client.each);
    return std::max(path, work / static_cast<int>(crowd.processors)) + crowd.hold / 2;
}

nanoseconds plan::fair_hand_over() const noexcept
{
    const auto all = static_cast<int>(clients);
    const auto distant = static_cast<int>(crowd.distant);
    return ((all - distant) * hand_over(habits.usual) + distant * hand_over(crowd.far_way)) / all;
}

/// One to three of them.
std::vector<disturbance> draw_disturbances(dice& chance)
{
    std::vector<disturbance> drawn;
    const std::size_t count = 1 + chance.below(3);
    while (drawn.size() < count)
    {
        const auto next = static_cast<disturbance>(chance.below(disturbance_count));
        if (std::ranges::find(drawn, next) == drawn.end())
            drawn.push_back(next);
    }
    std::ranges::sort(drawn);
    return drawn;
}

plan draw_crowd(std::span<const disturbance> by, dice& chance)
{
    plan made;
    made.of = profile::crowd;
    made.crowd.by.assign(by.begin(), by.end());
    made.right_walls = true;
    draw_clients(made, chance);
    draw_times(made, chance);
    made.crowd.walls.resize(made.nodes);
    for (const disturbance each : by)
        disturb(made, each, chance);
    set_end(made);
    return made;
}

}  // namespace redlock::sim
