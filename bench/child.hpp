#ifndef REDLOCK_BENCH_CHILD_HPP
#define REDLOCK_BENCH_CHILD_HPP

#include <chrono>
#include <functional>
#include <utility>

#include <sys/types.h>

namespace bench {

/// Returns the user and system time that a process has used so far.
[[nodiscard]] std::chrono::nanoseconds cpu_time_of(::pid_t process);

/** A process that was forked to run a function.

    It dies with its parent, and by a signal when its time is over. What the function throws goes to
    the standard error stream. Fork it while the parent has one thread.
*/
class child
{
public:
    child(std::chrono::seconds limit, const std::function<void()>& body);
    child(child&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
    child& operator=(child&&) = delete;

    /// Kills the process if nobody has joined it.
    ~child();

    /// Waits until the process ends. Returns whether it did so well.
    [[nodiscard]] bool join();

    /// Sends it a signal.
    void signal(int number) const;

    /// Freezes it with SIGSTOP, and returns when it has stopped.
    /// @throws std::runtime_error If it has ended.
    void freeze();

    /// User and system time that the process has used so far.
    [[nodiscard]] std::chrono::nanoseconds cpu_time() const { return cpu_time_of(pid_); }

private:
    ::pid_t pid_;
};

}  // namespace bench

#endif
