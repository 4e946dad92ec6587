#include "node/reply_shape.hpp"

#include "core/limits.hpp"
#include "core/token_clock.hpp"

#include <algorithm>

namespace redlock::detail {

namespace {

using kind = reply_shape::kind;

reply make_reply(vote counts_as, reason why) noexcept
{
    reply result;
    result.vote = counts_as;
    result.why = why;
    return result;
}

reply unexpected() noexcept
{
    return make_reply(vote::unknown, reason::unexpected_reply);
}

reply granted() noexcept
{
    return make_reply(vote::granted, reason::none);
}

reply interpret_set(const reply_shape& from) noexcept
{
    if (from.what == kind::ok)
        return granted();
    if (from.what == kind::null)
        return make_reply(vote::denied, reason::held);
    return unexpected();
}

/// Extend and release: 1 if the key was ours, 0 if not.
reply interpret_compare(const reply_shape& from) noexcept
{
    if (from.what == kind::number && from.number == 1)
        return granted();
    if (from.what == kind::number && from.number == 0)
        return make_reply(vote::denied, reason::gone);
    return unexpected();
}

/// PTTL: milliseconds, -1 for a key without a ttl, -2 for no key.
std::optional<milliseconds> read_pttl(std::int64_t from) noexcept
{
    if (from < -2)
        return std::nullopt;
    return from == -1 ? forever : milliseconds(std::max<std::int64_t>(from, 0));
}

reply interpret_holder(const reply_shape& from) noexcept
{
    const auto left = from.what == kind::number ? read_pttl(from.number) : std::nullopt;
    if (!left)
        return unexpected();
    reply result = granted();
    result.held_for = left;
    return result;
}

/// A denial or refusal by code, with the number that belongs to it. See guarded_acquire.lua.
reply interpret_code(verb asked, std::int64_t code, std::int64_t number) noexcept
{
    reply result;
    switch (code)
    {
    case 0:
        if (asked == verb::extend)
            return make_reply(vote::denied, reason::gone);
        result = make_reply(vote::denied, reason::held);
        result.held_for = read_pttl(number);
        return result.held_for ? result : unexpected();
    case -1:
        result = make_reply(vote::refused, reason::fence);
        result.fence = fencing_token::from_value(static_cast<std::uint64_t>(number));
        return number > 0 && asked == verb::acquire ? result : unexpected();
    case -2: return make_reply(vote::refused, reason::clock);
    case -3: return make_reply(vote::refused, reason::unmarked);
    case -4:
        result = make_reply(vote::refused, reason::quarantined);
        result.ready_in = read_pttl(number);
        return result.ready_in ? result : unexpected();
    default: return unexpected();
    }
}

/// A time that a server's clock can show: microseconds since the epoch.
bool is_time(std::int64_t from) noexcept
{
    return from > 0 && static_cast<std::uint64_t>(from) < core::token_end;
}

/// The stamp for a grant, else {code, stamp, number, the node's time}. Who is held off is told also
/// how many are before it in the queue.
reply interpret_guarded(verb asked, std::uint64_t stamp, const reply_shape& from) noexcept
{
    const auto echo = static_cast<std::int64_t>(stamp);
    if (from.what == kind::number && from.number == echo)
        return granted();
    if (from.what != kind::numbers || from.count < 4 || from.numbers[1] != echo ||
        !is_time(from.numbers[3]))
        return unexpected();

    reply result = interpret_code(asked, from.numbers[0], from.numbers[2]);
    const bool tells_place = asked == verb::acquire && result.why == reason::held;
    if (from.count != (tells_place ? 5U : 4U))
        return unexpected();
    if (tells_place && from.numbers[4] > static_cast<std::int64_t>(core::max_queue))
        return unexpected();
    if (tells_place && from.numbers[4] >= 0)
        result.position = static_cast<std::size_t>(from.numbers[4]) + 1;
    if (result.vote != vote::unknown)
        result.node_time = std::chrono::microseconds(from.numbers[3]);
    return result;
}

}  // namespace

reply interpret(verb asked, std::uint64_t stamp, const reply_shape& from) noexcept
{
    if (from.what == kind::error)
    {
        reply result = make_reply(vote::refused, reason::error_reply);
        result.text = from.text;
        return result;
    }

    switch (asked)
    {
    case verb::acquire:
        return stamp != 0 ? interpret_guarded(asked, stamp, from) : interpret_set(from);
    case verb::extend:
        return stamp != 0 ? interpret_guarded(asked, stamp, from) : interpret_compare(from);
    case verb::release: return interpret_compare(from);
    case verb::holder:
    case verb::watch: return interpret_holder(from);
    case verb::leave: return interpret_compare(from);
    }
    return unexpected();
}

}  // namespace redlock::detail
