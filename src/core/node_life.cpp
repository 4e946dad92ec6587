#include "core/node_life.hpp"

#include "core/electorate.hpp"
#include "core/limits.hpp"
#include "core/one_line.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

namespace redlock::core {

namespace {

/// For users to read.
std::string time_of_day(std::chrono::microseconds since_epoch)
{
    const auto since_midnight = since_epoch - std::chrono::floor<std::chrono::days>(since_epoch);
    const std::chrono::hh_mm_ss parts(std::chrono::floor<std::chrono::seconds>(since_midnight));
    std::array<char, 40> text{};
    std::snprintf(
        text.data(),
        text.size(),
        "%02d:%02d:%02d UTC",
        static_cast<int>(parts.hours().count()),
        static_cast<int>(parts.minutes().count()),
        static_cast<int>(parts.seconds().count())
    );
    return text.data();
}

/// Whether a refusal ends with a failover, so that no one has to act.
bool ends_with_failover(reason why, bool may_fail_over) noexcept
{
    return why == reason::too_few_replicas || (may_fail_over && why == reason::replica);
}

}  // namespace

std::optional<milliseconds> node_life::quarantine_left(time_point now) const
{
    if (status_.state != node_state::quarantined || !quarantined_until_)
        return std::nullopt;
    const auto remaining = std::chrono::ceil<milliseconds>(*quarantined_until_ - now);
    return std::max(remaining, milliseconds(0));
}

node_news node_life::await_marker()
{
    quarantined_until_.reset();
    return change(
        node_state::quarantined,
        reason::quarantined,
        "it is new or has lost its data, and doesn't vote until " +
            std::to_string(electorate(node_count_).quorum()) + " of the " +
            std::to_string(node_count_) + " nodes in the list have passed the checks"
    );
}

node_news node_life::quarantine(milliseconds remaining, time_point now)
{
    // A quarantine without an end was set by hand. The node is asked again after a day.
    remaining = std::min(remaining, max_ttl);
    // The node's count may be a millisecond behind ours. If it's more, the node says so.
    remaining += milliseconds(1);
    quarantined_until_ = now + remaining;
    return change(
        node_state::quarantined,
        reason::quarantined,
        "it may have lost locks, so it doesn't vote for " + std::to_string(remaining.count()) +
            (may_fail_over_ ? " ms, as after every failover"
                            : " ms. If the nodes are new, run `redlock init` before the first "
                              "client to skip this wait.")
    );
}

node_news node_life::refuse(std::string words)
{
    status_.refuses = std::move(words);
    if (stopping_)
        return {true};
    const std::string line = "node " + status_.node;
    if (status_.refuses.empty())
        return {true, log_level::info, line + " no longer refuses commands"};
    return {true, log_level::error, line + " refuses commands: " + status_.refuses};
}

node_news node_life::lose(error_code code, const std::string& guess)
{
    return change(node_state::down, reason::down, code.message() + guess, code);
}

node_news node_life::reject(const refusal& why, std::chrono::microseconds wall)
{
    std::string because = why.text;
    // Keep the time that was shown before: a second more or less would look like a change.
    if (why.ends_in && status_.because.starts_with(why.text))
        because = status_.because;
    else if (why.ends_in)
        because += " until " + time_of_day(wall + *why.ends_in);
    const bool is_down = why.why == reason::unmarked;
    return change(is_down ? node_state::down : node_state::rejected, why.why, std::move(because));
}

node_news node_life::change(node_state to, reason why, std::string because, error_code code)
{
    const bool was_connected = connected();
    const node_state before = std::exchange(status_.state, to);
    status_.reason = why;
    status_.code = code;
    if (!connected())
    {
        reconnects_ = was_connected;
        status_.refuses.clear();
    }
    if (to == before && because == status_.because)
        return {};
    status_.because = std::move(because);
    // Network errors alternate. The log gets one line for all the time that a node is down.
    const bool still_down = before == node_state::down && to == before;
    if (stopping_ || still_down)
        return {true};
    return {true, level_of(to, why), describe()};
}

log_level node_life::level_of(node_state state, reason why) const noexcept
{
    if (state == node_state::rejected && !ends_with_failover(why, may_fail_over_))
        return log_level::error;
    return state == node_state::ready ? log_level::info : log_level::warning;
}

std::string node_life::describe() const
{
    std::string line = "node " + status_.node + " is " + to_string(status_.state);
    if (!status_.because.empty())
        line += ": " + status_.because;
    if (status_.state == node_state::ready && !status_.polls.empty())
        line += "; waiters have to poll it: " + on_one_line(status_.polls);
    return line;
}

}  // namespace redlock::core
