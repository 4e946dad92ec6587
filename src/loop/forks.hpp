#ifndef REDLOCK_SRC_LOOP_FORKS_HPP
#define REDLOCK_SRC_LOOP_FORKS_HPP

namespace redlock::detail {

/** Remembers the process in which it was made.

    An object that belongs to a process keeps one, to notice that it is a copy in a child process.
    Forks are counted as they happen, so asking costs nothing. A process made by the bare system
    call isn't noticed.
*/
class home
{
public:
    home() noexcept;

    /// Whether this is that process and not one that it forked.
    [[nodiscard]] bool is_here() const noexcept;

private:
    unsigned forks_;
};

}  // namespace redlock::detail

#endif
