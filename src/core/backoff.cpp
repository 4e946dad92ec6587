#include "core/backoff.hpp"

#include "core/limits.hpp"

#include <boost/assert.hpp>

#include <algorithm>

namespace redlock::core {

namespace {

/// Each client in front delays a poll by this much, and each beyond the first `many` by twice as
/// much: nodes that thousands poll would have no time to serve them.
constexpr nanoseconds step = 2ms;
constexpr std::size_t many = 64;

nanoseconds delay_behind(std::size_t before) noexcept
{
    return (before + (before > many ? before - many : 0)) * step;
}

/// When a key is gone. A key can live up to 1 ms after its count says 0. A key without a ttl counts
/// as one with the longest ttl.
nanoseconds gone_after(milliseconds held_for) noexcept
{
    return to_nanoseconds(std::min(held_for, max_ttl)) + milliseconds(2);
}

}  // namespace

backoff::backoff(nanoseconds first, nanoseconds cap) noexcept
    : first_(std::min(first, cap)), cap_(cap), bound_(first_)
{
    BOOST_ASSERT(first_ >= nanoseconds(1));
}

nanoseconds backoff::next(std::uint64_t draw) noexcept
{
    const auto bound = static_cast<std::uint64_t>(bound_.count());
    bound_ = bound_ > cap_ / 2 ? cap_ : bound_ * 2;
    return nanoseconds(static_cast<nanoseconds::rep>(draw % bound + 1));
}

nanoseconds until_free(nanoseconds delay, milliseconds free_after) noexcept
{
    return std::min(delay, gone_after(free_after) + delay / 8);
}

nanoseconds queue_polls::next(
    std::size_t position,
    std::optional<milliseconds> free_after,
    std::uint64_t draw
) noexcept
{
    const auto spread = static_cast<nanoseconds::rep>(draw % 128);
    const bool is_in = position <= max_queue;
    nanoseconds behind = delay_behind(is_in ? position - 1 : max_queue / 2);
    // Those behind a full queue have the same place, and may have come at the same moment.
    if (!is_in)
        behind = behind / 2 + behind * spread / 128;
    const auto doublings = std::min<std::size_t>(polls_++, 10);
    nanoseconds delay = std::min((reservation_ + behind) * (1 << doublings), longest_ + behind);
    delay += delay / 8 * spread / 128;
    if (!free_after)
        return delay;
    const nanoseconds after = position == 1 ? behind : reservation_ + behind;
    return std::min(delay, gone_after(*free_after) + after);
}

}  // namespace redlock::core
