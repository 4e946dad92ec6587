#ifndef REDLOCK_EXAMPLES_DEMO_HOLDER_HPP
#define REDLOCK_EXAMPLES_DEMO_HOLDER_HPP

#include <redlock.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/readable_pipe.hpp>

#include <chrono>
#include <string>

#include <sys/types.h>

namespace demo {

namespace asio = boost::asio;

/// How long the nodes keep the key of the holder process.
inline constexpr std::chrono::seconds holder_ttl{3};

/** Another process that acquires orders:42 and does nothing with it.

    It runs this program again, so that it shares no socket, no thread and no memory with us.
*/
class holder_process
{
public:
    /// Starts it. It writes to a pipe when it has its lease.
    holder_process(const asio::any_io_executor& executor, const std::string& node_urls);
    holder_process(const holder_process&) = delete;
    holder_process& operator=(const holder_process&) = delete;
    ~holder_process() { kill(); }

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    /// Waits until it holds the resource. Returns `valid_until()` of its lease, which is right here
    /// too, because all processes on a machine share the steady clock.
    asio::awaitable<redlock::time_point> until_holding();

    /// Kills it with SIGKILL and waits for its end.
    void kill() noexcept;

private:
    asio::readable_pipe output_;
    pid_t pid_ = 0;
};

/// What the other process does. Returns its exit code, unless it is killed.
int hold(const std::string& node_urls);

}  // namespace demo

#endif
