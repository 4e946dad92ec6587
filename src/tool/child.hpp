#ifndef REDLOCK_SRC_TOOL_CHILD_HPP
#define REDLOCK_SRC_TOOL_CHILD_HPP

#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace redlock::tool {

/// Variables that a child gets besides those of this process.
using environment = std::vector<std::pair<std::string, std::string>>;

/// Both ends are closed in what this process executes.
/// @throws std::system_error
void make_pipe(int (&ends)[2]);

/// What a child runs, and with what.
struct child_options
{
    std::vector<std::string> command{};
    environment added{};
    std::vector<std::string> hidden{};  ///< Variables that it does not get.

    /// A file for all that it prints, and no input and no terminal. Empty: it shares those of this
    /// process.
    std::string output{};
};

/** A program in a process group of its own, which gets the terminal if this process has it.

    It dies with this process, also if that is killed. What it starts itself does not, unless it is
    in the same group and this process ends it.
*/
class child
{
public:
    /// @throws std::system_error ENOENT and the like, if it cannot be run.
    explicit child(const child_options& options);

    child(const child&) = delete;
    child& operator=(const child&) = delete;

    /// Kills what is left of the group, and takes the terminal back.
    ~child();

    /// Sends a signal to the whole group.
    void signal(int number) const noexcept;

    /// Looks without waiting. @return Whether it has ended. It is reaped with this object.
    [[nodiscard]] bool has_ended();

    /// Whether there is anything in its group but itself, which has ended.
    [[nodiscard]] bool has_others() const;

    /// Whether Ctrl-Z and the like have stopped it since this was asked last.
    [[nodiscard]] bool was_stopped_by_terminal() noexcept;

    /// Takes the terminal back, and stops this process as the child is stopped. Returns when both
    /// are to go on; `resume` lets the child do so.
    void stop_with_it() const;

    /// Lets it go on, with the terminal if this process has that now.
    void resume() const noexcept;

    /// As a shell says it: its status, or 128 and the number of the signal that ended it.
    [[nodiscard]] int exit_status() const noexcept { return exit_status_; }

private:
    void give_terminal(pid_t to) const noexcept;
    void take_terminal() const noexcept;

    pid_t pid_ = 0;
    int exit_status_ = 0;
    int stopped_by_ = 0;  ///< The signal.
    int terminal_ = -1;   ///< -1: none.
};

}  // namespace redlock::tool

#endif
