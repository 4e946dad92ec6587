#include <redlock/client.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/error.hpp>
#include <redlock/lease.hpp>
#include <redlock/release_outcome.hpp>

#include "tool/child.hpp"
#include "tool/commands.hpp"
#include "tool/signals.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include <poll.h>
#include <unistd.h>

/// Runs a child under a lock.
namespace redlock::tool {

namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;

/// Time between the end of the child and the deadline.
constexpr milliseconds kill_before = 100ms;

constexpr auto as_result = asio::as_tuple(asio::deferred);

int as_int(status what) noexcept
{
    return static_cast<int>(what);
}

/// The command must get its warning before it is killed, and not before the first extension.
milliseconds stop_before_of(const run_options& how, const client_config& config)
{
    const milliseconds longest = how.ttl * 2 / 3 - 2 * config.node_timeout;
    const milliseconds chosen = how.stop_before.value_or(std::min(how.ttl / 3, longest));
    if (chosen >= kill_before && chosen <= longest)
        return chosen;
    throw std::invalid_argument(
        "--stop-before is " + std::to_string(chosen.count()) + "ms, must be " +
        std::to_string(kill_before.count()) + "ms to " + std::to_string(longest.count()) +
        "ms, which is 2/3 of --ttl minus two --node-timeout; give a longer --ttl"
    );
}

/// Writes the client's warnings and errors to stderr unless that would block, because blocking
/// could keep the child alive beyond its lease.
void log_without_waiting(log_level level, std::string_view line)
{
    ::pollfd output{STDERR_FILENO, POLLOUT, 0};
    if (level != log_level::info && ::poll(&output, 1, 0) == 1 && (output.revents & POLLOUT) != 0)
        log_to_stderr(level, line);
}

/// Does what this process was started for: waits for the resource, runs the child under it, and
/// releases it.
class guardian
{
public:
    guardian(asio::io_context& in, client& locks, const run_options& how, milliseconds stop_before)
        : context_(in), locks_(locks), how_(how), stop_before_(stop_before), heard_(in), change_(in)
    {
    }

    /// @return The exit status of `run`.
    asio::awaitable<int> run_once()
    {
        auto acquired = co_await acquire(how_.try_once ? 0ms : how_.wait.value_or(forever));
        auto& [ec, held] = acquired;
        if (heard_.asked_to_end() != 0)
        {
            if (!ec)
                co_await give_back_unused(std::move(held));
            co_return 128 + heard_.asked_to_end();
        }
        if (!ec)
            co_return co_await use(std::move(held));
        // If the user chose the status, that is enough of an answer: cron would mail the words.
        if (ec != error::contended || how_.held_status == as_int(status::held))
            std::cerr << "redlock: " << how_.resource << ": " << ec.message() << " (" << report_
                      << ")\n";
        co_return ec == error::contended ? how_.held_status : as_int(status::ours);
    }

    /// Ends when it is asked to, or with an error that waiting doesn't fix.
    asio::awaitable<int> run_again_and_again()
    {
        int last = 0;
        bool led = false;  // The signal came while the command ran.
        while (heard_.asked_to_end() == 0)
        {
            // Limit the wait, so that a lasting error is reported.
            auto acquired = co_await acquire(10s);
            auto& [ec, held] = acquired;
            if (!ec)
            {
                last = co_await use(std::move(held));
                led = heard_.asked_to_end() != 0;
                if (last == as_int(status::not_run) || last == as_int(status::not_found))
                    co_return last;
                co_await rest();
            }
            else if (ec != condition::not_acquired && heard_.asked_to_end() == 0)
            {
                throw std::runtime_error(
                    how_.resource + ": " + ec.message() + " (" + to_string(report_) + ")"
                );
            }
        }
        co_return led ? last : 128 + heard_.asked_to_end();
    }

private:
    asio::awaitable<std::tuple<error_code, lease>> acquire(milliseconds wait)
    {
        if (heard_.asked_to_end() != 0)
            co_return std::tuple(error_code(asio::error::operation_aborted), lease());
        acquire_options wanted;
        wanted.ttl = how_.ttl;
        wanted.wait = wait;
        wanted.auto_extend = true;
        wanted.hold_max = forever;
        wanted.grace = how_.grace;
        wanted.at_least = how_.at_least;
        wanted.note = how_.note;
        wanted.report = &report_;
        asio::cancellation_signal cancel;
        heard_.on_signal([&cancel](int number) {
            if (signals::asks_to_end(number))
                cancel.emit(asio::cancellation_type::terminal);
        });
        auto outcome = co_await locks_.async_acquire(
            how_.resource, wanted, asio::bind_cancellation_slot(cancel.slot(), as_result)
        );
        heard_.on_signal(nullptr);
        co_return std::move(outcome);
    }

    /// Gives back a lease that arrived together with the signal, or wasn't used because the command
    /// couldn't be run. Nothing has run, so nothing is kept.
    asio::awaitable<void> give_back_unused(lease held)
    {
        co_await held.async_release(as_result);
        if (how_.at_least > 0ms)
            co_await locks_.async_free(how_.resource, as_result);
    }

    /// Runs the child, and releases the resource once it is reaped.
    asio::awaitable<int> use(lease held)
    {
        int outcome = 0;
        bool ran = true;
        kill_at_.reset();
        // Handle an exception only after the release.
        try
        {
            outcome = co_await watch_over(held);
        }
        catch (const std::system_error& failure)
        {
            std::cerr << "redlock: " << failure.what() << '\n';
            const bool found = failure.code() != std::errc::no_such_file_or_directory;
            outcome = as_int(found ? status::not_run : status::not_found);
            ran = false;
        }
        heard_.on_signal(nullptr);
        if (!ran)
        {
            co_await give_back_unused(std::move(held));
            co_return outcome;
        }
        const auto [ec, released] = co_await held.async_release(as_result);
        if (how_.at_least > 0ms && (ec || released != release_outcome::released))
        {
            const bool barely = !ec && released == release_outcome::barely_kept;
            std::cerr << "redlock: " << how_.resource << " may be free before --at-least is over"
                      << (barely ? " if another node loses its data\n" : "\n");
        }
        co_return outcome;
    }

    /// Stops the child in time if the lease ends before it.
    asio::awaitable<int> watch_over(lease& held)
    {
        child process(
            {.command = how_.command,
             .added =
                 {{"REDLOCK_RESOURCE", how_.resource}, {"REDLOCK_FENCE", to_string(held.fence())}},
             .hidden = {"REDLOCK_NODES"}}
        );
        heard_.on_signal([&process, this](int number) {
            if (number != SIGCHLD)
                process.signal(number);
            change_.cancel();
        });
        const auto loss = std::make_shared<error_code>();
        const auto told = [loss, this](error_code ec) {
            *loss = ec;
            change_.cancel();
        };
        held.async_wait_lost(asio::bind_executor(context_.get_executor(), told));

        const char* why = nullptr;  // Why the child was asked to stop, if it was.
        while (!process.has_ended())
        {
            if (process.was_stopped_by_terminal())
                stop_with(process, held);
            // The deadline doesn't move once the child was asked to stop.
            const time_point deadline = kill_at_.value_or(held.valid_until() - kill_before);
            const bool revoked = *loss == error::revoked;
            const bool lost = held.expired() || (*loss && !revoked);
            if (!why && (revoked || lost || now() >= deadline + kill_before - stop_before_))
            {
                why = revoked ? "this holder was asked to stop" : "the lease was not extended";
                kill_at_ = deadline;
                process.signal(SIGTERM);
                process.signal(SIGCONT);
            }
            if (lost || now() >= deadline)
                process.signal(SIGKILL);
            const time_point next = why ? deadline : deadline + kill_before - stop_before_;
            change_.expires_at(std::max(next, now() + 10ms));
            co_await change_.async_wait(as_result);
        }
        co_await until_group_has_ended(process, held);
        const bool in_time = !why && !held.expired();
        if (!in_time)
            tell(why ? why : "the lease ended before the command did");
        co_return in_time ? process.exit_status() : as_int(status::lost);
    }

    /// After a signal, processes that the command started get time to end while the lease lasts.
    asio::awaitable<void> until_group_has_ended(const child& process, const lease& held)
    {
        if (!kill_at_ && heard_.asked_to_end() == 0)
            co_return;
        const time_point limit = kill_at_.value_or(held.valid_until() - kill_before);
        // The leader counts until it is reaped, so it is the last one if no other is left.
        while (process.has_others() && now() < limit)
        {
            change_.expires_at(std::min(limit, now() + 10ms));
            co_await change_.async_wait(as_result);
        }
    }

    /// The terminal has stopped the child. Nothing extends the lease until both continue.
    static void stop_with(child& process, const lease& held)
    {
        process.stop_with_it();
        if (held.expired())
            process.signal(SIGKILL);
        process.resume();
    }

    asio::awaitable<void> rest()
    {
        if (heard_.asked_to_end() != 0)
            co_return;
        std::uniform_int_distribution<std::int64_t> draw(
            how_.pause.count() / 2, how_.pause.count()
        );
        change_.expires_after(milliseconds(draw(random_)));
        heard_.on_signal([this](int number) {
            if (signals::asks_to_end(number))
                change_.cancel();
        });
        co_await change_.async_wait(as_result);
        heard_.on_signal(nullptr);
    }

    void tell(const char* what) const
    {
        std::cerr << "redlock: " << how_.resource << ": " << what << "; the command was stopped\n";
    }

    static time_point now() { return time_point::clock::now(); }

    asio::io_context& context_;
    client& locks_;
    const run_options& how_;
    milliseconds stop_before_;
    signals heard_;
    asio::steady_timer change_;
    diagnostics report_;
    std::optional<time_point> kill_at_;  ///< When a child that was asked to stop is killed.
    std::mt19937_64 random_{std::random_device()()};
};

int supervise(const options& given, asio::awaitable<int> (guardian::*what)())
{
    client_config config = make_config(given.nodes);
    const milliseconds stop_before = stop_before_of(given.run, config);
    config.log = log_without_waiting;
    // Raised by a reader that has gone, and by a terminal that stops background output.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGTTOU, SIG_IGN);
    asio::io_context context{1};
    client locks(context, std::move(config));
    locks.async_run(asio::detached);
    guardian by(context, locks, given.run, stop_before);
    int outcome = as_int(status::ours);
    std::exception_ptr failure;
    asio::co_spawn(context, (by.*what)(), [&](std::exception_ptr thrown, int ended) {
        failure = thrown;
        outcome = ended;
        // Give releases that are still under way a moment.
        locks.async_close([&context](error_code) { context.stop(); });
    });
    context.run();
    if (failure)
        std::rethrow_exception(failure);
    return outcome;
}

}  // namespace

int run(const options& given)
{
    return supervise(given, &guardian::run_once);
}

int lead(const options& given)
{
    return supervise(given, &guardian::run_again_and_again);
}

}  // namespace redlock::tool
