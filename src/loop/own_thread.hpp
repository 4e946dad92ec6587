#ifndef REDLOCK_SRC_LOOP_OWN_THREAD_HPP
#define REDLOCK_SRC_LOOP_OWN_THREAD_HPP

#include <functional>

namespace redlock::detail {

/** Runs a function that may block on a new thread: name look-ups, reading files.

    Nothing waits for the thread, not even the end of the process. So the function must not refer to
    anything that may be gone by then, and must not throw. All signals are blocked in it, because a
    handler of the program must not run in a thread that the program doesn't know.

    @throws std::system_error if no thread can be started.
*/
void run_on_own_thread(std::function<void()> what);

}  // namespace redlock::detail

#endif
