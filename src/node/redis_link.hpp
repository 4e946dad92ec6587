#ifndef REDLOCK_SRC_NODE_REDIS_LINK_HPP
#define REDLOCK_SRC_NODE_REDIS_LINK_HPP

#include <redlock/config.hpp>

#include "loop/clock.hpp"
#include "loop/strand.hpp"
#include "loop/turn.hpp"
#include "node/link_group.hpp"
#include "node/node.hpp"
#include "node/server_info.hpp"
#include "node/vetting.hpp"
#include "wire/connection.hpp"
#include "wire/name_lookup.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace redlock::detail {

/// Why a link ended.
struct link_end
{
    error_code code;      ///< The network's error. Empty if there is a refusal.
    refusal refused;      ///< Why the node may not vote, or the server does not let us in.
    std::string guess{};  ///< What may be behind the error. Follows its message.
};

/// Why a node was not marked. Both empty: it is.
struct not_marked
{
    std::string marker;  ///< It carries this one.
    std::string error;   ///< The server's words.
};

/// What a link tells its node. Called on the strand, never from within a call of the node.
struct link_events
{
    std::function<void(admission)> on_ready;  ///< Connected and vetted; at most once.
    std::function<void(link_end)> on_end;     ///< Over; exactly once, also if never ready.
    /// Some commands were, after so long: there is room for others.
    std::function<void(std::chrono::nanoseconds)> on_answered;
    std::function<void(milliseconds)> on_quarantined;  ///< A node said so after it was ready.
    /// A release got no answer: it may not have arrived.
    std::function<void(question_ptr)> on_lost_release;
    /// A key may be free, and be reserved for this client.
    std::function<void(std::string_view key)> on_wake{};
    /// A key is kept for another client for so long, and this one is next.
    std::function<void(std::string_view key, milliseconds reserved)> on_next{};
    /// The server refuses commands with an error of another kind than before. Empty: with none.
    std::function<void(std::string words)> on_refused{};
};

/** One connection to one node, from connecting to its loss, and never reused.

    A new connection gets a new link. So no command that was accepted for one connection can be
    written on another, and no reply of one can be counted on another: there is nothing they share.
*/
class redis_link
{
public:
    virtual ~redis_link() = default;

    /// Connects, and vets the node with the first commands on the wire.
    virtual void start(link_events events) = 0;

    /// Writes a question with the others of this turn. Only when ready, and not over.
    virtual void ask(question_ptr asked) = 0;

    /// Questions that have no answer yet.
    [[nodiscard]] virtual std::size_t unanswered() const noexcept = 0;
    [[nodiscard]] virtual std::size_t unanswered_releases() const noexcept = 0;

    /// Marks a node that carries no marker. Calls `done` once; or never, if the link ends before.
    /// Only of a link that looks, when it is ready.
    virtual void mark(std::function<void(const not_marked&)> done) = 0;

    /// Ends the connection. `on_end` follows.
    virtual void close() noexcept = 0;
};

/// What links run on.
struct link_ground
{
    strand_type strand;
    std::shared_ptr<turn> end_of_turn;
    std::shared_ptr<clock> time;
};

/// @param index Position of the node in the configuration, handed to `question::on_reply`.
/// @param names Of the node, the same for all its links.
[[nodiscard]] std::shared_ptr<redis_link> make_redis_link(
    const link_ground& ground,
    const link_group& group,
    std::size_t index,
    const node_config& config,
    std::shared_ptr<name_lookup> names
);

/// The same over a connection of the caller's.
[[nodiscard]] std::shared_ptr<redis_link> make_redis_link(
    const link_ground& ground,
    const link_group& group,
    std::size_t index,
    const node_config& config,
    std::unique_ptr<connection> wire
);

}  // namespace redlock::detail

#endif
