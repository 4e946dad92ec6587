#include "node/reply_shape.hpp"

namespace redlock::detail {

namespace {

using kind = reply_shape::kind;

reply unexpected() noexcept
{
    reply result;
    result.why = reason::unexpected_reply;
    return result;
}

reply interpret_acquire(const reply_shape& from) noexcept
{
    reply result = unexpected();
    if (from.what == kind::ok)
        result = {vote::granted, reason::none, {}, {}, {}};
    if (from.what == kind::null)
        result = {vote::denied, reason::held, {}, {}, {}};
    return result;
}

/// Extend and release: 1 if the key was ours, 0 if not.
reply interpret_compare(const reply_shape& from) noexcept
{
    reply result = unexpected();
    if (from.what == kind::number && from.number == 1)
        result = {vote::granted, reason::none, {}, {}, {}};
    if (from.what == kind::number && from.number == 0)
        result = {vote::denied, reason::gone, {}, {}, {}};
    return result;
}

/// PTTL: milliseconds, -1 for a key without a ttl, -2 for no key.
reply interpret_holder(const reply_shape& from) noexcept
{
    if (from.what != kind::number || from.number < -2)
        return unexpected();
    const milliseconds left = from.number == -1   ? forever
                              : from.number == -2 ? milliseconds(0)
                                                  : milliseconds(from.number);
    return {vote::granted, reason::none, {}, {}, left};
}

}  // namespace

reply interpret(verb asked, const reply_shape& from) noexcept
{
    if (from.what == kind::error)
        return {vote::refused, reason::error_reply, {}, from.text, {}};

    switch (asked)
    {
    case verb::acquire: return interpret_acquire(from);
    case verb::extend:
    case verb::release: return interpret_compare(from);
    case verb::holder: return interpret_holder(from);
    }
    return unexpected();
}

}  // namespace redlock::detail
