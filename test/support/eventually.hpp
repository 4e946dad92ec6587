#ifndef REDLOCK_TEST_SUPPORT_EVENTUALLY_HPP
#define REDLOCK_TEST_SUPPORT_EVENTUALLY_HPP

#include <chrono>
#include <thread>

namespace redlock::test {

/** Polls a condition until it is true.

    For tests that do not run an `io_context`. The condition is evaluated at least once, and once
    more after the deadline.

    @return Whether the condition became true.
*/
template <class F>
[[nodiscard]] bool eventually(
    F condition,
    std::chrono::milliseconds deadline = std::chrono::seconds(5)
)
{
    const auto give_up = std::chrono::steady_clock::now() + deadline;
    for (;;)
    {
        const bool last = std::chrono::steady_clock::now() >= give_up;
        if (condition())
            return true;
        if (last)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}  // namespace redlock::test

#endif
