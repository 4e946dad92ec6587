#ifndef REDLOCK_SRC_CLIENT_LIFE_HPP
#define REDLOCK_SRC_CLIENT_LIFE_HPP

#include <redlock/config.hpp>
#include <redlock/error.hpp>

#include "client/client_loop.hpp"
#include "client/round.hpp"
#include "loop/forks.hpp"
#include "loop/suspension.hpp"
#include "loop/task.hpp"
#include "loop/waiting_list.hpp"

#include <coroutine>
#include <cstdint>
#include <string>

namespace redlock::detail {

/** The states of a client, and the waits that they end.

    | state | how it gets there | operations |
    |---|---|---|
    | idle | constructed | wait for run, within their own limit |
    | running | async_run | work |
    | closing | async_close | fail; what is held is released |
    | stopping | cancel | fail; releases under way get one node timeout, see run.cpp |
    | stopped | the last node session has ended | fail |

    Used on the strand only.
*/
class life
{
public:
    explicit life(const client_loop& loop);

    /// Whether this is the process that made the client, and not one that it forked. Any thread.
    [[nodiscard]] bool at_home() const noexcept { return home_.is_here(); }

    [[nodiscard]] bool idle() const noexcept { return state_ == state::idle && at_home(); }
    [[nodiscard]] bool running() const noexcept { return state_ == state::running && at_home(); }
    [[nodiscard]] bool closing() const noexcept { return state_ == state::closing; }

    /// Whether there may be connections, so that a release makes sense.
    [[nodiscard]] bool connected() const noexcept
    {
        return at_home() && (running() || closing() || state_ == state::stopping);
    }

    /// Why an operation found that the client isn't running.
    struct absence
    {
        std::string why;
        log_level level;  ///< Lower if the program ended the client itself.
    };
    [[nodiscard]] absence why_not_running() const;

    /// Lets operations work. @return Why it can't run. Empty: it runs.
    [[nodiscard]] error_code begin();

    /// Refuses new operations. @return False if the client isn't running.
    [[nodiscard]] bool begin_close();
    void begin_stop();
    void end();

    /// Empty once the client runs; the error if it doesn't within `limit` or has stopped.
    [[nodiscard]] task<error_code> until_running(time_point limit);

    /// Waits until `at`, or until something wakes `sleep`. Fails with operation_aborted.
    /// @param among Where it waits: with operations whose waits the end of the client ends.
    [[nodiscard]] task<error_code> sleep_until(pause& sleep, time_point at);
    [[nodiscard]] task<error_code> sleep_until(
        pause& sleep,
        time_point at,
        suspension::list& among
    );

    /// Lets other handlers of the loop go first. Fails with operation_aborted.
    [[nodiscard]] task<error_code> let_others_run();

    /// Waits until the round is decided. Fails with operation_aborted or not_running.
    [[nodiscard]] auto until_decided(round& asked) { return asked.wait(operations_.list()); }

    /// The same for a release, which continues when the client closes.
    [[nodiscard]] auto until_confirmed(release_round& asked)
    {
        auto wait = asked.wait(releasing_.list());
        return release_wait<decltype(wait)>{wait, *this};
    }

    /// Whether an operation waits for a release.
    [[nodiscard]] bool releases() const noexcept { return !releasing_.empty(); }

    /// A hold or the wait for a release has ended.
    void note_end();

    // Where operations wait, by what wakes them.
    [[nodiscard]] waiting_list& for_connections() noexcept { return for_connections_; }
    [[nodiscard]] waiting_list& for_nodes() noexcept { return for_nodes_; }
    [[nodiscard]] waiting_list& for_ends() noexcept { return for_ends_; }
    [[nodiscard]] waiting_list& for_run() noexcept { return for_run_; }

    /// Destroys what waits. For the end of the execution context.
    void shut_down() noexcept;

private:
    enum class state : std::uint8_t
    {
        idle,
        running,
        closing,
        stopping,
        stopped,
    };

    /// The wait for a release, which is noted when it ends.
    template <class Wait>
    struct release_wait
    {
        Wait wait;
        life& of;

        bool await_ready() const noexcept { return wait.await_ready(); }

        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> waiter) const
        {
            wait.await_suspend(waiter);
        }

        error_code await_resume() const
        {
            of.note_end();
            return wait.await_resume();
        }
    };

    [[nodiscard]] bool over() const noexcept
    {
        return state_ == state::stopping || state_ == state::stopped;
    }

    const client_loop& loop_;
    const home home_;
    state state_ = state::idle;
    waiting_list operations_;       ///< The end of the client ends their waits.
    waiting_list for_connections_;  ///< Those that sleep while nodes watch their key.
    waiting_list releasing_;        ///< Those that release.
    waiting_list for_nodes_;        ///< async_wait_ready.
    waiting_list for_ends_;         ///< async_close.
    waiting_list for_run_;          ///< async_run.
};

}  // namespace redlock::detail

#endif
