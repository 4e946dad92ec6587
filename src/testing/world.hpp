#ifndef REDLOCK_SRC_TESTING_WORLD_HPP
#define REDLOCK_SRC_TESTING_WORLD_HPP

#include <chrono>
#include <functional>

namespace redlock::testing {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/** The time of fake nodes, which keeps running whatever happens to a client's clocks.

    Virtual in `manual_time`, real in `real_time`. Used on the client's strand, or while nothing
    runs.
*/
class world
{
public:
    virtual ~world() = default;

    /// Time since the test began.
    [[nodiscard]] virtual nanoseconds elapsed() const = 0;

    /// Runs `what` on the strand at `when`, or soon if that has passed. Never from within the call.
    /// For the same time, what was added first runs first.
    virtual void at(nanoseconds when, std::function<void()> what) = 0;
};

}  // namespace redlock::testing

#endif
