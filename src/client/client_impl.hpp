#ifndef REDLOCK_SRC_CLIENT_CLIENT_IMPL_HPP
#define REDLOCK_SRC_CLIENT_CLIENT_IMPL_HPP

#include <redlock/client.hpp>
#include <redlock/config.hpp>
#include <redlock/diagnostics.hpp>

#include "client/bodies.hpp"
#include "client/hold.hpp"
#include "client/holds.hpp"
#include "client/lines.hpp"
#include "client/monitor.hpp"
#include "client/round.hpp"
#include "client/window.hpp"
#include "core/backoff.hpp"
#include "core/limits.hpp"
#include "core/smoothed.hpp"
#include "core/token_clock.hpp"
#include "loop/clock.hpp"
#include "loop/deadlines.hpp"
#include "loop/forks.hpp"
#include "loop/randomness.hpp"
#include "loop/suspension.hpp"
#include "loop/task.hpp"
#include "loop/turn.hpp"
#include "loop/waiting_list.hpp"
#include "node/node.hpp"

#include <boost/system/result.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

template <class T>
using result = boost::system::result<T>;

class client_service;

/// What a client works with, made by the caller so that tests can bring their own.
struct client_parts
{
    strand_type strand;
    std::shared_ptr<turn> end_of_turn;
    std::shared_ptr<clock> time;
    std::vector<std::shared_ptr<node>> nodes;
};

/** The state of one client and the steps its operations are made of.

    The operations themselves are coroutines in acquire.cpp, extend.cpp and release.cpp; run.cpp
    has what async_run does. Everything runs on the strand, except where noted.

    | state | how it gets there | operations |
    |---|---|---|
    | idle | constructed | wait for run, within their own limit |
    | running | async_run | work |
    | closing | async_close | fail; what is held is released |
    | stopping | cancel | fail; releases under way get one node timeout |
    | stopped | the last node session has ended | fail |
*/
class client_impl : public node::owner, public std::enable_shared_from_this<client_impl>
{
public:
    client_impl(asio::any_io_executor executor, client_config config, client_parts parts);
    ~client_impl();

    // Any thread.
    [[nodiscard]] const asio::any_io_executor& executor() const noexcept { return executor_; }
    [[nodiscard]] const strand_type& strand() const noexcept { return strand_; }

    [[nodiscard]] const client_config& config() const noexcept { return config_; }
    [[nodiscard]] core::instant now() const noexcept { return time_->now(); }
    [[nodiscard]] const clock& time() const noexcept { return *time_; }
    [[nodiscard]] std::vector<node_status> nodes() const;
    [[nodiscard]] metrics read_metrics() const noexcept
    {
        metrics result = events_.read();
        result.waiting = lines_.size();
        result.rounds_under_way = acquisitions_.under_way() + extensions_.under_way();
        result.waiting_for_place = acquisitions_.waiting() + extensions_.waiting();
        result.window = acquisitions_.places();
        return result;
    }
    [[nodiscard]] bodies& under_lock() noexcept { return bodies_; }
    void cancel() noexcept;

    /// Whether this is the process that made the client, and not one that it forked.
    [[nodiscard]] bool at_home() const noexcept { return home_.is_here(); }

    // The life of the client: client_impl.cpp, and run.cpp for what waits.
    [[nodiscard]] bool running() const noexcept { return state_ == state::running && at_home(); }

    /// Whether there may be connections, so that a release makes sense.
    [[nodiscard]] bool connected() const noexcept
    {
        return at_home() &&
               (state_ == state::running || state_ == state::closing || state_ == state::stopping);
    }
    [[nodiscard]] task<error_code> run();
    [[nodiscard]] task<error_code> wait_ready();

    /// Empty once the client runs; the error if it does not within `limit` or has stopped.
    [[nodiscard]] task<error_code> until_running(time_point limit);

    /// Refuses new operations. @return False if the client does not run.
    [[nodiscard]] bool begin_close();
    void begin_stop();

    /// In words, for an operation that found it so.
    [[nodiscard]] std::string why_not_running() const;

    /// A program that has ended its client knows that.
    [[nodiscard]] log_level level_of_not_running() const noexcept
    {
        return at_home() && state_ != state::idle ? log_level::info : log_level::error;
    }

    /// Tells the log why an operation ends at once: somebody has to change the program.
    void log_problem(
        log_level level,
        std::string_view operation,
        std::string_view resource,
        std::string_view problem
    ) const;

    /// Tells the log that an acquisition found no place. Seldom, however many there are.
    void log_overload(std::string_view resource, std::string_view problem);

    [[nodiscard]] deadlines& timer() const noexcept { return *deadlines_; }

    /// Lets `at` pass, or something wake `sleep`. Fails with operation_aborted.
    /// @param among Where it waits: with operations whose waits the end of the client ends.
    [[nodiscard]] task<error_code> sleep_until(pause& sleep, time_point at);
    [[nodiscard]] task<error_code> sleep_until(
        pause& sleep,
        time_point at,
        suspension::list& among
    );

    // Rounds: ask.cpp.
    [[nodiscard]] std::size_t node_count() const noexcept { return nodes_.size(); }

    /// Another attempt at what is wanted.
    /// @param above What its token must exceed, in guarded mode.
    [[nodiscard]] std::shared_ptr<const attempt> new_attempt(
        std::shared_ptr<const demand> wanted,
        fencing_token above
    );

    /// Whether acquisitions wait in the queues of the nodes.
    [[nodiscard]] bool queues() const noexcept { return guarded() && config_.waiting.queue; }

    /// When an acquisition arrives that waits there.
    [[nodiscard]] std::uint64_t arrival_now() const noexcept;

    /// How long a node has to keep a resource for this client. Zero: as long as for everybody.
    [[nodiscard]] milliseconds own_reservation() const noexcept;

    /// How long a question is on its way to nodes that are far away; zero if they are near. A token
    /// is drawn for the time at which it arrives: those of clients that are nearer overtake it
    /// otherwise, and a fence refuses it when it is its turn.
    [[nodiscard]] std::chrono::microseconds way() const noexcept;

    /// A round that is not put yet. Its time begins.
    /// @param says All but the serial and the stamp.
    [[nodiscard]] vote_round_ptr make_vote(wording says);

    /// Puts a round to all nodes, which have a node timeout for it.
    void put_to_all(const boost::intrusive_ptr<round>& asked);

    /// A round that is not sent: what the nodes say that are not ready.
    [[nodiscard]] vote_round_ptr ask_the_absent(std::shared_ptr<const attempt> about);

    /// Starts to release what an attempt may have left behind, on every node that was sent it.
    /// `ttl`: how long its keys may live from now.
    release_round_ptr release(vote_round& left_behind, milliseconds ttl, core::queue_move move);

    /// Lets the round wait for answers until then, in place of a node timeout.
    void set_deadline(round& asked, time_point until);

    [[nodiscard]] holds& held() noexcept { return held_; }
    [[nodiscard]] lines& waiting_for() noexcept { return lines_; }
    [[nodiscard]] acquisition_window& acquisitions() noexcept { return acquisitions_; }
    [[nodiscard]] extension_window& extensions() noexcept { return extensions_; }
    [[nodiscard]] monitor& events() noexcept { return events_; }
    [[nodiscard]] turn& end_of_turn() const noexcept { return *turn_; }

    /// Asks the nodes that denied `lost` how long the holder has left.
    [[nodiscard]] whole_round_ptr ask_holders(const vote_round& lost);

    /// Asks the nodes to wake whoever waits when the key changes.
    void watch_key(std::shared_ptr<const attempt> about);

    /// The acquisitions that sleep while nodes watch their keys. They are woken when a node is
    /// connected, because a new connection watches nothing.
    [[nodiscard]] suspension::list& watching() noexcept { return watching_.list(); }

    /// How often a node has been.
    [[nodiscard]] std::size_t connections() const noexcept { return connections_; }

    /// Leaves the queues of the nodes: nobody here waits for the key any more.
    void leave_queues(const std::shared_ptr<const attempt>& about);

    void on_wake(std::size_t node, std::string_view key) override;

    /// Waits until the round is decided. Fails with operation_aborted or not_running.
    [[nodiscard]] auto decided(round& asked) { return asked.wait(waiting_.list()); }

    /// The same for a release, which goes on when the client closes.
    [[nodiscard]] auto released(release_round& asked)
    {
        auto wait = asked.wait(releasing_.list());
        return release_wait<decltype(wait)>{wait, *this};
    }

    /// Whether nothing is held, and no operation waits for a release.
    [[nodiscard]] bool settled() const noexcept { return held_.size() == 0 && releasing_.empty(); }

    /// Waits until that is so. Fails with operation_aborted.
    [[nodiscard]] task<error_code> until_settled();

    /// Waits until no connected node owes an answer to a release, or until `limit`. Fails with
    /// operation_aborted.
    [[nodiscard]] task<error_code> until_released(time_point limit);

    /// When the keys have expired of all that was released until now.
    [[nodiscard]] time_point last_key_ends() const noexcept { return last_key_ends_; }

    /// Lets other handlers of the loop go first. Fails with operation_aborted.
    [[nodiscard]] task<error_code> let_others_run();

    /// To be called when a hold or a release has ended.
    void note_end();

    /// Whether a round that was lost could be won at once with another stamp. Learns the time of
    /// the nodes; raises `above` to the highest fence that may be exceeded.
    [[nodiscard]] bool correct_stamp(const vote_round& lost, fencing_token& above);

    /// Notes how long a round took, for the pace of retries.
    void note_duration(const round& asked, core::instant now) noexcept
    {
        round_time_.add(now.steady - asked.started().steady);
    }

    /// Upper bound of the first wait after a lost round.
    [[nodiscard]] core::nanoseconds first_delay() const noexcept;

    /// Writes the account of `asked`, the last of so many rounds, with what the holders' nodes said
    /// added (null: they were not asked).
    void write_report(
        diagnostics& report,
        std::size_t rounds,
        const vote_round& asked,
        const whole_round* holders
    ) const;

    [[nodiscard]] bool guarded() const noexcept { return config_.mode == mode::guarded; }

    /// The execution context is going away: destroys what waits in this client.
    void shut_down() noexcept;

    /// This is a copy in a child process: ends it, and closes its copies of the connections without
    /// a word on them, for they are the parent's.
    void disown();

private:
    enum class state
    {
        idle,
        running,
        closing,
        stopping,
        stopped,
    };

    template <class Round, class... More>
    [[nodiscard]] boost::intrusive_ptr<Round> make_round(wording says, More&&... more);
    [[nodiscard]] std::uint64_t stamp_for(verb what, const attempt& about) const noexcept;
    void put(std::size_t node, const boost::intrusive_ptr<round>& asked);
    void set_deadline(round& asked);
    [[nodiscard]] std::optional<std::string_view> resource_of(std::string_view key) const noexcept;

    /// The wait for a release, which is noted when it ends.
    template <class Wait>
    struct release_wait
    {
        Wait wait;
        client_impl& client;

        bool await_ready() const noexcept { return wait.await_ready(); }

        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> waiter) const
        {
            wait.await_suspend(waiter);
        }

        error_code await_resume() const
        {
            client.note_end();
            return wait.await_resume();
        }
    };

    [[nodiscard]] task<error_code> let_releases_out();
    [[nodiscard]] task<error_code> stop_nodes();

    // node::owner
    void on_node_change() override;
    void on_node_stopped() override;
    void on_next(std::size_t node, std::string_view key, milliseconds reserved) override;

    [[nodiscard]] std::size_t ready_nodes() const;
    void log_not_ready() const;

    asio::any_io_executor executor_;
    strand_type strand_;
    const client_config config_;
    std::shared_ptr<turn> turn_;
    std::shared_ptr<clock> time_;
    std::shared_ptr<deadlines> deadlines_;
    std::vector<std::shared_ptr<node>> nodes_;
    monitor events_;
    lines lines_;
    acquisition_window acquisitions_;
    extension_window extensions_;
    holds held_;
    bodies bodies_;
    const home home_;
    random_ids ids_;
    std::uint64_t last_serial_ = 0;  ///< Of the questions.
    core::smoothed round_time_;
    core::token_clock token_clock_;

    state state_ = state::idle;
    waiting_list waiting_;   ///< Operations. The end of the client ends their waits.
    waiting_list watching_;  ///< Those that sleep while nodes watch their key.
    std::size_t connections_ = 0;
    waiting_list releasing_;      ///< Those that release.
    waiting_list ready_waiting_;  ///< Those that wait for ready nodes.
    waiting_list run_waiting_;    ///< async_run.
    waiting_list settling_;       ///< Waits for `settled`.
    open_releases releases_;      ///< Releases that still lack an answer.
    time_point last_key_ends_{};  ///< Of those that were released.
    std::size_t running_nodes_ = 0;
    time_point next_overload_line_{};

    mutable std::mutex status_mutex_;
    std::vector<node_status> status_;

    client_service& service_;
};

}  // namespace redlock::detail

#endif
