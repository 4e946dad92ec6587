#ifndef REDLOCK_SRC_LOOP_FORKS_HPP
#define REDLOCK_SRC_LOOP_FORKS_HPP

namespace redlock::detail {

/** The process in which it was made.

    What belongs to a process keeps one, and knows by it whether it is a copy in a child process.
    Forks are counted as they happen, so that asking costs nothing. A process that was made by the
    bare system call is not noticed.
*/
class home
{
public:
    home() noexcept;

    /// Whether this is that process, and not one that it forked.
    [[nodiscard]] bool is_here() const noexcept;

private:
    unsigned forks_;
};

}  // namespace redlock::detail

#endif
