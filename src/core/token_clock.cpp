#include "core/token_clock.hpp"

#include <boost/assert.hpp>

#include <algorithm>
#include <utility>

namespace redlock::core {

namespace {

/// Highest token.
constexpr std::uint64_t max_token = token_end - 1;

std::uint64_t to_token(microseconds time) noexcept
{
    const auto count = std::max<microseconds::rep>(time.count(), 1);
    return std::min(static_cast<std::uint64_t>(count), max_token);
}

}  // namespace

std::uint64_t token_clock::next(microseconds wall, std::uint64_t above) noexcept
{
    last_ = std::min(std::max(last_ + 1, stamp(wall)), max_token);
    // `above` isn't kept: it is about one resource, and may be far ahead of the clocks.
    return above < max_token ? std::max(last_, above + 1) : max_token;
}

std::uint64_t token_clock::stamp(microseconds wall) const noexcept
{
    return to_token(wall + offset_);
}

microseconds token_clock::learn(
    std::vector<microseconds> node_times,
    microseconds wall,
    microseconds slack
) noexcept
{
    BOOST_ASSERT(!node_times.empty());

    std::ranges::sort(node_times);
    const microseconds lower = node_times[(node_times.size() - 1) / 2] - wall;
    const microseconds upper = node_times[node_times.size() / 2] - wall;
    const microseconds nearer = offset_ - lower <= upper - offset_ ? lower : upper;
    return move_to(std::clamp(offset_, nearer - slack, nearer + slack), wall);
}

microseconds token_clock::approach(
    std::vector<microseconds> node_times,
    std::size_t missing,
    microseconds wall,
    microseconds slack
) noexcept
{
    BOOST_ASSERT(missing < node_times.size());

    // The nodes that are missing may all be behind the others, or all ahead. A median of those that
    // answered would jump, as other nodes answer each time, and such jumps cost rounds.
    std::ranges::sort(node_times);
    const std::size_t count = node_times.size() + missing;
    const std::size_t lower = (count - 1) / 2 - missing;
    const std::size_t upper = count / 2;
    const microseconds least = node_times[lower] - wall - slack;
    const microseconds most = node_times[upper] - wall + slack;
    return move_to(std::clamp(offset_, least, most), wall);
}

microseconds token_clock::move_to(microseconds offset, microseconds wall) noexcept
{
    const microseconds before = std::exchange(offset_, offset);
    // Tokens handed out by a very different time no longer matter.
    constexpr std::uint64_t a_second = 1'000'000;
    if (last_ > stamp(wall) + a_second)
        last_ = 0;
    return abs(offset_ - before);
}

}  // namespace redlock::core
