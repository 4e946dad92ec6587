#ifndef REDLOCK_SRC_CORE_NODE_LIFE_HPP
#define REDLOCK_SRC_CORE_NODE_LIFE_HPP

#include <redlock/config.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/node_status.hpp>
#include <redlock/time.hpp>
#include <redlock/vote.hpp>

#include "core/backoff.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace redlock::core {

/// Why a node may not vote.
struct refusal
{
    redlock::reason why = redlock::reason::none;  ///< None if it may vote.
    std::string text;
    /// When it ends, if that is known. Shown after the text, as "until" and the time.
    std::optional<milliseconds> ends_in{};

    explicit operator bool() const noexcept { return why != redlock::reason::none; }
};

/// What to report of an event in the life of a node.
struct [[nodiscard]] node_news
{
    bool changed = false;  ///< Whether the status has.
    log_level level = log_level::info;
    std::string line{};  ///< For the log. Empty: none.
};

/** The life of a node: its status, and what becomes of a question.

    | state | how it gets there | a question |
    |---|---|---|
    | connecting | started | waits for the connection |
    | ready | connected and vetted | is written |
    | quarantined | vetted, but it may have forgotten locks | is refused if it votes, else written |
    | down | lost, silent, without its marker | fails at once, so that a dead node costs no time |
    | rejected | did not pass the vetting | is refused at once |

    A node that is down or rejected is connected again after a pause. A quarantine ends without
    further events, unless the node waits for its marker.
*/
class node_life
{
public:
    /// @param node Its name.
    /// @param node_count Nodes of the list.
    /// @param may_fail_over Whether it may lose what it knew in a failover.
    node_life(std::string node, std::size_t node_count, bool may_fail_over = false)
        : node_count_(node_count),
          may_fail_over_(may_fail_over),
          status_{std::move(node), node_state::connecting, {}}
    {
    }

    [[nodiscard]] const node_status& status() const noexcept { return status_; }

    [[nodiscard]] bool connected() const noexcept { return takes(false); }

    /// Connected, or it was and no attempt has failed since.
    [[nodiscard]] bool connected_soon() const noexcept { return connected() || reconnects_; }

    /// Whether a question is written.
    [[nodiscard]] bool takes(bool votes) const noexcept
    {
        return status_.state == node_state::ready ||
               (status_.state == node_state::quarantined && !votes);
    }

    /// How a question counts that the node doesn't take.
    [[nodiscard]] vote absent_vote() const noexcept
    {
        const bool refuses =
            status_.state == node_state::rejected || status_.state == node_state::quarantined;
        return refuses ? vote::refused : vote::unknown;
    }

    /// How much of the quarantine is left. Empty if there is none, or if it hasn't begun.
    [[nodiscard]] std::optional<milliseconds> quarantine_left(time_point now) const;

    /// A connection was vetted. The node votes, unless a quarantine follows at once.
    /// @param polls Why waiters have to poll it.
    void connect(std::string polls)
    {
        pauses_.reset();
        status_.polls = std::move(polls);
    }

    /// The node votes.
    node_news admit() { return change(node_state::ready, reason::none, {}); }

    /// The node gets a marker once a quorum of the list has passed, and its quarantine begins then.
    node_news await_marker();

    /// The node must not vote for this long. Until then it isn't asked.
    node_news quarantine(milliseconds left, time_point now);

    /// The quarantine is over.
    node_news end_quarantine()
    {
        return status_.state == node_state::quarantined && !stopping_ ? admit() : node_news();
    }

    /// The server refuses commands with an error. The node stays in its state, because other
    /// commands work, and perhaps other keys.
    /// @param words The server's. Empty if it no longer refuses any.
    node_news refuse(std::string words);

    /// The connection was lost, or couldn't be made.
    /// @param guess A possible cause of the error.
    node_news lose(error_code code, const std::string& guess);

    /// The vetting or a probe refused the server.
    /// @param wall Time since the epoch.
    node_news reject(const refusal& why, std::chrono::microseconds wall);

    /// How long to wait before the next connection.
    /// @param draw Uniformly random bits.
    [[nodiscard]] nanoseconds pause(std::uint64_t draw) noexcept { return pauses_.next(draw); }

    /// The session ends. Nothing more is logged about it.
    void stop() noexcept { stopping_ = true; }

    [[nodiscard]] bool stopping() const noexcept { return stopping_; }

private:
    node_news change(node_state to, reason why, std::string because, error_code code = {});
    [[nodiscard]] log_level level_of(node_state state, reason why) const noexcept;
    [[nodiscard]] std::string describe() const;

    std::size_t node_count_;
    bool may_fail_over_;
    node_status status_;
    std::optional<time_point> quarantined_until_;
    bool reconnects_ = false;  ///< It was connected, and no attempt has failed since.
    bool stopping_ = false;

    /// Random pauses before a node is tried again. The first ones are short, so a restarted node is
    /// back soon. The cap keeps a dead one cheap.
    backoff pauses_{milliseconds(50), milliseconds(2000)};
};

}  // namespace redlock::core

#endif
