#include <redlock/config.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/fencing.hpp>
#include <redlock/holding.hpp>
#include <redlock/node_status.hpp>
#include <redlock/options.hpp>
#include <redlock/release_outcome.hpp>
#include <redlock/vote.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>

/// How values print.
namespace redlock {

namespace {

/// @param names In the order of the enumeration.
template <class Enum, std::size_t N>
const char* name_of(Enum value, const std::array<const char*, N>& names) noexcept
{
    const auto at = static_cast<std::size_t>(value);
    return at < N ? names[at] : "unknown";
}

constexpr std::array votes{"granted", "denied", "refused", "unknown"};

constexpr std::array node_states{"connecting", "ready", "down", "rejected", "quarantined"};

constexpr std::array holding_states{"undecided", "free", "held", "kept"};

constexpr std::array release_outcomes{
    "released",
    "already gone",
    "unconfirmed",
    "still held",
    "barely kept",
};

constexpr std::array log_levels{"info", "warning", "error"};

constexpr std::array modes{"guarded", "plain"};

static_assert(votes.size() == static_cast<std::size_t>(vote::unknown) + 1);
static_assert(node_states.size() == static_cast<std::size_t>(node_state::quarantined) + 1);
static_assert(holding_states.size() == static_cast<std::size_t>(holding_state::kept) + 1);
static_assert(
    release_outcomes.size() == static_cast<std::size_t>(release_outcome::barely_kept) + 1
);
static_assert(log_levels.size() == static_cast<std::size_t>(log_level::error) + 1);
static_assert(modes.size() == static_cast<std::size_t>(mode::plain) + 1);

}  // namespace

const char* to_string(vote value) noexcept
{
    return name_of(value, votes);
}

const char* to_string(node_state value) noexcept
{
    return name_of(value, node_states);
}

const char* to_string(holding_state value) noexcept
{
    return name_of(value, holding_states);
}

const char* to_string(release_outcome value) noexcept
{
    return name_of(value, release_outcomes);
}

const char* to_string(log_level value) noexcept
{
    return name_of(value, log_levels);
}

const char* to_string(mode value) noexcept
{
    return name_of(value, modes);
}

std::string to_string(owner value)
{
    return value == owner::none ? "none" : std::to_string(static_cast<std::uint64_t>(value));
}

std::ostream& operator<<(std::ostream& out, owner value)
{
    return out << to_string(value);
}

std::string to_string(fencing_token token)
{
    return token ? std::to_string(token.value()) : "none";
}

std::ostream& operator<<(std::ostream& out, fencing_token token)
{
    return out << to_string(token);
}

}  // namespace redlock
