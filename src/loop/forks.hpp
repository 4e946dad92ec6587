#ifndef REDLOCK_SRC_LOOP_FORKS_HPP
#define REDLOCK_SRC_LOOP_FORKS_HPP

namespace redlock::detail {

/** How many forks led to this process, since the first call in one of its ancestors.

    What a client remembers of it tells whether the client is a copy in a child process. Counted by
    a handler of `pthread_atfork`, so that asking costs nothing; a process that was made by the bare
    system call is not noticed.
*/
[[nodiscard]] unsigned fork_count() noexcept;

}  // namespace redlock::detail

#endif
