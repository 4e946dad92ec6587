#ifndef REDLOCK_TEST_CHAOS_ROLLING_HOLDERS_HPP
#define REDLOCK_TEST_CHAOS_ROLLING_HOLDERS_HPP

#include <redlock/blocking.hpp>
#include <redlock/client.hpp>
#include <redlock/config.hpp>
#include <redlock/lease.hpp>
#include <redlock/time.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "chaos/rolling_run.hpp"
#include "support/child_process.hpp"
#include "support/posix.hpp"

namespace redlock::test {

/// What happens in a run. Any thread.
class journal
{
public:
    void note(std::string_view text);

    /// Something that must not happen.
    void fault(const std::string& kind, std::string_view text);

    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::map<std::string, std::size_t> faults() const;

private:
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    mutable std::mutex mutex_;
    std::string text_;
    std::map<std::string, std::size_t> faults_;
};

/// A context and the thread that runs it.
class worker_thread
{
public:
    worker_thread() : thread_([this] { context_.run(); }) {}
    ~worker_thread() { stop(); }
    worker_thread(const worker_thread&) = delete;
    worker_thread& operator=(const worker_thread&) = delete;

    /// No handler runs afterwards.
    void stop();

    [[nodiscard]] boost::asio::io_context& context() noexcept { return context_; }

private:
    boost::asio::io_context context_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
        context_.get_executor()
    };
    std::thread thread_;
};

/// Looks whether the machine stands still for so long that leases may be lost.
class pulse
{
public:
    explicit pulse(journal& notes);
    ~pulse() { thread_.stop(); }
    pulse(const pulse&) = delete;
    pulse& operator=(const pulse&) = delete;

    [[nodiscard]] milliseconds longest_stall() const { return longest_; }

private:
    void beat();

    journal& notes_;
    std::atomic<milliseconds> longest_ = milliseconds(0);
    worker_thread thread_;
    boost::asio::steady_timer timer_{thread_.context()};
};

/// The program `redlock`, which knows the nodes by its environment.
class redlock_program
{
public:
    explicit redlock_program(std::string nodes) : nodes_(std::move(nodes)) {}

    [[nodiscard]] child_process start(
        std::vector<std::string> arguments,
        const std::filesystem::path& output
    ) const;

private:
    std::string nodes_;
};

/** Holders of every kind, two for each of two ttls: `redlock run`, `redlock lead`, `with_lock`,
    leases that extend themselves, and those of a blocking client. Each has a resource of its own.
*/
class rolling_holders
{
public:
    rolling_holders(
        const rolling_settings& settings,
        const client_config& config,
        const redlock_program& program,
        journal& notes
    );
    ~rolling_holders();
    rolling_holders(const rolling_holders&) = delete;
    rolling_holders& operator=(const rolling_holders&) = delete;

    [[nodiscard]] const std::vector<std::string>& resources() const noexcept { return resources_; }

    /// Whether their clients say that all nodes have all leases.
    [[nodiscard]] bool all_have_all_votes() const;

    /// Takes note of the programs that have lost a lease.
    void check_programs();

    /// Gives all back.
    void end();

private:
    struct running
    {
        std::string resource;
        std::filesystem::path output;
        child_process process;
        bool lost = false;
    };

    void start_program(
        const redlock_program& program,
        const char* command,
        milliseconds ttl,
        milliseconds ttl_max
    );
    void start_others(milliseconds ttl);
    boost::asio::awaitable<void> hold(std::string resource, milliseconds ttl);
    [[nodiscard]] std::string name(const std::string& kind, milliseconds ttl);

    journal& notes_;
    const std::size_t nodes_;
    std::vector<std::string> resources_;
    temp_folder folder_;
    std::deque<running> programs_;
    std::deque<lease> leases_;
    std::deque<blocking::lease> blocking_leases_;
    blocking::client blocking_;
    worker_thread thread_;
    client locks_;
    boost::asio::steady_timer over_;
    std::atomic<bool> ending_ = false;
};

/// Clients that wait for what others hold, one resource each.
class rolling_waiters
{
public:
    rolling_waiters(
        const rolling_settings& settings,
        const client_config& config,
        const std::vector<std::string>& resources,
        journal& notes
    );
    ~rolling_waiters();
    rolling_waiters(const rolling_waiters&) = delete;
    rolling_waiters& operator=(const rolling_waiters&) = delete;

    /// From now on they may be granted what they wait for.
    void may_be_granted() noexcept { may_ = true; }

    /// Waits until each has been.
    void wait_for_all();

private:
    journal& notes_;
    std::atomic<bool> may_ = false;
    std::atomic<std::size_t> granted_ = 0;
    worker_thread thread_;
    std::deque<client> clients_;
};

}  // namespace redlock::test

#endif
