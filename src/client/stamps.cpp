#include "client/stamps.hpp"

#include "core/limits.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace redlock::detail {

namespace {

/// Whether so many nodes refuse the client's time that no quorum can grant.
bool is_refused(const round& lost) noexcept
{
    return lost.count_of(reason::clock) > lost.voters().spare();
}

/// What time it is, by the nodes that said so.
std::vector<std::chrono::microseconds> times_of(const round& lost)
{
    std::vector<std::chrono::microseconds> told;
    lost.for_each_answer([&](const reply& answer) {
        if (answer.node_time)
            told.push_back(*answer.node_time);
    });
    return told;
}

}  // namespace

fencing_token stamps::next_token(fencing_token above) noexcept
{
    if (config_.mode == mode::plain)
        return {};
    return fencing_token::from_value(clock_.next(loop_.time->wall() + ahead(), above.value()));
}

milliseconds stamps::own_reservation() const noexcept
{
    return reservation_at(nodes_.distance());
}

milliseconds stamps::reservation_at(core::nanoseconds distance) const noexcept
{
    // Half of it is for the way there and back, the rest for what happens at either end.
    const auto wanted = std::chrono::ceil<milliseconds>(2 * distance);
    const bool is_near = wanted <= core::reservation_for(config_.node_timeout);
    return is_near ? milliseconds(0) : std::min(wanted, core::longest_reservation);
}

/// How far ahead of the time a token of a distant client is drawn, zero for near ones. Tokens of
/// nearer clients would overtake one that is drawn for now, and a fence would refuse it when its
/// turn comes. Ahead by a round trip it hardly refuses anyone: the client holds the resource for
/// that long.
std::chrono::microseconds stamps::ahead() const noexcept
{
    const core::nanoseconds distance = nodes_.distance();
    if (reservation_at(distance) == milliseconds(0))
        return std::chrono::microseconds(0);
    const core::nanoseconds most = std::min(config_.node_timeout, config_.clock_window) / 2;
    return std::chrono::duration_cast<std::chrono::microseconds>(std::min(distance, most));
}

bool stamps::lacks_times(const round& lost) const noexcept
{
    const std::size_t enough = lost.voters().quorum();
    if (is_refused(lost))
        return false;
    const std::size_t told = times_of(lost).size();
    return lost.count_of(reason::clock) > 0 && told < enough &&
           told + lost.owing().count() >= enough;
}

bool stamps::correct(const round& lost, fencing_token& above)
{
    if (!lost.guarded())
        return false;

    learn_time(lost);
    // A fence beyond the window is useless, because the other nodes would refuse a token above it.
    const auto latest = clock_.stamp(loop_.time->wall() + config_.clock_window);
    lost.for_each_answer([&](const reply& answer) {
        if (answer.fence.value() < latest)
            above = std::max(above, answer.fence);
    });
    const std::size_t open = lost.tally().granted() + lost.tally().missing();
    const std::size_t mended = lost.count_of(reason::fence) + lost.count_of(reason::clock);
    return mended > 0 && open + mended >= lost.voters().quorum();
}

// Fewer may all be wrong. A client that followed them would be granted there and leave fences that
// are far ahead, on one such node after another.
void stamps::learn_time(const round& lost)
{
    auto node_times = times_of(lost);
    const bool refused = is_refused(lost);
    const bool enough = refused || node_times.size() >= lost.voters().quorum();
    const auto elapsed = loop_.now().steady - lost.started().steady;
    // It's unknown when a late answer was given.
    if (!enough || elapsed > config_.node_timeout)
        return;
    using std::chrono::duration_cast, std::chrono::microseconds;
    const auto wall = loop_.time->wall() - duration_cast<microseconds>(elapsed / 2);
    // The way there and back takes as long, but nobody knows where the rest of the time went.
    const core::nanoseconds rest = elapsed - std::min(elapsed, nodes_.distance());
    const auto slack = duration_cast<microseconds>(rest / 2);
    const std::size_t missing = lost.voters().size() - node_times.size();
    const auto moved = refused ? clock_.learn(std::move(node_times), wall, slack)
                               : clock_.approach(std::move(node_times), missing, wall, slack);
    era_ += moved > config_.clock_window;
}

}  // namespace redlock::detail
