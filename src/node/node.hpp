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
    extend,   ///< Extend the key's ttl if it is ours and shorter. Granted or denied.
    release,  ///< Delete the key if it is ours. Granted: deleted. Denied: not there, or not ours.
    holder,   ///< Tell how long the key has left. Granted, with `reply::held_for`.
    track,    ///< The same as `holder`, and wake us when the key changes.
    leave,    ///< Leave the queue of the key, and what is reserved there to the next. Granted.
    inspect,  ///< Tell the value of the key, what it has left and who waits. Granted.
    revoke,   ///< Mark a hold as not to be extended. Granted, with `reply::held_for`, or denied.
    keep,     ///< Release the key, but keep it until a time. Granted: kept, or past that time.
    free,     ///< Delete the key if it is only kept, and no later hold's. Granted or denied.
};

inline constexpr std::size_t verb_count = 10;

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

/// What a node said to a question, from the one who read it to the report.
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

    /// The node's clock, since the epoch. With every answer of a guarded script but a grant.
    std::optional<std::chrono::microseconds> node_time{};

    /// From the start of the round. Noted by that, if somebody wants to know.
    std::optional<std::chrono::microseconds> round_trip{};

    /// Whether a report needs more of it than the vote and the reason.
    [[nodiscard]] bool says_more() const noexcept
    {
        return code || !text.empty() || held_for || ready_in || fence || position || node_time;
    }
};

/// One bit for each node of the configuration.
using node_set = std::bitset<16>;

/// What a question says of its client's place in the queue of a node.
struct queue_entry
{
    core::queue_move move = core::queue_move::none;
    std::uint64_t arrival = 0;  ///< Since when it waits, in microseconds since the epoch.

    /// How long a node is to keep the resource for it once it has woken the client. Zero: as long
    /// as for everybody.
    milliseconds reservation{0};
};

/// A note that a holder has changed. Has a linkage, as part of a question.
struct announcement
{
    redlock::note text;
    std::uint64_t stamp;  ///< When, by the time of the nodes. A later one stays.
};

/// What a question says, the same to each node.
struct wording
{
    std::uint64_t serial = 0;  ///< Unlike that of every other question of the client.
    verb what = verb::acquire;
    std::shared_ptr<const detail::attempt> attempt;

    /// How long the key may live from now: what is asked for, or what may be left of it to delete.
    milliseconds ttl{0};

    /// In guarded mode the time that it claims, which answers repeat: the token, or that of an
    /// extension or revocation.
    std::uint64_t stamp = 0;

    queue_entry entry{};
    milliseconds at_least{0};  ///< From the token on. Only to keep.

    /// What an extension announces. Null: nothing.
    std::shared_ptr<const announcement> announced{};
};

/** One question, put to several nodes with the same bytes, and the place where the answers go.

    Shared with the nodes that have not answered yet: a node that answers late, or never, still
    finds its question.

    On the strand it is kept by `question_ptr`, which counts without atomic operations. With a
    `shared_ptr` for each node those were a sixth of the CPU of an acquire-release pair. What lives
    on other threads keeps it by `shared()`.
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

        Called while the node's replies are read. So it records, and puts everything else off to the
        end of the turn.
    */
    virtual void on_reply(std::size_t node, const reply& answer) noexcept = 0;

    /// Whether an answer still matters. A question that was not written yet need not be, if not.
    [[nodiscard]] virtual bool wanted() const noexcept = 0;

    /// A node says that it is about to write the question: from now on it may have an effect there.
    void mark_sent(std::size_t node) noexcept
    {
        sent_.set(node);
        owing_.set(node);
    }

    /// The nodes on which the question may have had an effect.
    [[nodiscard]] const node_set& sent() const noexcept { return sent_; }

    /// The nodes that were sent it and have not answered, nor lost the connection.
    [[nodiscard]] const node_set& owing() const noexcept { return owing_; }

    /// For whoever may be destroyed on any thread.
    [[nodiscard]] const std::shared_ptr<question>& shared() const noexcept { return self_; }

    /// Keeps `made` for as long as somebody on the strand does.
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
    void mark_answered(std::size_t node) noexcept { owing_.reset(node); }

private:
    wording says_;
    node_set sent_;
    node_set owing_;
    std::size_t users_ = 0;           ///< On the strand.
    std::shared_ptr<question> self_;  ///< While there are any.
};

/// Keeps a question. Used on the strand only.
using question_ptr = boost::intrusive_ptr<question>;

/** One independent master, as the client sees it.

    Answers for itself only: it knows nothing of quorums and repeats nothing on its own, except a
    release that the connection swallowed and a script that the server did not run: it was
    forgotten, or refused for another question's key. All functions are called on the client's
    strand.
*/
class node
{
public:
    /// What nodes tell their client, on its strand. `node`: position in the configuration.
    class owner
    {
    public:
        /// The status of a node has changed.
        virtual void on_node_change() = 0;

        /// Nothing of the session with a node runs any more. Once for each.
        virtual void on_node_stopped() = 0;

        /// A key may be free, and be reserved for this client.
        virtual void on_wake(std::size_t node, std::string_view key) = 0;

        /// A key has changed that the node was asked to track, and is tracked no more.
        virtual void on_change(std::size_t node, std::string_view key) = 0;

        /// A key is kept for another client for so long, and this one is next.
        virtual void on_next(std::size_t node, std::string_view key, milliseconds reserved) = 0;

        /// A hold of a key is revoked. Any node may say so.
        virtual void on_revoked(std::string_view key, fencing_token token) = 0;

    protected:
        ~owner() = default;
    };

    virtual ~node() = default;

    /// Connects, and keeps connected until `stop()`.
    virtual void start(std::weak_ptr<owner> of) = 0;

    /// Ends the session. Unanswered questions fail.
    virtual void stop() noexcept = 0;

    /** Puts a question.

        @return Nothing if the answer will come through `question::on_reply`, exactly once. A reply
        if the node cannot take the question: then it was never sent and nothing else will come.
        A release is the exception, whether it keeps the resource or not: the node keeps it and
        sends it once it is connected again.
    */
    [[nodiscard]] virtual std::optional<reply> ask(question_ptr asked) = 0;

    [[nodiscard]] virtual node_status status() const = 0;

    /// Releases that it was asked for and may soon answer: those on its connection, and those kept
    /// for the next one, until a first attempt to connect again has failed.
    [[nodiscard]] virtual std::size_t owed_releases() const noexcept = 0;

    /// How long the node takes to answer, smoothed. Zero before its first answer. Any thread.
    [[nodiscard]] virtual std::chrono::microseconds round_trip() const noexcept = 0;
};

/// The nodes of a client, in the order of the configuration.
using node_list = std::vector<std::shared_ptr<node>>;

}  // namespace redlock::detail

#endif
