#ifndef REDLOCK_SRC_CORE_ROUND_WINDOW_HPP
#define REDLOCK_SRC_CORE_ROUND_WINDOW_HPP

#include "core/instant.hpp"
#include "core/recent_minimum.hpp"

#include <cstddef>

namespace redlock::core {

/** How many rounds may be under way at the nodes at a time, learned from how long rounds take.

    A node processes its commands one after the other. Beyond a certain number of rounds under way
    it does no more per second, and each of them only waits longer: first beyond the node timeout,
    in the end beyond what its token allows. Giving up and repeating that work makes it worse.

    So this is congestion control, like TCP's. The time that a round takes beyond the shortest one
    seen is time spent in queues.

    | a round | the size |
    |---|---|
    | was quick, and the window was in use | grows by one; after a cut by one per whole window |
    | was slow, or was lost | a third less, once in the time of a round |
    | a quorum was not connected | starts again |

    Distant nodes have a long shortest round, but that doesn't make the window smaller.
*/
class round_window
{
public:
    /// @param patience A round is slow if it waits in queues for longer than a quarter of this. A
    /// round trip without queues is assumed to take no longer than this.
    explicit round_window(nanoseconds patience) noexcept;

    /// The number of rounds that may be under way.
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }

    /** A round has ended.

        @param under_way Rounds at that time, this one included.
        @param answered Whether a quorum granted or denied. Otherwise it was lost.
    */
    void on_round(
        time_point started,
        time_point now,
        std::size_t under_way,
        bool answered
    ) noexcept;

    /// The nodes were away. Forgets what was learned about queues, but not about distance.
    void start_again() noexcept;

    /// The shortest recent round. Zero if there was none.
    [[nodiscard]] nanoseconds shortest() const noexcept;

private:
    [[nodiscard]] bool was_quick(nanoseconds took) const noexcept;
    void grow(std::size_t under_way) noexcept;
    void cut(time_point started, time_point now, double least) noexcept;

    nanoseconds patience_;
    double size_;
    bool was_cut_ = false;
    time_point last_cut_{};
    recent_minimum shortest_;
};

}  // namespace redlock::core

#endif
