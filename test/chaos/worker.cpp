// A process with a client that takes turns with others. See worker_options.hpp.

#include <redlock/client.hpp>
#include <redlock/diagnostics.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "chaos/claim.hpp"
#include "chaos/mode.hpp"
#include "chaos/worker_options.hpp"
#include "support/posix.hpp"

using namespace redlock;
using namespace redlock::test;
namespace asio = boost::asio;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
using clock_type = time_point::clock;

/// The history of this process. A line is with the kernel when `write` returns: it outlives us.
class log_file
{
public:
    explicit log_file(const std::filesystem::path& file)
        : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600))
    {
        if (!file_.is_open())
            throw_errno("open log");
    }

    void write(const std::string& line) const
    {
        const ssize_t written = ::write(file_.get(), line.data(), line.size());
        if (written != static_cast<ssize_t>(line.size()))
            throw_errno("write log");
    }

private:
    descriptor file_;
};

class worker
{
public:
    worker(asio::io_context& context, const worker_options& options)
        : options_(options), log_(options.log), locks_(context, config(options)), timer_(context)
    {
        locks_.async_run(asio::detached);
    }

    asio::awaitable<void> run()
    {
        co_await locks_.async_wait_ready(asio::use_awaitable);
        const bool endless = options_.acquisitions == 0;
        for (std::uint64_t done = 0; endless || done < options_.acquisitions; ++done)
        {
            auto granted = co_await acquire();
            auto& [what, held] = granted;
            log_.write(granted_line(what));
            co_await pause(time_to_hold());
            log_.write(released_line(clock_type::now()));
            // Whatever becomes of it: the next one to be granted is checked.
            std::ignore = co_await held.async_release(as_result);
        }
    }

private:
    static client_config config(const worker_options& options)
    {
        client_config config;
        config.nodes = parse_nodes(options.nodes);
        config.node_timeout = options.node_timeout;
        config.retry.max_delay = milliseconds(20);
        protect(config, options.how);
        return config;
    }

    asio::awaitable<std::pair<claim, lease>> acquire()
    {
        claim what;
        what.worker = static_cast<std::uint32_t>(::getpid());
        what.rounds = 0;
        for (;;)
        {
            // Another one each time: a resource that is held for long must not stop everybody.
            what.resource = options_.first_resource + draw(options_.resources - 1);
            const std::string name = resource_name(what.resource);
            diagnostics report;
            const acquire_options how{
                .ttl = options_.ttl, .wait = options_.wait, .report = &report};
            what.invoked = clock_type::now();
            auto outcome = co_await locks_.async_acquire(name, how, as_result);
            what.granted = clock_type::now();
            auto& [ec, held] = outcome;
            what.rounds += report.rounds;
            if (!ec)
            {
                what.end = held.valid_until();
                what.token = token_of(held);
                co_return std::pair(what, std::move(held));
            }
            co_await explain(ec, report);
        }
    }

    asio::awaitable<void> explain(error_code ec, const diagnostics& report)
    {
        const bool contended = ec == error::contended;
        if (!contended || options_.wait == milliseconds(0))
            log_.write(note_line(
                static_cast<std::uint32_t>(::getpid()), ec.message() + ": " + to_string(report)
            ));
        // Nodes that are down say so at once.
        if (!contended)
            co_await pause(milliseconds(1));
    }

    asio::awaitable<void> pause(std::chrono::microseconds time)
    {
        if (time == time.zero())
            co_return;
        timer_.expires_after(time);
        co_await timer_.async_wait(asio::use_awaitable);
    }

    std::chrono::microseconds time_to_hold()
    {
        const bool is_long = draw(options_.one_long_of - 1) == 0;
        const milliseconds most = is_long ? options_.long_hold : options_.hold;
        const auto count = std::chrono::microseconds(most).count();
        return std::chrono::microseconds(draw(static_cast<std::uint32_t>(count)));
    }

    /// A number from zero to `most`.
    std::uint32_t draw(std::uint32_t most)
    {
        return std::uniform_int_distribution<std::uint32_t>(0, most)(random_);
    }

    worker_options options_;
    log_file log_;
    std::mt19937 random_{std::random_device()()};
    client locks_;
    asio::steady_timer timer_;
};

}  // namespace

int main(int count, char** arguments)
{
    try
    {
        asio::io_context context;
        worker one(context, worker_options_from({arguments + 1, arguments + count}));
        asio::co_spawn(context, one.run(), [&context](const std::exception_ptr& failure) {
            context.stop();
            if (failure)
                std::rethrow_exception(failure);
        });
        context.run();
    }
    catch (const std::exception& failure)
    {
        std::cerr << "worker: " << failure.what() << '\n';
        return 1;
    }
}
