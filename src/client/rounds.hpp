#ifndef REDLOCK_SRC_CLIENT_ROUNDS_HPP
#define REDLOCK_SRC_CLIENT_ROUNDS_HPP

#include <redlock/config.hpp>
#include <redlock/diagnostics.hpp>

#include "client/client_loop.hpp"
#include "client/life.hpp"
#include "client/roster.hpp"
#include "client/round.hpp"
#include "client/stamps.hpp"
#include "core/smoothed.hpp"
#include "loop/randomness.hpp"
#include "loop/recycling.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace redlock::detail {

/// How to release what an attempt may have left behind.
struct ending
{
    /// `verb::release`, on every node on which the attempt may have left something. Else a verb for
    /// a hold that may have been taken on others too, on all nodes.
    verb what = verb::release;
    milliseconds ttl;  ///< How long its keys may live from now.
    core::queue_move move = core::queue_move::none;
    milliseconds at_least{0};  ///< From the token on. Only for `verb::keep`.
    core::instant end{};       ///< Of the hold. Only for `verb::keep`.
};

/// Puts rounds to the nodes of a client, and reports their results. Used on the strand only.
class rounds
{
public:
    rounds(const client_config& config, const client_loop& loop, const roster& nodes) noexcept
        : config_(config), loop_(loop), nodes_(nodes), times_(config, loop, nodes)
    {
    }

    /// Whether acquisitions wait in the queues of the nodes.
    [[nodiscard]] bool queues() const noexcept
    {
        return config_.mode == mode::guarded && config_.waiting.queue;
    }

    [[nodiscard]] const client_config& config() const noexcept { return config_; }
    [[nodiscard]] const client_loop& loop() const noexcept { return loop_; }
    [[nodiscard]] const roster& nodes() const noexcept { return nodes_; }

    /// The time of the nodes.
    [[nodiscard]] stamps& times() noexcept { return times_; }

    /// Another attempt at what is wanted.
    /// @param above What its token must exceed, in guarded mode.
    [[nodiscard]] std::shared_ptr<const attempt> new_attempt(
        std::shared_ptr<const demand> wanted,
        fencing_token above
    );

    /// The attempt that led to a hold, as far as it's known.
    [[nodiscard]] std::shared_ptr<const attempt> attempt_of(
        std::shared_ptr<const demand> about,
        fencing_token token
    );

    /// A round that isn't put to the nodes yet. Its time begins.
    /// @param says All but the serial and the stamp.
    /// @param more What such a round takes besides.
    template <class Round, class... More>
    [[nodiscard]] boost::intrusive_ptr<Round> make(wording says, More&&... more)
    {
        round::subject of = begin(std::move(says));
        return question::keep(
            make_recycled<Round>(std::move(of), *loop_.end_of_turn, std::forward<More>(more)...)
        );
    }

    /// Puts a round to all nodes, which have a node timeout for it.
    void put_to_all(const boost::intrusive_ptr<round>& asked);

    /// The same, and leaves out all but `some`.
    void put_to(const node_set& some, const boost::intrusive_ptr<round>& asked);

    /// A round that isn't sent: what the nodes that aren't ready say.
    [[nodiscard]] round_ptr ask_the_absent(std::shared_ptr<const attempt> tried);

    /// Puts a question to one node, again or alone.
    void put(std::size_t node, const question_ptr& asked);

    /// Starts to release what an attempt may have left behind.
    release_round_ptr release(round& left_behind, const ending& how);

    /// Releases a lost round, without a tombstone on nodes that still owe its answer.
    /// @param self This object. Locked, it keeps the client.
    void undo(round& lost, core::queue_move move, std::weak_ptr<rounds> self);

    /// After a round that was lost for its time: waits until enough nodes have said what time it
    /// is, for at most a node timeout. Fails with operation_aborted.
    [[nodiscard]] task<error_code> until_time_is_told(const round& lost, life& of);

    /// Lets the round wait for answers until then, in place of a node timeout.
    void set_deadline(round& asked, time_point until);

    /// Releases that still lack an answer.
    [[nodiscard]] open_releases& releases() noexcept { return releases_; }

    /// When the keys of everything released so far have expired.
    [[nodiscard]] time_point last_key_ends() const noexcept { return last_key_ends_; }

    /// Notes how long a round took, for the pace of retries.
    void note_duration(const round& asked, core::instant now) noexcept
    {
        duration_.add(now.steady - asked.started().steady);
    }

    /// Upper bound of the first wait after a lost round.
    [[nodiscard]] core::nanoseconds first_delay() const noexcept;

    /// Writes the report of `asked`, the last of `count` rounds, adding what the holders' nodes
    /// said (null: they weren't asked).
    void write_report(
        diagnostics& report,
        std::size_t count,
        const round& asked,
        const round* holders
    ) const;

private:
    [[nodiscard]] round::subject begin(wording says);
    [[nodiscard]] release_round_ptr make_release(round& left_behind, const ending& how);
    void set_deadline(round& asked);

    const client_config& config_;
    const client_loop& loop_;
    const roster& nodes_;
    stamps times_;
    random_ids ids_;
    std::uint64_t last_serial_ = 0;  ///< Of the questions.
    core::smoothed duration_;
    open_releases releases_;
    time_point last_key_ends_{};  ///< Of those that were released.
};

}  // namespace redlock::detail

#endif
