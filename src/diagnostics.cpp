#include <redlock/diagnostics.hpp>

#include <algorithm>
#include <cstdio>
#include <ostream>

namespace redlock {

namespace {

/// A duration with a unit that fits: "0.4ms", "8.2s".
std::string readable(double ms)
{
    char text[32];
    if (ms < 999.95)
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
    return "held " + readable(static_cast<double>(from.held_for->count())) + " left";
}

/// A server's words on one line.
std::string on_one_line(std::string text)
{
    std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20; }, ' ');
    return text;
}

/// "granted 0.4ms", "timeout 50.0ms".
std::string timed(const char* what, const node_vote& from)
{
    std::string line = what;
    if (from.round_trip)
        line += " " + readable(static_cast<double>(from.round_trip->count()) / 1000);
    return line;
}

/// What one node said, without its name.
std::string describe(const node_vote& from)
{
    if (!from.vote)
        return "not answered yet";
    switch (from.reason)
    {
    case reason::none: return timed(to_string(*from.vote), from);
    case reason::held: return held(from);
    case reason::timeout: return timed("timeout", from);
    case reason::connecting:
    case reason::overloaded:
    case reason::unexpected_reply:
    case reason::gone: break;
    case reason::down: return "down: " + from.code.message();
    case reason::connection_lost:
        return timed(("connection lost: " + from.code.message()).c_str(), from);
    case reason::error_reply:
    case reason::rejected: return "refused: " + on_one_line(from.text);
    }
    return to_string(from.reason);
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
