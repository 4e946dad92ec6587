#ifndef REDLOCK_SRC_CORE_HOLD_STATE_HPP
#define REDLOCK_SRC_CORE_HOLD_STATE_HPP

#include "core/instant.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace redlock::core {

/// How a hold has ended.
enum class hold_end : std::uint8_t
{
    none,        ///< It hasn't ended.
    given_back,  ///< Its last lease has ended, or the client has closed.
    lost,        ///< The deadline has passed, or a majority of the nodes has denied.
    at_limit,    ///< Lost, because no further extension was allowed.
};

/// What ends with a lease.
enum class lease_end : std::uint8_t
{
    nothing,  ///< It had ended before.
    lease,    ///< Other leases share the hold.
    hold,     ///< It was the last one.
};

/// The part of one lease in a hold.
struct lease_part
{
    std::size_t attending = 0;  ///< Number of active waiters, and of bodies that run under it.
    bool ended = false;
    bool was_lost = false;  ///< When it ended. An unobserved loss isn't recorded.
};

/** What becomes of a hold.

    | state | how it gets there | over | lost |
    |---|---|---|---|
    | held | granted, until a deadline that extensions move forward | no | no |
    | expired | a call has seen the deadline pass | yes | yes |
    | lost | the client has noticed, and knows why | yes | yes |
    | given back | no lease needs it any more | yes | once the deadline has passed |

    A hold that is over stays over, whatever an extension seen at the same time brings. A revoked
    one is held until it is given back or its deadline passes; it is only extended no more.
*/
class hold_state
{
public:
    explicit hold_state(instant valid_until) noexcept : valid_until_(valid_until) {}

    [[nodiscard]] instant valid_until() const noexcept { return valid_until_; }
    [[nodiscard]] hold_end end() const noexcept { return end_; }
    [[nodiscard]] std::size_t leases() const noexcept { return leases_; }

    [[nodiscard]] bool over_at(instant now) noexcept;
    [[nodiscard]] bool lost_at(instant now) const noexcept;

    /// The same for one lease: whether it was lost before its owner ended it.
    [[nodiscard]] bool lost_at(instant now, const lease_part& of) const noexcept
    {
        return of.ended ? of.was_lost : lost_at(now);
    }

    /// Adds a lease. @return False if the hold is over.
    [[nodiscard]] bool join(instant now) noexcept;

    /// Ends a lease, and gives the hold back with the last one.
    /// @param now Needed only if it matters whether it is lost: reading the clock takes time.
    [[nodiscard]] lease_end leave(lease_part& leaving, std::optional<instant> now) noexcept;

    /// A waiter or a body begins or stops attending to a lease. No effect once the lease has ended.
    void begin_attention(lease_part& to) noexcept;
    void end_attention(lease_part& to) noexcept;

    /// Moves the deadline forward, unless the hold is over. Never moves it back.
    /// @return Whether the resource is still held.
    [[nodiscard]] bool extend(instant now, instant valid_until) noexcept;

    /// The holder is asked to stop. @return False if that's already known, or the hold is over.
    [[nodiscard]] bool revoke(instant now) noexcept;

    /// No lease joins a revoked hold.
    [[nodiscard]] bool revoked() const noexcept { return revoked_; }

    /// The resource of a new lease is to stay taken for `time`, counted from the token. The longest
    /// time counts.
    void keep_for(milliseconds time) noexcept { at_least_ = std::max(at_least_, time); }

    /// The lease wasn't used, so nothing is kept if it's the only one.
    void keep_nothing() noexcept
    {
        if (leases_ == 1)
            at_least_ = milliseconds(0);
    }

    [[nodiscard]] milliseconds at_least() const noexcept { return at_least_; }

    /// The part of it that the release asks for. A lost hold has nothing left to keep, and a
    /// minority of keys would only be in the way.
    [[nodiscard]] milliseconds to_keep() const noexcept
    {
        return was_given_back() ? at_least_ : milliseconds(0);
    }

    /// Whether it was given back in time.
    [[nodiscard]] bool was_given_back() const noexcept
    {
        return end_ == hold_end::given_back && !left_too_late_;
    }

    /// Ends the hold. @return False if it had ended before.
    [[nodiscard]] bool finish(hold_end how) noexcept;

    /// Gives the hold back unless something attends to it. @return Whether this ended the hold.
    [[nodiscard]] bool give_back_unattended() noexcept
    {
        return attending_ == 0 && finish(hold_end::given_back);
    }

private:
    [[nodiscard]] bool is_loss() const noexcept { return end_ > hold_end::given_back; }

    instant valid_until_;
    hold_end end_ = hold_end::none;
    bool expired_ = false;  ///< A call has seen the deadline pass.
    bool revoked_ = false;
    milliseconds at_least_{0};
    bool left_too_late_ = false;  ///< The last lease is known to have been lost when it ended.
    std::size_t leases_ = 0;
    std::size_t attending_ = 0;  ///< To any of its leases.
};

}  // namespace redlock::core

#endif
