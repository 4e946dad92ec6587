#include "node/redis_node.hpp"

#include "core/backoff.hpp"
#include "core/limits.hpp"
#include "core/one_line.hpp"
#include "core/quorum.hpp"
#include "core/smoothed.hpp"
#include "loop/randomness.hpp"
#include "node/verbs.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace redlock::detail {

namespace {

using namespace std::chrono_literals;

/// Bounds of the random pause before a node is tried again. The first ones are short, so that a
/// restarted node is back soon; the cap keeps a dead one from costing anything.
constexpr core::nanoseconds first_pause = 50ms;
constexpr core::nanoseconds longest_pause = 2s;

/// So many releases that were kept are sent by one handler.
constexpr std::size_t max_pending_at_once = 1024;

/// For a user to read.
std::string time_of_day(std::chrono::microseconds since_epoch)
{
    const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(since_epoch).count();
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    std::array<char, sizeof "23:59:59 UTC"> text{};
    std::strftime(text.data(), text.size(), "%H:%M:%S UTC", &parts);
    return text.data();
}

/// A release that the node has not confirmed.
struct pending_release
{
    question_ptr asked;
    time_point until;  ///< From then on the key has expired by itself.
};

/** The session with one server.

    | state | how it gets there | a question |
    |---|---|---|
    | connecting | started | waits for the connection |
    | ready | connected and vetted | is written |
    | quarantined | vetted, but it may have forgotten locks | only releases are written |
    | down | refused, lost, silent | fails at once, so that a dead node costs no time |
    | rejected | did not pass the vetting | is refused at once |

    From down and rejected a new link is tried after a pause. A quarantine ends by itself.
*/
class redis_node final : public node,
                         private redis_link::owner,
                         public std::enable_shared_from_this<redis_node>
{
public:
    redis_node(
        const ground& on,
        link_maker make_link,
        std::size_t index,
        const client_config& config
    )
        : ground_(on),
          make_link_(std::move(make_link)),
          index_(index),
          node_count_(config.nodes.size()),
          log_(config.log),
          pause_(on.time->make_alarm()),
          pauses_(first_pause, longest_pause),
          jitter_(static_cast<std::uint32_t>(random_bits())),
          status_{config.nodes[index].name(), node_state::connecting, {}}
    {
    }

    void start(std::weak_ptr<node::owner> of) override
    {
        owner_ = std::move(of);
        connect();
    }

    void stop() noexcept override
    {
        stopping_ = true;
        pause_->hurry();
        if (link_)
            link_->close();
    }

    std::optional<reply> ask(question_ptr asked) override
    {
        switch (status_.state)
        {
        case node_state::connecting: return wait_for_connection(std::move(asked));
        case node_state::ready: return write(std::move(asked));
        case node_state::quarantined:
            if (!rules_of(asked->what()).votes)
                return write(std::move(asked));
            return absent();
        case node_state::down:
        case node_state::rejected: break;
        }
        if (rules_of(asked->what()).outlives_link)
            keep(std::move(asked));
        return absent();
    }

    node_status status() const override { return status_; }

    std::size_t owed_releases() const noexcept override
    {
        const bool connected =
            status_.state == node_state::ready || status_.state == node_state::quarantined;
        if (!connected && !reconnects_)
            return 0;
        return pending_releases_.size() + (link_ ? link_->unanswered_releases() : 0);
    }

    std::chrono::microseconds round_trip() const noexcept override
    {
        return round_trip_.load(std::memory_order_relaxed);
    }

private:
    time_point now() const noexcept { return ground_.time->now().steady; }

    void connect()
    {
        const auto made = make_link_();
        link_ = made.get();
        made->start({shared_from_this(), static_cast<redis_link::owner*>(this)});
    }

    // redis_link::owner

    void on_wake(std::string_view key) override
    {
        if (const auto told = owner_.lock())
            told->on_wake(index_, key);
    }

    void on_next(std::string_view key, milliseconds reserved) override
    {
        if (const auto told = owner_.lock())
            told->on_next(index_, key, reserved);
    }

    void on_ready(admission what) override
    {
        pauses_.reset();
        status_.polls = std::move(what.polls);
        if (what.unmarked)
            wait_for_marker();
        else if (what.quarantine > milliseconds(0))
            on_quarantined(what.quarantine);
        else
            change(node_state::ready);
        for (const auto& asked : std::exchange(waiting_, {}))
        {
            if (!asked->wanted())
                continue;
            if (const auto answer = ask(asked))
                asked->on_reply(index_, *answer);
        }
        send_pending_releases();
    }

    /// The node gets a marker when a quorum of the list has passed the checks. Then its quarantine
    /// begins.
    void wait_for_marker()
    {
        quarantined_until_.reset();
        change(
            node_state::quarantined,
            reason::quarantined,
            "it is new or has lost its data, and does not vote until " +
                std::to_string(core::quorum_size(node_count_)) + " of the " +
                std::to_string(node_count_) + " nodes of the list have passed the checks"
        );
    }

    /// The node must not vote for so long. Until then it is not asked.
    void on_quarantined(milliseconds left) override
    {
        if (stopping_)
            return;  // An answer that was on its way. No timer must outlive the session.
        // One without an end was made by hand. It is asked again after a day.
        left = std::min(left, core::max_ttl);
        // Its own count may be a millisecond behind ours. Should it be more, it says so itself.
        left += milliseconds(1);
        quarantined_until_ = now() + left;
        change(
            node_state::quarantined,
            reason::quarantined,
            "it may have forgotten locks and does not vote for " + std::to_string(left.count()) +
                " ms; if it is new, run redlock_initialize or call async_initialize_nodes before "
                "the first client to skip this wait"
        );
        pause_->set(*quarantined_until_, [self = weak_from_this()]() {
            const auto alive = self.lock();
            if (alive && !alive->stopping_ && alive->status_.state == node_state::quarantined)
                alive->change(node_state::ready);
        });
    }

    /// It stays in its state: what it does not refuse works, and it may not refuse all keys.
    void on_refused(std::string words) override
    {
        status_.refuses = std::move(words);
        if (log_ && !stopping_)
        {
            const std::string line = "node " + status_.node;
            if (status_.refuses.empty())
                log_(log_level::info, line + " refuses no commands any more");
            else
                log_(log_level::error, line + " refuses commands: " + status_.refuses);
        }
        if (const auto told = owner_.lock())
            told->on_node_change();
    }

    void on_answered(core::nanoseconds round_trip) override
    {
        smoothed_.add(round_trip);
        round_trip_.store(
            std::chrono::duration_cast<std::chrono::microseconds>(smoothed_.value()),
            std::memory_order_relaxed
        );
        send_pending_releases();
    }

    /// Sends some of the releases that were kept, as far as there is room. The next ones follow the
    /// answers to these.
    void send_pending_releases()
    {
        std::size_t left = max_pending_at_once;
        while (left > 0 && !pending_releases_.empty() && link_->unanswered() < core::max_unanswered)
        {
            pending_release next = std::move(pending_releases_.front());
            pending_releases_.pop_front();
            if (now() < next.until)
            {
                link_->ask(std::move(next.asked));
                --left;
            }
        }
    }

    void on_end(link_end why) override
    {
        link_ = nullptr;
        const reason refused = why.refused.why;
        const bool down = refused == reason::none || refused == reason::unmarked;
        const node_state before =
            std::exchange(status_.state, down ? node_state::down : node_state::rejected);
        reconnects_ = before == node_state::ready || before == node_state::quarantined;
        status_.reason = refused == reason::none ? reason::down : refused;
        status_.code = why.code;
        status_.refuses.clear();
        tell_change(
            before, refused == reason::none ? why.code.message() + why.guess : words_of(why.refused)
        );
        const reply answer = absent();
        for (const auto& asked : std::exchange(waiting_, {}))
            asked->on_reply(index_, answer);
        if (stopping_)
            return stop_behind_completions();

        pause_->set(now() + pauses_.next(jitter_()), [self = shared_from_this()]() {
            if (self->stopping_)
                self->stopped();
            else
                self->connect();
        });
    }

    /// The text, and when the refusal ends. As it was told before: a second more or less would look
    /// like a change.
    std::string words_of(const refusal& refused) const
    {
        if (!refused.ends_in)
            return refused.text;
        if (status_.because.starts_with(refused.text))
            return status_.because;
        return refused.text + " until " + time_of_day(ground_.time->wall() + *refused.ends_in);
    }

    void on_lost_release(question_ptr lost) override
    {
        if (status_.state == node_state::ready || status_.state == node_state::quarantined)
            link_->ask(std::move(lost));
        else
            keep(std::move(lost));
    }

    /// The completions of what the link was asked are posted, and some use the client's clock: so
    /// the client must not end before them.
    void stop_behind_completions()
    {
        enter_later(ground_.strand, [self = shared_from_this()]() { self->stopped(); });
    }

    void stopped()
    {
        if (const auto told = std::exchange(owner_, {}).lock())
            told->on_node_stopped();
    }

    std::optional<reply> wait_for_connection(question_ptr asked)
    {
        if (waiting_.size() >= core::max_unanswered)
            return overloaded();
        waiting_.push_back(std::move(asked));
        return std::nullopt;
    }

    std::optional<reply> write(question_ptr asked)
    {
        if (link_->unanswered() < core::max_unanswered)
        {
            link_->ask(std::move(asked));
            return std::nullopt;
        }
        if (!rules_of(asked->what()).outlives_link)
            return overloaded();
        keep(std::move(asked));
        return std::nullopt;
    }

    /// Keeps a release for the next connection. The oldest makes room: its key expires first.
    void keep(question_ptr asked)
    {
        if (pending_releases_.size() == core::max_pending_releases)
            pending_releases_.pop_front();
        // Counted from now and not from the acquisition, for its SET may still be under way.
        const time_point until = now() + asked->ttl();
        pending_releases_.push_back({std::move(asked), until});
    }

    /// The answer of a node that is not there.
    reply absent() const
    {
        reply answer;
        answer.text = status_.because;
        switch (status_.state)
        {
        case node_state::rejected:
            answer.vote = vote::refused;
            answer.why = status_.reason;
            break;
        case node_state::quarantined:
            answer.vote = vote::refused;
            answer.why = status_.reason;
            answer.ready_in = quarantine_left();
            break;
        case node_state::connecting:
        case node_state::ready:
        case node_state::down:
            answer.why = reason::down;
            answer.code = status_.code;
            break;
        }
        return answer;
    }

    /// Nothing if it has not begun.
    std::optional<milliseconds> quarantine_left() const
    {
        if (!quarantined_until_)
            return std::nullopt;
        const auto left = std::chrono::ceil<milliseconds>(*quarantined_until_ - now());
        return std::max(left, milliseconds(0));
    }

    static reply overloaded()
    {
        reply answer;
        answer.why = reason::overloaded;
        return answer;
    }

    /// Logs a change of state, or of the reason for it, once.
    void change(node_state state, reason why = reason::none, std::string because = {})
    {
        status_.reason = why;
        status_.code = {};
        tell_change(std::exchange(status_.state, state), std::move(because));
    }

    void tell_change(node_state before, std::string because)
    {
        if (status_.state == before && status_.because == because)
            return;
        status_.because = std::move(because);
        // The errors of a network alternate. The log has one line for the time that a node is down.
        const bool still_down = before == node_state::down && status_.state == before;
        if (log_ && !stopping_ && !still_down)
            log_(level_of(status_.state), describe());
        if (const auto told = owner_.lock())
            told->on_node_change();
    }

    static log_level level_of(node_state state) noexcept
    {
        switch (state)
        {
        case node_state::connecting:
        case node_state::ready: break;
        case node_state::quarantined:
        case node_state::down: return log_level::warning;
        case node_state::rejected: return log_level::error;
        }
        return log_level::info;
    }

    std::string describe() const
    {
        std::string line = "node " + status_.node + " is " + to_string(status_.state);
        if (!status_.because.empty())
            line += ": " + status_.because;
        if (status_.state == node_state::ready && !status_.polls.empty())
            line += "; waiters have to poll it: " + core::on_one_line(status_.polls);
        return line;
    }

    ground ground_;
    link_maker make_link_;
    std::size_t index_;
    std::size_t node_count_;
    std::function<void(log_level, std::string_view)> log_;
    std::unique_ptr<alarm> pause_;  ///< Until the next connection, or the end of a quarantine.
    core::backoff pauses_;
    bool reconnects_ = false;  ///< It was connected, and no attempt has failed since.
    std::minstd_rand jitter_;

    std::weak_ptr<node::owner> owner_;  ///< Empty: it was told the end.
    node_status status_;
    core::smoothed smoothed_;
    std::atomic<std::chrono::microseconds> round_trip_{};  ///< The same, for any thread.
    std::optional<time_point> quarantined_until_;
    redis_link* link_ = nullptr;         ///< Null: none. It keeps this.
    std::vector<question_ptr> waiting_;  ///< For the first connection.
    std::deque<pending_release> pending_releases_;
    bool stopping_ = false;
};

}  // namespace

std::shared_ptr<node> make_redis_node(
    const ground& on,
    link_maker make_link,
    std::size_t index,
    const client_config& config
)
{
    return std::make_shared<redis_node>(on, std::move(make_link), index, config);
}

std::vector<std::shared_ptr<node>> make_redis_nodes(const ground& on, const client_config& config)
{
    const link_group group = make_link_group(config);
    std::vector<std::shared_ptr<node>> nodes;
    for (const node_config& each : config.nodes)
    {
        const std::size_t index = nodes.size();
        const auto names = std::make_shared<name_lookup>(each);
        auto make_link = [on, group, index, each, names]() {
            return make_redis_link(on, group, index, each, names);
        };
        nodes.push_back(make_redis_node(on, std::move(make_link), index, config));
    }
    return nodes;
}

}  // namespace redlock::detail
