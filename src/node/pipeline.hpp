#ifndef REDLOCK_SRC_NODE_PIPELINE_HPP
#define REDLOCK_SRC_NODE_PIPELINE_HPP

#include "core/instant.hpp"
#include "node/batch.hpp"
#include "node/commands.hpp"
#include "node/node.hpp"
#include "node/server_info.hpp"
#include "wire/resp.hpp"

#include <bitset>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::detail {

/// What answers said about the node, beyond that they came.
struct findings
{
    bool unmarked = false;                        ///< Its data is lost or replaced.
    refusal not_a_master;                         ///< Why it isn't a master now, in its words.
    refusal too_few_replicas;                     ///< Why it writes nothing, in its words.
    std::optional<milliseconds> quarantined_for;  ///< How long it doesn't vote.

    std::vector<std::pair<verb, std::string>> errors;  ///< One for each verb that got any.
};

/** The questions of one connection: those to be written, in batches, and those to be answered.

    All that come before a batch is taken are written together. A batch is written in one go, in the
    order of verbs, and never again.
*/
class pipeline
{
public:
    /// The most batches that are written and not answered, so that a silent node doesn't collect
    /// more. With this many under way, another one waits at most a 64th of a round trip.
    static constexpr std::size_t max_written = 64;

    /// The most questions that are turned into commands at a time.
    static constexpr std::size_t max_batch = 512;

    /// @param index Position of the node in the configuration.
    pipeline(std::size_t index, std::shared_ptr<command_encoder> encoder);

    /// The server was vetted, and its marker ends like this.
    void address_to(std::string marker_end) noexcept { marker_end_ = std::move(marker_end); }

    void add(question_ptr asked);

    /// Number of questions without an answer.
    [[nodiscard]] std::size_t unanswered() const noexcept { return unanswered_; }

    /// How many of them are releases.
    [[nodiscard]] std::size_t unanswered_releases() const noexcept { return releases_; }

    /// Whether there is enough for a write. More would keep other clients waiting.
    [[nodiscard]] bool is_full() const noexcept { return open_ && open_->size() >= max_batch; }

    /// Whether the node owes answers to a batch.
    [[nodiscard]] bool owed() const noexcept { return written_ > 0; }

    /// Whether there may be a batch to write.
    [[nodiscard]] bool has_more() const noexcept { return open_ || !to_ask_again_.empty(); }

    /** Makes the batch of this turn.

        Answers the questions that are no longer wanted.

        @return Null if there is none, or if the node owes too many answers. Then the batch keeps
        its questions, in the right order for the turn they came in.
    */
    [[nodiscard]] const request* prepare();

    /// Takes the prepared batch, which the caller writes.
    [[nodiscard]] std::unique_ptr<batch> take() noexcept;

    /// Takes a part of the replies to a batch, and answers its questions.
    void read(batch& of, const resp::part& part);

    /// What the answers said since the last call. Null if they said nothing, which is usual.
    [[nodiscard]] std::unique_ptr<findings> take_findings() noexcept
    {
        return std::move(findings_);
    }

    /// The verbs that got an answer without an error since the last call.
    [[nodiscard]] std::bitset<verb_count> take_answered() noexcept
    {
        return std::exchange(answered_, {});
    }

    /// All replies to the batch are there.
    void done(std::unique_ptr<batch> answered);

    /// The connection has broken. Fails the questions of a batch that have no answer.
    void fail(batch& written, error_code why);

    /// The same for questions that weren't written.
    void fail_unwritten(error_code why);

    /// The releases among them.
    [[nodiscard]] std::vector<question_ptr> take_lost_releases() noexcept
    {
        return std::exchange(lost_releases_, {});
    }

private:
    /// Batches kept for reuse. A few are in flight at a time.
    static constexpr std::size_t max_spare = 8;

    batch& open_batch();
    void ask_again();
    void withdraw(question& asked);
    void count_down(const question& answered) noexcept;
    findings& found();
    void note_error(verb what, std::string_view error);
    void take_answer(const question_ptr& asked, const command& put, const answer& said);
    void fail(const question_ptr& asked, error_code why);

    std::size_t index_;
    std::shared_ptr<command_encoder> encoder_;
    std::string marker_end_;
    /// This turn's batch. If the node owes too many answers, earlier turns' too.
    std::unique_ptr<batch> open_;
    std::vector<std::unique_ptr<batch>> spare_;
    std::deque<question_ptr> to_ask_again_;  ///< Each separately, with EVAL.
    std::size_t written_ = 0;                ///< Batches that aren't fully answered.
    std::size_t unanswered_ = 0;
    std::size_t releases_ = 0;            ///< Of these.
    std::unique_ptr<findings> findings_;  ///< Null: there are none.
    std::bitset<verb_count> answered_;
    std::vector<question_ptr> lost_releases_;
};

}  // namespace redlock::detail

#endif
