#include <redlock/client.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/error.hpp>
#include <redlock/holding.hpp>
#include <redlock/lead.hpp>
#include <redlock/lease.hpp>
#include <redlock/release_outcome.hpp>
#include <redlock/with_lock.hpp>

#include "core/limits.hpp"
#include "tool/commands.hpp"
#include "tool/job.hpp"
#include "tool/printing.hpp"
#include "tool/signals.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <functional>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
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
    const core::lifetime lives{how.ttl, how.grace, config.clock_drift};
    const milliseconds longest = core::longest_stop_before(lives, config.node_timeout);
    const milliseconds chosen = how.stop_before.value_or(std::min(how.ttl / 3, longest));
    if (chosen >= kill_before && chosen <= longest)
        return chosen;
    throw std::invalid_argument(
        "--stop-before is " + std::to_string(chosen.count()) + " ms, must be " +
        std::to_string(kill_before.count()) + " to " + std::to_string(longest.count()) +
        " ms, which is 2/3 of --ttl minus the clock drift of --ttl and --grace and two "
        "--node-timeout; give a longer --ttl"
    );
}

/// Writes the client's warnings and errors to stderr unless that would block, because blocking
/// could keep the child alive beyond its lease.
void log_without_waiting(log_level level, std::string_view line)
{
    const background_output allowed;
    ::pollfd output{STDERR_FILENO, POLLOUT, 0};
    if (level != log_level::info && ::poll(&output, 1, 0) == 1 && (output.revents & POLLOUT) != 0)
        log_to_stderr(level, line);
}

/// As a shell ends if it can't run a command.
int say_not_run(const std::system_error& why)
{
    std::cerr << "redlock: " << why.what() << '\n';
    const bool found = why.code() != std::errc::no_such_file_or_directory;
    return as_int(found ? status::not_run : status::not_found);
}

/// Ends leading from within a term.
struct end_of_leading
{
};

/// Runs a command under the locks of `with_lock` and `lead`, as their body.
class guardian
{
public:
    guardian(asio::io_context& in, client& locks, const run_options& how, milliseconds stop_before)
        : locks_(locks),
          how_(how),
          name_(shown(how.resource)),
          stop_before_(stop_before),
          heard_(in),
          change_(in)
    {
        heard_.on_signal([this](int number) { on_signal(number); });
    }

    /// @return The exit status of `run`.
    asio::awaitable<int> run_once()
    {
        if (heard_.asked_to_end() != 0)
            co_return 128 + heard_.asked_to_end();
        acquire_options wanted;
        wanted.ttl = how_.ttl;
        wanted.wait = how_.try_once ? 0ms : how_.wait.value_or(forever);
        wanted.hold_max = forever;
        wanted.stop_before = stop_before_;
        wanted.grace = how_.grace;
        wanted.at_least = how_.at_least;
        wanted.note = how_.note;
        wanted.report = &report_;
        error_code refused;
        try
        {
            co_return co_await with_lock(locks_, how_.resource, wanted, std::ref(*this));
        }
        catch (const boost::system::system_error& failure)
        {
            if (begun_)
                co_return as_int(status::lost);
            refused = failure.code();
        }
        if (heard_.asked_to_end() != 0)
            co_return 128 + heard_.asked_to_end();
        // If the user chose the status, that is enough of an answer: cron would mail the words.
        if (refused == error::contended && how_.held_status != as_int(status::held))
            co_return how_.held_status;
        co_await say_why_not(refused);
        co_return refused == error::contended ? how_.held_status : as_int(status::ours);
    }

    /// Ends when it is asked to, or with an error that waiting doesn't fix.
    asio::awaitable<int> run_again_and_again()
    {
        lead_options wanted;
        wanted.ttl = how_.ttl;
        wanted.stop_before = stop_before_;
        wanted.grace = how_.grace;
        wanted.note = how_.note;
        wanted.pause = how_.pause;
        // The command is killed before the deadline, and this process isn't.
        wanted.watchdog = false;
        if (heard_.asked_to_end() != 0)
            co_return 128 + heard_.asked_to_end();
        const auto body = [this](term& now) -> asio::awaitable<void> {
            last_ = co_await watch_over(now.held());
            if (heard_.asked_to_end() != 0 || interrupted_)
                throw end_of_leading();
        };
        try
        {
            co_await redlock::lead(locks_, how_.resource, wanted, body);
        }
        catch (const end_of_leading&)
        {
            co_return last_;
        }
        catch (const boost::system::system_error&)
        {
            if (heard_.asked_to_end() == 0)
                throw;
        }
        co_return 128 + heard_.asked_to_end();
    }

    /// The body of `with_lock`.
    asio::awaitable<int> operator()(lease& held)
    {
        const keeping_nothing unless_begun(*this, held);
        const int outcome = co_await watch_over(held);
        if (outcome != 0 && how_.free_on_failure)
            detail::keep_nothing(held);
        else if (how_.at_least > 0ms && begun_)
            co_await release(held);
        co_return outcome;
    }

    /// What ends the wait for the resource.
    [[nodiscard]] asio::cancellation_slot cancelled_by() noexcept { return cancel_.slot(); }

private:
    void on_signal(int number)
    {
        if (running_)
        {
            running_->on_signal(number);
            change_.cancel();
        }
        else if (signals::asks_to_stop(number))
            signals::stop(number, false);
        else if (signals::asks_to_end(number))
            cancel_.emit(asio::cancellation_type::terminal);
    }

    asio::awaitable<void> say_why_not(error_code ec)
    {
        if (ec == error::contended)
        {
            const auto [failure, seen] = co_await locks_.async_inspect(how_.resource, as_result);
            if (!failure && seen.state == holding_state::kept)
            {
                std::cerr << "redlock: " << name_
                          << " isn't held, but its last holder keeps it for "
                          << in_words(seen.remaining) << " by --at-least; see redlock free\n";
                co_return;
            }
        }
        std::cerr << "redlock: " << name_ << ": " << ec.message() << " (" << report_ << ")\n";
    }

    /// Says so if the resource isn't kept for as long as it should be.
    asio::awaitable<void> release(lease& held)
    {
        const auto [ec, released] = co_await held.async_release(
            asio::bind_cancellation_slot(asio::cancellation_slot(), as_result)
        );
        if (!ec && released == release_outcome::released)
            co_return;
        const bool barely = !ec && released == release_outcome::barely_kept;
        std::cerr << "redlock: " << name_ << " may be free before --at-least is over"
                  << (barely ? " if another node loses its data\n" : "\n");
    }

    /// Stops the command in time if the lease ends before it. @return Its exit status, or 124.
    asio::awaitable<int> watch_over(const lease& held)
    {
        // The end of the lease is looked at, not thrown: the command has to end first.
        co_await asio::this_coro::throw_if_cancelled(false);
        const auto cancelled = co_await asio::this_coro::cancellation_state;
        if (heard_.asked_to_end() != 0)
            co_return 128 + heard_.asked_to_end();
        job command(
            {.command = how_.command,
             .added =
                 {{"REDLOCK_RESOURCE", how_.resource}, {"REDLOCK_FENCE", to_string(held.fence())}},
             .hidden = {"REDLOCK_NODES"}},
            name_,
            [&held]() { return !held.expired(); }
        );
        begun_ = true;
        const entry runs(*this, command);
        const char* why = nullptr;           // Why it was asked to stop, if it was.
        std::optional<time_point> deadline;  // When it is killed then.
        while (!command.has_ended())
        {
            const time_point end = deadline.value_or(held.valid_until() - kill_before);
            const bool told = cancelled.cancelled() != asio::cancellation_type::none;
            if (!why && command.waits_in_vain())
                why = "the command can't have the terminal";
            else if (!why && (told || now() >= end + kill_before - stop_before_))
                why =
                    held.revoked() ? "this holder was asked to stop" : "the lease was not extended";
            if (why && !deadline)
            {
                deadline = end;
                command.signal(SIGTERM);
            }
            if (held.expired() || now() >= end)
                command.signal(SIGKILL);
            const time_point next = why ? end : end + kill_before - stop_before_;
            change_.expires_at(std::max(next, now() + 10ms));
            co_await change_.async_wait(as_result);
        }
        interrupted_ = command.was_interrupted();
        co_await until_group_has_ended(command, deadline, held);
        const bool in_time = !why && !held.expired();
        if (!in_time)
            tell(why ? why : "the lease ended before the command did");
        co_return in_time ? command.exit_status() : as_int(status::lost);
    }

    /// After a signal, processes that the command started get time to end while the lease lasts.
    asio::awaitable<void> until_group_has_ended(
        const job& command,
        std::optional<time_point> deadline,
        const lease& held
    )
    {
        co_await asio::this_coro::throw_if_cancelled(false);
        if (!deadline && heard_.asked_to_end() == 0)
            co_return;
        const time_point limit = deadline.value_or(held.valid_until() - kill_before);
        // The leader counts until it is reaped, so it is the last one if no other is left.
        while (command.has_others() && now() < limit)
        {
            change_.expires_at(std::min(limit, now() + 10ms));
            co_await change_.async_wait(as_result);
        }
    }

    /// If the command wasn't run, its resource isn't kept.
    class keeping_nothing
    {
    public:
        keeping_nothing(const guardian& by, const lease& held) noexcept : by_(by), held_(held) {}
        keeping_nothing(const keeping_nothing&) = delete;
        keeping_nothing& operator=(const keeping_nothing&) = delete;

        ~keeping_nothing()
        {
            if (!by_.begun_)
                detail::keep_nothing(held_);
        }

    private:
        const guardian& by_;
        const lease& held_;
    };

    /// A command that runs gets the signals.
    class entry
    {
    public:
        entry(guardian& of, job& command) noexcept : of_(of) { of.running_ = &command; }
        entry(const entry&) = delete;
        entry& operator=(const entry&) = delete;
        ~entry() { of_.running_ = nullptr; }

    private:
        guardian& of_;
    };

    void tell(const char* what) const
    {
        const background_output allowed;
        std::cerr << "redlock: " << name_ << ": " << what << "; the command was stopped\n";
    }

    static time_point now() { return time_point::clock::now(); }

    client& locks_;
    const run_options& how_;
    std::string name_;  ///< Of the resource, for messages.
    milliseconds stop_before_;
    signals heard_;
    asio::cancellation_signal cancel_;
    asio::steady_timer change_;
    job* running_ = nullptr;
    diagnostics report_;
    bool begun_ = false;        ///< The command was run, at least once.
    int last_ = 0;              ///< The exit status of the last term.
    bool interrupted_ = false;  ///< The keys of the terminal have ended the command.
};

int supervise(const options& given, asio::awaitable<int> (guardian::*what)())
{
    client_config config = make_config(given.nodes);
    const milliseconds stop_before = stop_before_of(given.run, config);
    config.log = log_without_waiting;
    std::signal(SIGPIPE, SIG_IGN);  // Raised by a reader that has gone.
    asio::io_context context{1};
    client locks(context, std::move(config));
    locks.async_run(asio::detached);
    guardian by(context, locks, given.run, stop_before);
    int outcome = as_int(status::ours);
    std::exception_ptr failure;
    const auto ended = [&](const std::exception_ptr& thrown, int with) {
        failure = thrown;
        outcome = with;
        // Give releases that are still under way a moment.
        locks.async_close([&context](error_code) { context.stop(); });
    };
    asio::co_spawn(context, (by.*what)(), asio::bind_cancellation_slot(by.cancelled_by(), ended));
    context.run();
    if (!failure)
        return outcome;
    try
    {
        std::rethrow_exception(failure);
    }
    catch (const std::system_error& problem)
    {
        return say_not_run(problem);
    }
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
