#ifndef REDLOCK_TEST_SUPPORT_CHILD_PROCESS_HPP
#define REDLOCK_TEST_SUPPORT_CHILD_PROCESS_HPP

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace redlock::test {

struct child_options
{
    std::filesystem::path program;         ///< Path of the file to run.
    std::vector<std::string> arguments{};  ///< The first one is the name, as always.

    /// `NAME=value`, in addition to our own environment or instead of what it has of that name.
    std::vector<std::string> environment{};

    /// File that its output and its errors are appended to.
    std::filesystem::path output;
};

/** Another program, run as a child of this process. Killed with the object.

    It is also killed when this process dies, and when the thread dies that started it: start it on
    a thread that outlives the object. It inherits no descriptors and reads from `/dev/null`.
*/
class child_process
{
public:
    /// No process.
    child_process() = default;

    explicit child_process(const child_options& options);
    child_process(child_process&& other) noexcept;
    child_process& operator=(child_process&& other) noexcept;
    ~child_process() { kill(); }

    /// Returns the process id, 0 if the process is known to have ended.
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    /// Kills the process, paused or not, and reaps it. No effect on one that has ended.
    void kill();

    /// Reaps the process if it has ended.
    [[nodiscard]] bool has_ended();

    /// Returns the exit status of a process that ended by itself. Empty: killed, or not ended yet.
    [[nodiscard]] std::optional<int> exit_status() const noexcept { return exit_status_; }

    /// Stops the process with SIGSTOP, and returns when it has stopped.
    void pause();

    /// Whether the process stands still.
    [[nodiscard]] bool is_paused() const;

    /// Undoes `pause()`.
    void resume();

private:
    pid_t pid_{0};
    std::optional<int> exit_status_;
};

}  // namespace redlock::test

#endif
