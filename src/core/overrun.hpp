#ifndef REDLOCK_SRC_CORE_OVERRUN_HPP
#define REDLOCK_SRC_CORE_OVERRUN_HPP

#include "core/instant.hpp"

#include <optional>

namespace redlock::core {

/** Decides when a body that should have stopped is beyond its deadline.

    A body is asked to stop when its lease has `stop_before` left. If a look fell into that time,
    the body has had its chance, and must end by the deadline. Otherwise the process stood still, or
    the lease was lost early. Then the body has only just been asked, and gets `stop_before` from
    now.

    | state | how it gets there | the next look |
    |---|---|---|
    | safe | more than `stop_before` left, as of the last look | when only that is left |
    | asked | less was left | at the deadline |
    | late | over, and safe before | `stop_before` later |
    | overrun | over, and asked before; or the time of a late one has passed | none |
*/
class overrun_watch
{
public:
    explicit constexpr overrun_watch(nanoseconds stop_before) noexcept : stop_before_(stop_before)
    {
    }

    /// Looks at the lease of a running body.
    /// @param left Time left of it. Zero if it is over.
    /// @return When to look next, at the latest. Empty if this is an overrun.
    [[nodiscard]] constexpr std::optional<time_point> look(
        time_point now,
        nanoseconds left
    ) noexcept
    {
        if (left > nanoseconds(0))
        {
            asked_ = left <= stop_before_;
            return now + (asked_ ? left : left - stop_before_);
        }
        if (!end_)
            end_ = asked_ ? now : now + stop_before_;
        return now < *end_ ? end_ : std::nullopt;
    }

private:
    nanoseconds stop_before_;
    bool asked_ = false;               ///< As of the last look.
    std::optional<time_point> end_{};  ///< For a body whose lease is over.
};

}  // namespace redlock::core

#endif
