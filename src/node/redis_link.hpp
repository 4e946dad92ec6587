#ifndef REDLOCK_SRC_NODE_REDIS_LINK_HPP
#define REDLOCK_SRC_NODE_REDIS_LINK_HPP

#include <redlock/config.hpp>

#include "loop/ground.hpp"
#include "node/link_group.hpp"
#include "node/node.hpp"
#include "node/sentinels.hpp"
#include "node/vetting/server_info.hpp"
#include "node/vetting/vetting.hpp"
#include "wire/connection.hpp"
#include "wire/name_lookup.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace redlock::detail {

/// Why a link ended.
struct link_end
{
    error_code code;      ///< The network's error. Empty if there is a refusal.
    refusal refused;      ///< Why the node may not vote, or the server doesn't let us in.
    std::string guess{};  ///< A possible cause of the error. Follows its message.
    bool may_lead_elsewhere = false;  ///< The next link may find another server.
};

/** One connection to one node, from connecting to its loss, and never reused.

    A new connection gets a new link, and links share nothing. So a command accepted for one
    connection can't be written on another, and a reply from one can't be counted on another.
*/
class redis_link
{
public:
    /// Called on the strand, never from within a call that the owner makes.
    class owner
    {
    public:
        /// Connected and vetted. At most once.
        virtual void on_ready(admission what) = 0;

        /// The link is over. Called exactly once, even if it was never ready.
        virtual void on_end(link_end why) = 0;

        /// All its questions have failed. The last call.
        virtual void on_gone() {}

        // For an owner that marks.
        virtual void on_mark_answered(not_marked) {}

        // For an owner that asks:

        /// Some commands were answered after this time. There is room for others.
        virtual void on_answered(std::chrono::nanoseconds) {}

        /// The node must not vote for this long. It said so after it was ready.
        virtual void on_quarantined(milliseconds) {}

        /// A release got no answer, so it may not have arrived.
        virtual void on_lost_release(question_ptr) {}

        virtual void on_news(const news&) {}

        /// The server refuses commands with a different kind of error than before. Empty: it
        /// no longer refuses any.
        virtual void on_refused(std::string) {}

    protected:
        ~owner() = default;
    };

    virtual ~redis_link() = default;

    /// Connects, and vets the node with the first commands on the wire. Keeps `of`, and lives until
    /// the end even if nothing else keeps it.
    virtual void start(std::shared_ptr<owner> of) = 0;

    /// Writes a question with the others of this turn. Only when the link is ready and not over.
    virtual void ask(question_ptr asked) = 0;

    /// See `node::shortest_round_trip`.
    [[nodiscard]] virtual core::nanoseconds shortest_round_trip() const noexcept = 0;

    /// Number of questions without an answer.
    [[nodiscard]] virtual std::size_t unanswered() const noexcept = 0;
    [[nodiscard]] virtual std::size_t unanswered_releases() const noexcept = 0;

    /// Marks a node that carries no marker. `owner::on_mark_answered` follows, or `on_end`. Only
    /// for a link that looks, when it is ready.
    virtual void mark() = 0;

    /// Ends the connection. `on_end` follows.
    virtual void close() noexcept = 0;
};

/// How a link reaches its server: by its node's addresses or Sentinels, which all the node's links
/// share, or by the caller's connection.
using link_route = std::variant<
    std::shared_ptr<name_lookup>,
    std::shared_ptr<sentinel_group>,
    std::unique_ptr<connection>>;

/// @param index Position of the node in the configuration, handed to `question::on_reply`.
[[nodiscard]] std::shared_ptr<redis_link> make_redis_link(
    const ground& on,
    const link_group& group,
    std::size_t index,
    const node_config& config,
    link_route by
);

}  // namespace redlock::detail

#endif
