#include "core/extension_schedule.hpp"

#include <algorithm>

namespace redlock::core {

namespace {

using namespace std::chrono_literals;

/// Two failed extensions still leave a third of the ttl.
constexpr int extensions_in_a_ttl = 3;

/// Jitter shortens a pause by at most this share of it.
constexpr int jitter_share = 10;

/// After a failure, this share of the remaining time passes before the next try: about 1.2 s with
/// 10 s left, about 0.1 s with 1 s left.
constexpr int tries_in_the_rest = 8;

/// Nodes are asked no more often than this, however close the end.
constexpr nanoseconds shortest_pause = 5ms;

/// A random duration from 0 to `limit`.
nanoseconds share_of(nanoseconds limit, std::uint64_t draw) noexcept
{
    const auto whole = static_cast<std::uint64_t>(std::max(limit, nanoseconds(0)).count());
    return nanoseconds(static_cast<nanoseconds::rep>(draw % (whole + 1)));
}

}  // namespace

void extension_schedule::granted(nanoseconds asked, milliseconds ttl, std::uint64_t draw) noexcept
{
    const nanoseconds pause = to_nanoseconds(ttl) / extensions_in_a_ttl;
    due_ = shifted({{}, asked}, pause - share_of(pause / jitter_share, draw)).boot;
}

void extension_schedule::failed(nanoseconds now, nanoseconds remaining, std::uint64_t draw) noexcept
{
    const nanoseconds pause = std::max(remaining / tries_in_the_rest, shortest_pause);
    due_ = now + pause - share_of(pause / jitter_share, draw);
}

}  // namespace redlock::core
