#include <redlock/diagnostics.hpp>

#include <cstdio>
#include <ostream>

namespace redlock {

namespace {

/// A duration with a unit that fits: "0.4ms", "8.2s".
std::string readable(std::chrono::microseconds duration)
{
    char text[32];
    const double ms = static_cast<double>(duration.count()) / 1000;
    if (ms < 1000)
        std::snprintf(text, sizeof text, "%.1fms", ms);
    else
        std::snprintf(text, sizeof text, "%.1fs", ms / 1000);
    return text;
}

std::string held(const node_vote& from)
{
    if (!from.held_for)
        return "held";
    if (*from.held_for == forever)
        return "held by a key without a ttl";
    return "held, " + readable(*from.held_for) + " left";
}

/// What one node said, without its name.
std::string describe(const node_vote& from)
{
    if (!from.vote)
        return "not answered yet";
    std::string line;
    switch (from.reason)
    {
    case reason::none: line = to_string(*from.vote); break;
    case reason::held: line = held(from); break;
    case reason::timeout:
    case reason::connecting:
    case reason::overloaded:
    case reason::unexpected_reply:
    case reason::gone: line = to_string(from.reason); break;
    case reason::down:
    case reason::connection_lost:
        line = std::string(to_string(from.reason)) + ": " + from.code.message();
        break;
    case reason::error_reply:
    case reason::rejected: line = "refused: " + from.text; break;
    }
    if (from.round_trip && from.reason != reason::down)
        line += " " + readable(*from.round_trip);
    return line;
}

}  // namespace

const char* to_string(reason value) noexcept
{
    switch (value)
    {
    case reason::none: return "none";
    case reason::held: return "held";
    case reason::gone: return "gone";
    case reason::timeout: return "timeout";
    case reason::connecting: return "still connecting";
    case reason::down: return "down";
    case reason::connection_lost: return "connection lost";
    case reason::overloaded: return "overloaded";
    case reason::error_reply: return "error reply";
    case reason::rejected: return "rejected";
    case reason::unexpected_reply: return "unexpected reply";
    }
    return "unknown";
}

std::string to_string(const diagnostics& report)
{
    if (report.quorum == 0)
        return "no round was started";

    std::string line = "need " + std::to_string(report.quorum) + " of " +
                       std::to_string(report.votes.size()) + ":";
    const char* separator = " ";
    for (const node_vote& each : report.votes)
    {
        line += separator + each.node + " " + describe(each);
        separator = ", ";
    }
    return line;
}

std::ostream& operator<<(std::ostream& out, const diagnostics& report)
{
    return out << to_string(report);
}

}  // namespace redlock
