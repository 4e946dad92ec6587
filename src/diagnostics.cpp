#include <redlock/diagnostics.hpp>

#include "core/one_line.hpp"

#include <algorithm>
#include <cmath>
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

/// As in "3rd".
std::string ordinal(std::size_t number)
{
    const bool teen = number / 10 % 10 == 1;
    switch (teen ? 0 : number % 10)
    {
    case 1: return std::to_string(number) + "st";
    case 2: return std::to_string(number) + "nd";
    case 3: return std::to_string(number) + "rd";
    default: return std::to_string(number) + "th";
    }
}

/// "held 8.2s left (3rd in the queue)".
std::string held(const node_vote& from)
{
    std::string line = "held";
    if (from.held_for == forever)
        line += " by a key without a ttl";
    else if (from.held_for)
        line += " " + readable(static_cast<double>(from.held_for->count())) + " left";
    if (from.position)
        line += " (" + ordinal(*from.position) + " in the queue)";
    return line;
}

std::string quarantined(const node_vote& from)
{
    if (!from.ready_in)
        return "quarantined";
    if (*from.ready_in == forever)
        return "quarantined without an end";
    return "quarantined, ready in " + readable(static_cast<double>(from.ready_in->count()));
}

/// "clock 3600.0s ahead".
std::string clock_off(const node_vote& from)
{
    if (!from.clock_ahead)
        return "clock";
    const double ms = static_cast<double>(from.clock_ahead->count()) / 1000;
    return "clock " + readable(std::abs(ms)) + (ms < 0 ? " behind" : " ahead");
}

/// "granted 0.4ms", "timeout 50.0ms".
std::string timed(const char* what, const node_vote& from)
{
    std::string line = what;
    if (from.round_trip)
        line += " " + readable(static_cast<double>(from.round_trip->count()) / 1000);
    return line;
}

/// Without a code if the client closed the connection because of another answer.
std::string connection_lost(const node_vote& from)
{
    return from.code ? "connection lost: " + from.code.message() : "connection lost";
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
    case reason::fence:
    case reason::unmarked:
    case reason::revoked:
    case reason::gone: break;
    case reason::quarantined: return quarantined(from);
    case reason::clock: return clock_off(from);
    case reason::down:
        return "down: " + (from.text.empty() ? from.code.message() : core::on_one_line(from.text));
    case reason::connection_lost: return timed(connection_lost(from).c_str(), from);
    case reason::error_reply:
    case reason::config_mismatch:
    case reason::same_server:
    case reason::other_server:
    case reason::replica:
    case reason::cluster:
    case reason::eviction:
    case reason::too_few_replicas:
    case reason::rejected: return "refused: " + core::on_one_line(from.text);
    case reason::in_use: return core::on_one_line(from.text);
    }
    return to_string(from.reason);
}

std::string why_no_round(const diagnostics& report)
{
    if (!report.problem.empty())
        return ": " + report.problem;
    if (report.position == 0)
        return "";
    return ": waiting, " + ordinal(report.position) + " of " + std::to_string(report.waiters);
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
    case reason::fence: return "higher fence";
    case reason::clock: return "clock";
    case reason::unmarked: return "lost its data";
    case reason::quarantined: return "quarantined";
    case reason::config_mismatch: return "config mismatch";
    case reason::same_server: return "same server";
    case reason::other_server: return "other server";
    case reason::replica: return "replica";
    case reason::cluster: return "cluster";
    case reason::eviction: return "eviction";
    case reason::in_use: return "in use";
    case reason::revoked: return "revoked";
    case reason::too_few_replicas: return "too few replicas";
    }
    return "unknown";
}

std::string to_string(const diagnostics& report)
{
    const char* const end = report.held_by_this_client ? ", held by this client" : "";
    if (report.quorum == 0)
        return "no round was started" + why_no_round(report) + end;

    std::string line = "need " + std::to_string(report.quorum) + " of " +
                       std::to_string(report.votes.size()) + ":";
    const char* separator = " ";
    for (const node_vote& each : report.votes)
    {
        line += separator + each.node + " " + describe(each);
        separator = ", ";
    }
    line += end;
    return report.problem.empty() ? line : line + "; " + report.problem;
}

std::ostream& operator<<(std::ostream& out, const diagnostics& report)
{
    return out << to_string(report);
}

}  // namespace redlock
