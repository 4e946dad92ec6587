#ifndef REDLOCK_SRC_NODE_NODE_HPP
#define REDLOCK_SRC_NODE_NODE_HPP

#include <redlock/detail/demand.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/error.hpp>
#include <redlock/fencing.hpp>
#include <redlock/node_status.hpp>
#include <redlock/note.hpp>
#include <redlock/time.hpp>
#include <redlock/vote.hpp>

#include "core/instant.hpp"
#include "core/queue_place.hpp"
#include "loop/strand.hpp"

#include <boost/assert.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>

#include <array>
#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::detail {

/// What a node is asked to do with a key.
enum class verb : std::uint8_t
{
    acquire,  ///< Set the key to our attempt id if it does not exist. Granted or denied.
    extend,   ///< Extend the key's ttl if it is ours and shorter, or set it again if it is gone.
    restore,  ///< Complete a key that an extension has set again. Granted or denied.
    release,  ///< Delete the key if it is ours. Granted: deleted. Denied: not there, or not ours.
    undo,     ///< Release behind an acquisition that owes its answer. Leaves no tombstone.
    finish,   ///< Release a hold that was extended, so that nothing sets its key again.
    holder,   ///< Say how long the key has left. Granted, with `reply::held_for`.
    track,    ///< The same as `holder`, and wake us when the key changes.
    leave,    ///< Leave the key's queue, and leave a reservation to the next. Granted.
    inspect,  ///< Return the key's value, the time it has left and who waits. Granted.
    revoke,   ///< Mark a hold as not to be extended. Granted, with `reply::held_for`, or denied.
    keep,     ///< Release the key, but keep it until a time. Granted: kept, or past that time.
    free,     ///< Delete the key if it is only kept, not a later hold's. Granted or denied.
};

inline constexpr std::size_t verb_count = 13;

/// The unique value of one round: 20 random bytes in hexadecimal.
using attempt_id = std::array<char, 40>;

/// What an acquisition asks for, and the value to which one of its rounds sets the key. Shared by
/// all questions about it.
struct attempt
{
    std::shared_ptr<const demand> of;
    attempt_id id;
    fencing_token token;  ///< Empty in plain mode.
};

/// A node's answer to a question, from the code that read it to the report.
struct reply
{
    redlock::vote vote = redlock::vote::unknown;
    redlock::reason why = redlock::reason::none;
    error_code code{};                       ///< The network's error behind a failure.
    std::string text{};                      ///< The server's words, or the value of the key.
    std::optional<milliseconds> held_for{};  ///< `forever` for a key without a ttl.
    std::optional<milliseconds> ready_in{};  ///< How long the quarantine lasts.
    fencing_token fence{};                   ///< Recorded by the node, and not lower than ours.
    std::optional<std::size_t> position{};   ///< In the queue of the node, from 1.
    std::size_t waiting = 0;                 ///< Clients in that queue, for an inspection.

    /// The node's clock, since the epoch. In every answer of a guarded script except a grant.
    std::optional<std::chrono::microseconds> node_time{};

    /// From the start of the round, which records it if someone wants to know.
    std::optional<std::chrono::microseconds> round_trip{};

    /// Whether a report needs more of it than the vote and the reason.
    [[nodiscard]] bool says_more() const noexcept
    {
        return code || !text.empty() || held_for || ready_in || fence || position || node_time;
    }
};

/// One bit for each node of the configuration.
using node_set = std::bitset<16>;

/// What a question says about its client's place in a node's queue.
struct queue_entry
{
    core::queue_move move = core::queue_move::none;
    std::uint64_t arrival = 0;  ///< Since when it waits, in microseconds since the epoch.

    /// How long a node is to keep the resource for the client once it has woken it. Zero: as long
    /// as for all others.
    milliseconds reservation{0};
};

/// A note that a holder has changed. Has linkage because it is part of a question.
struct announcement
{
    redlock::note text;
    std::uint64_t stamp;  ///< When, by the nodes' time. A later note stays.
};

/// The words of a question, the same for each node.
struct wording
{
    std::uint64_t serial = 0;  ///< Unique among the questions of the client.
    verb what = verb::acquire;
    std::shared_ptr<const detail::attempt> attempt;

    /// How long the key may live from now: the ttl to set, or what is left of a key to delete.
    milliseconds ttl{0};

    /// In guarded mode, the time that it claims, which answers repeat: the token, or the time of an
    /// extension, a revocation or a release that keeps the resource.
    std::uint64_t stamp = 0;

    queue_entry entry{};
    milliseconds at_least{0};  ///< From the token on. Only for `verb::keep`.

    /// What an extension announces, or a restored key has. Null: nothing, or the note of the
    /// acquisition.
    std::shared_ptr<const announcement> announced{};
};

/** One question, put to several nodes with the same bytes, and the place where the answers go.

    Shared with the nodes that haven't answered yet: a node that answers late, or never, still finds
    its question.

    On the strand it is kept by `question_ptr`, which counts without atomic operations. With a
    `shared_ptr` for each node those took a sixth of the CPU of an acquire-release pair. Objects on
    other threads keep it by `shared()`.
*/
class question
{
public:
    explicit question(wording says) : says_(std::move(says)) {}

    question(const question&) = delete;
    question& operator=(const question&) = delete;

    [[nodiscard]] const wording& says() const noexcept { return says_; }
    [[nodiscard]] std::uint64_t serial() const noexcept { return says_.serial; }
    [[nodiscard]] verb what() const noexcept { return says_.what; }
    [[nodiscard]] const std::shared_ptr<const detail::attempt>& attempt() const noexcept
    {
        return says_.attempt;
    }
    [[nodiscard]] std::string_view key() const noexcept { return attempt()->of->key; }
    [[nodiscard]] std::string_view id() const noexcept
    {
        return {attempt()->id.data(), attempt()->id.size()};
    }
    [[nodiscard]] milliseconds ttl() const noexcept { return says_.ttl; }
    [[nodiscard]] std::uint64_t stamp() const noexcept { return says_.stamp; }
    [[nodiscard]] const queue_entry& entry() const noexcept { return says_.entry; }

    /// Whether it is put by the guarded scripts.
    [[nodiscard]] bool guarded() const noexcept { return static_cast<bool>(attempt()->token); }

    /** Takes the answer of one node.

        Called while the node's replies are read. So it only records, and defers everything else to
        the end of the turn.
    */
    virtual void on_reply(std::size_t node, const reply& answer) noexcept = 0;

    /// Whether an answer still matters. If not, a question that isn't written yet can be dropped.
    [[nodiscard]] virtual bool wanted() const noexcept = 0;

    /// A node is about to write the question. From now on it may have an effect there.
    void mark_sent(std::size_t node) noexcept
    {
        heard_ -= sent_.test(node) && !owing_.test(node);
        sent_.set(node);
        owing_.set(node);
    }

    /// The nodes on which the question may have had an effect.
    [[nodiscard]] const node_set& sent() const noexcept { return sent_; }

    /// The nodes that were sent it and have neither answered nor lost the connection.
    [[nodiscard]] const node_set& owing() const noexcept { return owing_; }

    /// How many nodes owe no answer to what they were sent.
    [[nodiscard]] std::size_t heard() const noexcept { return heard_; }

    /// For objects that may be destroyed on any thread.
    [[nodiscard]] const std::shared_ptr<question>& shared() const noexcept { return self_; }

    /// Keeps `made` for as long as anything on the strand does.
    template <class Question>
    [[nodiscard]] static boost::intrusive_ptr<Question> keep(std::shared_ptr<Question> made)
    {
        Question& kept = *made;
        kept.self_ = std::move(made);
        return &kept;
    }

    friend void intrusive_ptr_add_ref(question* kept) noexcept
    {
        BOOST_ASSERT(kept->self_);
        ++kept->users_;
    }

    friend void intrusive_ptr_release(question* kept) noexcept
    {
        if (--kept->users_ == 0)
            const auto last = std::move(kept->self_);
    }

protected:
    ~question() = default;

    /// A node has answered, late or not.
    void mark_answered(std::size_t node) noexcept
    {
        heard_ += owing_.test(node);
        owing_.reset(node);
    }

private:
    wording says_;
    node_set sent_;
    node_set owing_;
    std::size_t heard_ = 0;
    std::size_t users_ = 0;           ///< On the strand.
    std::shared_ptr<question> self_;  ///< Set while there are any.
};

/// Keeps a question. Used on the strand only.
using question_ptr = boost::intrusive_ptr<question>;

/// What a node tells its client without being asked. A new kind needs a channel in guard.hpp, which
/// the vetting subscribes to; a line in redis_link.cpp, which reads what comes on any other channel
/// as `free`; a script that publishes it; and somebody whom client_impl.cpp tells.
struct news
{
    enum class kind : std::uint8_t
    {
        free,     ///< The key may be free and reserved for this client.
        changed,  ///< The key, which the node was asked to track, has changed. It no longer is.
        next,     ///< It is reserved for another client for `number` ms, and this client is next.
        revoked,  ///< Its hold with the token `number` is revoked. Any node may report it.
    };

    kind what;
    std::string_view key;
    std::uint64_t number = 0;
};

/** One independent master, as the client sees it.

    It speaks only for itself: it knows nothing of quorums. It repeats only a release that got lost
    with the connection, and a script that the server didn't run because it was flushed, or refused
    for another question's key. All functions are called on the client's strand.
*/
class node
{
public:
    /// What nodes report to their client, on its strand. `node`: position in the configuration.
    class owner
    {
    public:
        /// The status of a node has changed.
        virtual void on_node_change() = 0;

        /// The session with a node has ended completely. Called once for each node.
        virtual void on_node_stopped() = 0;

        virtual void on_news(std::size_t node, const news& told) = 0;

    protected:
        ~owner() = default;
    };

    virtual ~node() = default;

    /// Connects, and keeps connected until `stop()`.
    virtual void start(std::weak_ptr<owner> of) = 0;

    /// Ends the session. Unanswered questions fail.
    virtual void stop() noexcept = 0;

    /** Puts a question.

        @return Empty if the answer will come through `question::on_reply`, exactly once. A reply if
        the node can't take the question: then it was never sent and nothing else will come. Every
        release but `verb::undo` is an exception, also one that keeps the resource: the node keeps
        it and sends it once it is connected again.
    */
    [[nodiscard]] virtual std::optional<reply> ask(question_ptr asked) = 0;

    [[nodiscard]] virtual node_status status() const = 0;

    /// Number of releases that it may soon answer: those on its connection, and those kept for the
    /// next one until a first attempt to reconnect has failed.
    [[nodiscard]] virtual std::size_t owed_releases() const noexcept = 0;

    /// The shortest time in which the node has answered on this connection. Without an answer, the
    /// longest that a duration can be.
    [[nodiscard]] virtual core::nanoseconds shortest_round_trip() const noexcept = 0;

    /// How long the node takes to answer, smoothed. Zero before its first answer. Callable from any
    /// thread.
    [[nodiscard]] virtual std::chrono::microseconds round_trip() const noexcept = 0;
};

/// The nodes of a client, in the order of the configuration.
using node_list = std::vector<std::shared_ptr<node>>;

}  // namespace redlock::detail

#endif
