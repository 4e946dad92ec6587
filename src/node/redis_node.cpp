#include "node/redis_node.hpp"

#include "core/limits.hpp"
#include "core/node_life.hpp"
#include "core/overlap.hpp"
#include "core/smoothed.hpp"
#include "loop/randomness.hpp"
#include "node/verbs.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace redlock::detail {

namespace {

/// The most kept releases that one handler sends.
constexpr std::size_t max_pending_at_once = 1024;

/// A release that the node hasn't confirmed.
struct pending_release
{
    question_ptr asked;
    time_point until;  ///< By then the key has expired.
};

/// The session with one node: its links and timers. Used on the strand only.
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
          log_(config.log),
          pause_(on.time->make_alarm()),
          jitter_(static_cast<std::uint32_t>(random_bits())),
          state_(
              config.nodes[index].name(),
              config.nodes.size(),
              core::may_fail_over(config.nodes[index])
          )
    {
    }

    void start(std::weak_ptr<node::owner> of) override
    {
        owner_ = std::move(of);
        connect();
    }

    void stop() noexcept override
    {
        state_.stop();
        pause_->hurry();
        if (link_)
            link_->close();
    }

    std::optional<reply> ask(question_ptr asked) override
    {
        if (state_.status().state == node_state::connecting)
            return wait_for_connection(std::move(asked));
        const verb_rules& rules = rules_of(asked->what());
        if (state_.takes(rules.votes))
            return write(std::move(asked));
        if (rules.outlives_link)
            keep(std::move(asked));
        return absent();
    }

    node_status status() const override { return state_.status(); }

    std::size_t owed_releases() const noexcept override
    {
        if (!state_.connected_soon())
            return 0;
        return pending_releases_.size() + (link_ ? link_->unanswered_releases() : 0);
    }

    core::nanoseconds shortest_round_trip() const noexcept override
    {
        return link_ ? link_->shortest_round_trip() : core::nanoseconds::max();
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

    void on_news(const news& told) override
    {
        if (const auto owner = owner_.lock())
            owner->on_news(index_, told);
    }

    void on_ready(admission what) override
    {
        state_.connect(std::move(what.polls));
        if (what.unmarked)
            tell(state_.await_marker());
        else if (what.quarantine > milliseconds(0))
            on_quarantined(what.quarantine);
        else
            tell(state_.admit());
        for (const auto& asked : std::exchange(waiting_, {}))
        {
            if (!asked->wanted())
                continue;
            if (const auto answer = ask(asked))
                asked->on_reply(index_, *answer);
        }
        send_pending_releases();
    }

    void on_quarantined(milliseconds remaining) override
    {
        if (state_.stopping())
            return;  // The answer was under way. No timer may outlive the session.
        const time_point from = now();
        tell(state_.quarantine(remaining, from));
        pause_->set(from + *state_.quarantine_left(from), [self = weak_from_this()]() {
            if (const auto alive = self.lock())
                alive->tell(alive->state_.end_quarantine());
        });
    }

    void on_refused(std::string words) override { tell(state_.refuse(std::move(words))); }

    void on_answered(core::nanoseconds round_trip) override
    {
        smoothed_.add(round_trip);
        round_trip_.store(
            std::chrono::duration_cast<std::chrono::microseconds>(smoothed_.value()),
            std::memory_order_relaxed
        );
        send_pending_releases();
    }

    /// Sends some of the kept releases if there is room. More are sent once these are answered.
    void send_pending_releases()
    {
        std::size_t budget = max_pending_at_once;
        while (budget > 0 && !pending_releases_.empty() &&
               link_->unanswered() < core::max_unanswered)
        {
            pending_release next = std::move(pending_releases_.front());
            pending_releases_.pop_front();
            if (now() < next.until)
            {
                link_->ask(std::move(next.asked));
                --budget;
            }
        }
    }

    void on_end(link_end why) override
    {
        // A node is away only once all ways to it were tried.
        const bool still_connects = why.may_lead_elsewhere && !state_.stopping() &&
                                    state_.status().state == node_state::connecting;
        if (!still_connects)
            lose(why);
    }

    void on_gone() override
    {
        link_ = nullptr;
        if (state_.stopping())
            return stop_behind_completions();

        pause_->set(now() + state_.pause(jitter_()), [self = shared_from_this()]() {
            if (!self->state_.stopping())
                return self->connect();
            self->fail_waiting();
            self->stopped();
        });
    }

    void lose(const link_end& why)
    {
        tell(
            why.refused ? state_.reject(why.refused, ground_.time->wall())
                        : state_.lose(why.code, why.guess)
        );
        fail_waiting();
    }

    /// Answers what waited for the first connection.
    void fail_waiting()
    {
        const reply answer = absent();
        for (const auto& asked : std::exchange(waiting_, {}))
            asked->on_reply(index_, answer);
    }

    void on_lost_release(question_ptr lost) override { keep(std::move(lost)); }

    /// The completions of the link's questions are posted, and some use the client's clock, so the
    /// client must not end before them.
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
            return reply{vote::unknown, reason::overloaded};
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
            return reply{vote::unknown, reason::overloaded};
        keep(std::move(asked));
        return std::nullopt;
    }

    /// Keeps a release for the next connection. Drops the oldest to make room: its key expires
    /// first.
    void keep(question_ptr asked)
    {
        if (pending_releases_.size() == core::max_pending_releases)
            pending_releases_.pop_front();
        // Count from now and not from the acquisition, because its SET may still be under way.
        const time_point until = now() + asked->ttl();
        pending_releases_.push_back({std::move(asked), until});
    }

    /// The answer for a node that can't be asked.
    reply absent() const
    {
        const node_status& is = state_.status();
        const vote counts_as = state_.absent_vote();
        const reason why = counts_as == vote::refused ? is.reason : reason::down;
        reply answer{counts_as, why, is.code, is.because};
        if (why == reason::quarantined)
            answer.ready_in = state_.quarantine_left(now());
        return answer;
    }

    void tell(const core::node_news& what)
    {
        if (log_ && !what.line.empty())
            log_(what.level, what.line);
        if (const auto told = what.changed ? owner_.lock() : nullptr)
            told->on_node_change();
    }

    ground ground_;
    link_maker make_link_;
    std::size_t index_;
    std::function<void(log_level, std::string_view)> log_;
    std::unique_ptr<alarm> pause_;  ///< Until the next connection, or the end of a quarantine.
    std::minstd_rand jitter_;

    std::weak_ptr<node::owner> owner_;  ///< Empty once it was told the end.
    core::node_life state_;
    core::smoothed smoothed_;
    std::atomic<std::chrono::microseconds> round_trip_{};  ///< The same, for any thread.
    redis_link* link_ = nullptr;                           ///< Null if none. It keeps this.
    std::vector<question_ptr> waiting_;                    ///< For the first connection.
    std::deque<pending_release> pending_releases_;
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

node_list make_redis_nodes(const ground& on, const client_config& config)
{
    const link_group group = make_link_group(config);
    node_list nodes;
    for (const node_config& each : config.nodes)
    {
        const std::size_t index = nodes.size();
        const auto names = std::make_shared<name_lookup>(each);
        auto make_link = [on, group, index, each, names]() {
            const auto& sentinels = group.sentinels[index];
            if (sentinels)
                return make_redis_link(on, group, index, each, sentinels);
            return make_redis_link(on, group, index, each, names);
        };
        nodes.push_back(make_redis_node(on, std::move(make_link), index, config));
    }
    return nodes;
}

}  // namespace redlock::detail
