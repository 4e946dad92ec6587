#ifndef REDLOCK_SRC_LOOP_OWN_THREAD_HPP
#define REDLOCK_SRC_LOOP_OWN_THREAD_HPP

#include <functional>

namespace redlock::detail {

/** Runs a function on a thread of its own, for what may block: look-ups of names, reading files.

    Nobody waits for the thread, not even the end of the process. So the function must not refer to
    anything that may be gone by then, and must not throw. All signals are blocked in it: a handler
    of the program must not run in a thread that the program does not know.

    @throws std::system_error if there is no thread to be had.
*/
void run_on_own_thread(std::function<void()> what);

}  // namespace redlock::detail

#endif
