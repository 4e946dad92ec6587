#include <redlock/config.hpp>
#include <redlock/node_status.hpp>
#include <redlock/options.hpp>
#include <redlock/release_outcome.hpp>

#include <ostream>

namespace redlock {

const char* to_string(log_level value) noexcept
{
    switch (value)
    {
    case log_level::info: return "info";
    case log_level::warning: return "warning";
    case log_level::error: return "error";
    }
    return "unknown";
}

const char* to_string(mode value) noexcept
{
    switch (value)
    {
    case mode::guarded: return "guarded";
    case mode::plain: return "plain";
    }
    return "unknown";
}

const char* to_string(node_state value) noexcept
{
    switch (value)
    {
    case node_state::connecting: return "connecting";
    case node_state::ready: return "ready";
    case node_state::down: return "down";
    case node_state::rejected: return "rejected";
    case node_state::quarantined: return "quarantined";
    }
    return "unknown";
}

const char* to_string(release_outcome value) noexcept
{
    switch (value)
    {
    case release_outcome::released: return "released";
    case release_outcome::already_gone: return "already gone";
    case release_outcome::unconfirmed: return "unconfirmed";
    case release_outcome::still_held: return "still held";
    }
    return "unknown";
}

std::string to_string(owner value)
{
    return value == owner::none ? "none" : std::to_string(static_cast<std::uint64_t>(value));
}

std::ostream& operator<<(std::ostream& out, owner value)
{
    return out << to_string(value);
}

}  // namespace redlock
