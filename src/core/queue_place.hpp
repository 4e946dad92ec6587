#ifndef REDLOCK_SRC_CORE_QUEUE_PLACE_HPP
#define REDLOCK_SRC_CORE_QUEUE_PLACE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>

namespace redlock::core {

/// What becomes of a client's place in the queues of the nodes.
enum class queue_move : std::uint8_t
{
    none,   ///< It has none, and takes none.
    keep,   ///< It takes one where it is denied, or keeps the one it has.
    leave,  ///< It gives up the one it may have.
};

/** The place of an acquisition in the queues of the nodes, from its arrival to the end of its hold.

    The queues are on the nodes. A client that was denied may have a place, and so may one whose
    denial is still under way.

    | state | how it gets there | in a round | at its end | when its hold is released |
    |---|---|---|---|---|
    | apart | it does not wait in queues | none | none | none |
    | arrived | it waits in queues | keep | none | leave, if a node may have denied the round |
    | entered | a round was lost | keep | leave | leave |

    A lost round releases its attempt, and that release says the same about the place. "At its end"
    means an end without a lease. A hold always leaves if another acquisition of its client waits:
    that one asks again at once, behind those whose turn it is.
*/
class queue_place
{
public:
    /// Apart from the queues.
    queue_place() = default;

    /// In the queues, from its arrival on.
    [[nodiscard]] static queue_place in_queues() noexcept
    {
        queue_place made;
        made.state_ = state::arrived;
        return made;
    }

    [[nodiscard]] bool is_apart() const noexcept { return state_ == state::apart; }

    /// Records when it arrived, in microseconds since the epoch, unless that is already known.
    /// @return The known time.
    std::uint64_t arrive(std::uint64_t at) noexcept { return *(arrival_ = arrival_.value_or(at)); }

    /// The time of arrival came from a wrong clock.
    void forget_arrival() noexcept { arrival_.reset(); }

    /// A node that denied the round has queued the client, and the round's release queues it too.
    void lose_round() noexcept
    {
        if (!is_apart())
            state_ = state::entered;
    }

    /// In a round, and in its release if it is lost.
    [[nodiscard]] queue_move in_round() const noexcept
    {
        return is_apart() ? queue_move::none : queue_move::keep;
    }

    /// When the acquisition ends without a lease.
    [[nodiscard]] queue_move at_end() const noexcept { return leave_if(state_ == state::entered); }

    /// When its hold is released.
    /// @param denials Nodes that have denied the granted round, or are still to answer.
    /// @param next_waits Another acquisition of the client waits in the queues.
    [[nodiscard]] queue_move at_release(std::size_t denials, bool next_waits) const noexcept
    {
        const bool may_be_in = state_ == state::entered || (!is_apart() && denials > 0);
        return leave_if(may_be_in || next_waits);
    }

private:
    enum class state : std::uint8_t
    {
        apart,
        arrived,
        entered,
    };

    static queue_move leave_if(bool may_be_in) noexcept
    {
        return may_be_in ? queue_move::leave : queue_move::none;
    }

    state state_ = state::apart;
    std::optional<std::uint64_t> arrival_;
};

}  // namespace redlock::core

#endif
