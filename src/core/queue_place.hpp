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
    leave,  ///< It gives up the one that it may have.
};

/** The place of an acquisition in the queues of the nodes, from its arrival to the end of its hold.

    The queues are on the nodes. A client that was denied may have a place, and so may one whose
    denial is still under way.

    | state | how it gets there | in a round | at its end | when its hold is released |
    |---|---|---|---|---|
    | apart | it does not wait in queues | none | none | none |
    | arrived | it waits in queues | keep | none | leave, if a node may have denied the round |
    | entered | a round was lost | keep | leave | leave |

    A round that is lost releases its attempt, and says the same of the place. The end is one
    without a lease. A hold leaves in any case if another acquisition of its client waits, which
    asks again at once, behind those whose turn it is.
*/
class queue_place
{
public:
    /// Apart.
    queue_place() = default;

    /// In the queues, from its arrival on.
    [[nodiscard]] static queue_place in_queues() noexcept
    {
        queue_place made;
        made.state_ = state::arrived;
        return made;
    }

    [[nodiscard]] bool is_apart() const noexcept { return state_ == state::apart; }

    /// Notes when it arrived, in microseconds since the epoch, unless that is known.
    /// @return What is known.
    std::uint64_t arrive(std::uint64_t at) noexcept { return *(arrival_ = arrival_.value_or(at)); }

    /// A wrong clock told when it arrived.
    void forget_arrival() noexcept { arrival_.reset(); }

    /// A node that denied the round has let the client in, and the release of the round does.
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
