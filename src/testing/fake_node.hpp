#ifndef REDLOCK_SRC_TESTING_FAKE_NODE_HPP
#define REDLOCK_SRC_TESTING_FAKE_NODE_HPP

#include "node/node.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testing/fake_server.hpp"
#include "testing/world.hpp"

namespace redlock::testing {

/** What a fake node does with a question. By default, what an honest node does, at once.

    A made-up answer (`reply`, `error`) leaves the store alone. Commands run in the order they were
    sent, and answers come in that order too, as on one connection.
*/
class rule
{
public:
    /// Answers this, whatever the store says.
    rule& reply(vote answer, redlock::reason why = redlock::reason::none)
    {
        return with(made_up_, detail::reply{answer, why});
    }

    /// Answers with an error reply.
    rule& error(std::string text)
    {
        return reply(vote::refused, redlock::reason::error_reply)
            .with(made_up_->text, std::move(text));
    }

    /// Reports `held_for`, whatever the store says. For `verb::holder`.
    rule& held_for(milliseconds remaining)
    {
        return reply(vote::granted).with(made_up_->held_for, remaining);
    }

    /// Doesn't take the question: replies from within `ask`.
    rule& absent(redlock::reason why, error_code code = {})
    {
        const bool rejects = why == redlock::reason::rejected;
        reply(rejects ? vote::refused : vote::unknown, why).with(made_up_->code, code);
        return with(at_once_, true);
    }

    /// Answers this many times.
    rule& repeated(std::size_t answers) { return with(answers_, answers); }

    /// The answer comes this much later. What was asked happens at once.
    rule& after(milliseconds delay) { return with(answers_after_, delay); }

    /// What was asked, and the answer, happen this much later.
    rule& runs_after(milliseconds delay) { return with(runs_after_, delay); }

    /// The command is lost on the way, and there is no answer.
    rule& never() { return with(arrives_, false); }

    /// What was asked happens, but the answer is lost.
    rule& loses_answer() { return repeated(0); }

    /// The connection breaks when the question arrives and is back after `away`.
    rule& breaks_connection(milliseconds away) { return with(away_, away); }

    /// Applies to the next `count` questions only. Then the next rule applies, if there is one.
    rule& times(std::size_t count) { return with(uses_, count); }
    rule& once() { return times(1); }

private:
    friend class fake_node;

    static constexpr std::size_t always = std::numeric_limits<std::size_t>::max();

    template <class Part, class Value>
    rule& with(Part& part, Value value)
    {
        part = std::move(value);
        return *this;
    }

    std::optional<detail::reply> made_up_;
    std::optional<milliseconds> away_;
    milliseconds runs_after_{0};
    milliseconds answers_after_{0};
    std::size_t answers_ = 1;
    std::size_t uses_ = always;
    bool at_once_ = false;
    bool arrives_ = true;
};

/// One of the nodes' operations fails, whichever node it is. See `for_each_failure`.
class fail_nth
{
public:
    fail_nth(std::size_t n, rule failure) : left_(n), failure_(std::move(failure)) {}

    /// Whether the operation was reached.
    [[nodiscard]] bool reached() const noexcept { return left_ == 0; }

    /// Counts an operation. @return The rule for it, if it's the one to fail.
    [[nodiscard]] const rule* count() { return left_ > 0 && --left_ == 0 ? &failure_ : nullptr; }

private:
    std::size_t left_;
    rule failure_;
};

/// A question as a fake node got it.
struct asked_question
{
    std::size_t node;
    detail::verb what;
    std::string key;
    std::string id;
    milliseconds ttl;
    nanoseconds at;     ///< In the world's time.
    bool sent = false;  ///< Whether it was written to a connection.
};

/// What all nodes of a client were asked, in order.
using journal = std::vector<asked_question>;

/** A node without a server: an honest store, unless the script says otherwise.

    Answers are delivered from a handler that is posted to the strand, as by a parser, and never
    from within `ask()`. Scripts and states are set by the test while nothing runs.
*/
class fake_node final : public detail::node,
                        public fake_listener,
                        public std::enable_shared_from_this<fake_node>
{
public:
    /// @param server Other nodes, those of other clients, may share it.
    fake_node(
        std::size_t index,
        std::shared_ptr<world> time,
        std::shared_ptr<journal> log,
        std::shared_ptr<fake_server> server = std::make_shared<fake_server>()
    );

    // node
    void start(std::weak_ptr<owner> of) override;
    void stop() noexcept override;
    [[nodiscard]] std::optional<detail::reply> ask(detail::question_ptr asked) override;
    [[nodiscard]] node_status status() const override { return status_; }
    [[nodiscard]] nanoseconds shortest_round_trip() const noexcept override { return shortest_; }
    [[nodiscard]] std::chrono::microseconds round_trip() const noexcept override { return {}; }
    [[nodiscard]] std::size_t owed_releases() const noexcept override;

    /// Adds a rule for a verb. The rules of a verb apply one after the other; a rule without
    /// `times()` applies until the next one is added and is then forgotten.
    rule& on(detail::verb what);

    /// Forgets all rules.
    void be_honest() { rules_.clear(); }

    // fake_listener
    bool tell(const detail::news& what) override;

    void fail_with(std::shared_ptr<fail_nth> fuse) { fuse_ = std::move(fuse); }

    /// The state in which the node starts, instead of `ready`.
    void starts(node_state state, std::string because = {}, error_code code = {})
    {
        starts_as_ = {state, std::move(because), code};
    }

    /// The session changes its state: soon, on the strand. What waits for the answer of a broken
    /// connection fails; releases are kept and sent over the next one.
    void becomes(node_state state, std::string because = {}, error_code code = {});

    /// While its server is in a quarantine, the node is so too, and takes no questions.
    void sits_out_quarantines() { sits_out_ = true; }

    /// How long the session takes to end.
    void stops_after(milliseconds delay) { stops_after_ = delay; }

    [[nodiscard]] fake_guard& guard() noexcept { return server_->guard; }
    [[nodiscard]] fake_queues& queues() noexcept { return server_->queues; }
    [[nodiscard]] fake_store& store() noexcept { return server_->store; }
    [[nodiscard]] fake_server& server() noexcept { return *server_; }

private:
    struct flight;

    struct kept_question
    {
        detail::question_ptr asked;
        std::size_t in_journal;
    };

    struct change
    {
        node_state state;
        std::string because;
        error_code code;
    };

    template <class F>
    void later(nanoseconds delay, F what);

    [[nodiscard]] rule take_rule(detail::verb what);
    [[nodiscard]] std::optional<detail::reply> put_to_connection(kept_question asked);
    [[nodiscard]] detail::reply absent_reply() const;
    void keep(kept_question release);
    void send(kept_question asked, const rule& how);
    void arrive(const std::shared_ptr<flight>& command);
    void deliver(const std::shared_ptr<flight>& command);
    void break_connection(milliseconds away);
    void apply(change to);
    [[nodiscard]] milliseconds quarantine_left() const;
    void fail_all();
    void send_kept();

    std::size_t index_;
    std::string channel_;  ///< Of its client. Every node has a different one.
    std::shared_ptr<world> time_;
    std::shared_ptr<journal> log_;
    std::shared_ptr<fake_server> server_;
    std::map<detail::verb, std::deque<rule>> rules_;
    std::shared_ptr<fail_nth> fuse_;

    std::weak_ptr<owner> owner_;
    change starts_as_{node_state::ready, {}, {}};
    milliseconds stops_after_{0};
    bool sits_out_ = false;
    node_status status_;
    bool reconnects_ = false;                    ///< Its connection broke and will come back.
    nanoseconds shortest_ = nanoseconds::max();  ///< See `shortest_round_trip`.

    std::vector<kept_question> waiting_;   ///< For the first connection.
    std::vector<kept_question> releases_;  ///< For the next connection.
    std::vector<std::shared_ptr<flight>> in_flight_;
    nanoseconds last_arrival_{0};
    nanoseconds last_answer_{0};
    bool stopping_ = false;
};

}  // namespace redlock::testing

#endif
