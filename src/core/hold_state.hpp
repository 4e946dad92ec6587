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

/// How a lease is ended by its owner.
enum class leaving : std::uint8_t
{
    release,  ///< Its work has stopped.
    drop,     ///< It is destroyed, which doesn't say so.
};

/// What a hold allows. See `hold_state`.
enum class hold_phase : std::uint8_t
{
    held,
    revoked,
    over,
};

/// What becomes of the keys of a hold that has ended.
enum class key_fate : std::uint8_t
{
    deleted,
    kept,  ///< They keep the resource for `at_least`.
    left,  ///< To their ttl, which includes the grace of a lost hold.
};

/// The part of one lease in a hold.
struct lease_part
{
    std::size_t attending = 0;  ///< Number of active waiters, and of bodies that run under it.
    bool ended = false;
    bool was_lost = false;  ///< When it ended. An unobserved loss isn't recorded.
};

/** What becomes of a hold.

    | state | how it gets there | phase | lost | its keys |
    |---|---|---|---|---|
    | held | granted, until a deadline that extensions move forward | held | no | |
    | revoked | its holder is asked to stop | revoked | no | |
    | expired | a call has seen the deadline pass | over | yes | |
    | lost | the client has noticed, and knows why | over | yes | deleted, or left |
    | given back | no lease needs it any more | over | from the deadline on | deleted, or kept |

    | phase | leases join, it is extended | who waits for its loss | released |
    |---|---|---|---|
    | held | yes | waits | yes |
    | revoked | no: `revoked` | hears `revoked` | yes |
    | over | no: `lease_lost` | hears why | its keys, if they can outlive it |

    An extension that was under way when a hold was revoked still moves its deadline.

    A hold that is over stays over, whatever an extension seen at the same time brings. If the last
    owner of a lost one says that it has stopped, nothing is left, unless another lost lease was
    only dropped.
*/
class hold_state
{
public:
    /// @param grace How long its keys outlive it.
    hold_state(instant valid_until, milliseconds grace) noexcept
        : valid_until_(valid_until), grace_(grace)
    {
    }

    [[nodiscard]] instant valid_until() const noexcept { return valid_until_; }
    [[nodiscard]] hold_end end() const noexcept { return end_; }
    [[nodiscard]] std::size_t leases() const noexcept { return leases_; }

    [[nodiscard]] bool over_at(instant now) noexcept;
    [[nodiscard]] hold_phase phase_at(instant now) noexcept;
    [[nodiscard]] bool lost_at(instant now) const noexcept;

    /// The same for one lease: whether it was lost before its owner ended it.
    [[nodiscard]] bool lost_at(instant now, const lease_part& of) const noexcept
    {
        return of.ended ? of.was_lost : lost_at(now);
    }

    /// Adds a lease. @return False if the hold is over.
    [[nodiscard]] bool join(instant now) noexcept;

    /// Whether it matters if a lease is lost when it ends. Reading the clock takes time.
    [[nodiscard]] bool needs_time_of_end(const lease_part& of) const noexcept
    {
        return of.attending > 0 || grace_ > milliseconds(0) || at_least_ > milliseconds(0);
    }

    /// Ends a lease, and gives the hold back with the last one.
    /// @param now See `needs_time_of_end`.
    [[nodiscard]] lease_end leave(
        lease_part& part,
        std::optional<instant> now,
        leaving how = leaving::release
    ) noexcept;

    /// A waiter or a body begins or stops attending to a lease. No effect once the lease has ended.
    void begin_attention(lease_part& to) noexcept;
    void end_attention(lease_part& to) noexcept;

    /// Moves the deadline forward, unless the hold is over. Never moves it back.
    /// @return Whether the resource is still held.
    [[nodiscard]] bool extend(instant now, instant valid_until) noexcept;

    /// The holder is asked to stop. @return False if that's already known, or the hold is over.
    [[nodiscard]] bool revoke(instant now) noexcept;
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

    /// Of a hold that has ended. See above.
    [[nodiscard]] key_fate keys_after() const noexcept;

    /// For how long, counted from the token, if they are kept.
    [[nodiscard]] milliseconds to_keep() const noexcept
    {
        return keys_after() == key_fate::kept ? at_least_ : milliseconds(0);
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
    milliseconds grace_;
    hold_end end_ = hold_end::none;
    bool expired_ = false;  ///< A call has seen the deadline pass.
    bool revoked_ = false;
    milliseconds at_least_{0};
    bool left_too_late_ = false;     ///< The last lease is known to have been lost when it ended.
    bool lost_and_dropped_ = false;  ///< A lease.
    std::size_t leases_ = 0;
    std::size_t attending_ = 0;  ///< To any of its leases.
};

}  // namespace redlock::core

#endif
