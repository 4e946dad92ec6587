#include "core/token_clock.hpp"

#include <boost/assert.hpp>

#include <algorithm>

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

void token_clock::learn(std::vector<microseconds> node_times, microseconds wall) noexcept
{
    BOOST_ASSERT(!node_times.empty());

    // Take the lower of two in the middle: a token that is too low costs us a round, and one that
    // is too high makes others pay.
    const std::size_t rank = (node_times.size() - 1) / 2;
    const auto middle = node_times.begin() + static_cast<std::ptrdiff_t>(rank);
    std::ranges::nth_element(node_times, middle);
    offset_ = *middle - wall;
    // Tokens handed out by a very different time no longer matter.
    constexpr std::uint64_t a_second = 1'000'000;
    if (last_ > stamp(wall) + a_second)
        last_ = 0;
}

}  // namespace redlock::core
