#ifndef REDLOCK_SRC_TOOL_CHILD_HPP
#define REDLOCK_SRC_TOOL_CHILD_HPP

#include "tool/terminal.hpp"

#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace redlock::tool {

/// Variables that a child gets in addition to this process's.
using environment = std::vector<std::pair<std::string, std::string>>;

/// Programs that this process executes get neither end.
/// @throws std::system_error
void make_pipe(int (&ends)[2]);

/// What a child runs, and its environment and output.
struct child_options
{
    std::vector<std::string> command{};
    environment added{};
    std::vector<std::string> hidden{};  ///< Variables that it doesn't get.

    /// A file for all its output. Then it has no input. Empty: it shares this process's.
    std::string output{};

    /// The terminal that its group gets, before it begins. Null: none.
    const terminal* given = nullptr;
};

/** A program in its own process group.

    It dies with this process, even if this process is killed. Programs that it starts don't, unless
    they are in the same group and this process ends it.
*/
class child
{
public:
    /// @throws std::system_error ENOENT and the like, if it can't be run.
    explicit child(const child_options& options);

    child(const child&) = delete;
    child& operator=(const child&) = delete;

    /// Kills what is left of the group.
    ~child();

    /// Sends a signal to the whole group.
    void signal(int number) const noexcept;

    /// Looks without waiting. @return Whether it has ended. The destructor reaps it.
    [[nodiscard]] bool has_ended();

    /// Whether its group has other processes. The child itself has ended.
    [[nodiscard]] bool has_others() const;

    /// The signal that has stopped it since the last call, as far as `has_ended` has seen. Zero:
    /// none.
    [[nodiscard]] int take_stop() noexcept;

    [[nodiscard]] pid_t group() const noexcept { return pid_; }

    /// As a shell reports it: its status, or 128 plus the number of the signal that ended it.
    [[nodiscard]] int exit_status() const noexcept { return exit_status_; }

private:
    pid_t pid_ = 0;
    int exit_status_ = 0;
    int stopped_by_ = 0;  ///< The signal.
};

}  // namespace redlock::tool

#endif
