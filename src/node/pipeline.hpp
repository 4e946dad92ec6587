#ifndef REDLOCK_SRC_NODE_PIPELINE_HPP
#define REDLOCK_SRC_NODE_PIPELINE_HPP

#include "core/instant.hpp"
#include "node/answer.hpp"
#include "node/node.hpp"
#include "node/verbs.hpp"
#include "node/vetting/server_info.hpp"
#include "wire/request.hpp"
#include "wire/resp.hpp"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// From questions to the bytes of commands, and from the replies back to answers.
namespace redlock::detail {

/// How a command brings its script.
enum class script_form : std::uint8_t
{
    none,  ///< The command isn't a script.
    hash,
    text,
};

/// A command, and how many questions it puts. If it puts none, its answer doesn't matter.
struct command
{
    std::size_t size;
    script_form script;

    /// The reply is a list with an answer for each question.
    [[nodiscard]] bool is_list() const noexcept { return size > 1; }
};

/** Whether an answer says that its command did nothing and another one may succeed: the text of the
    script, with a single question. This happens only once: the same answer to that one is an answer
    like any other.
*/
[[nodiscard]] bool is_worth_another(const command& put, const answer& said) noexcept;

/// Questions of one verb, as commands.
struct encoded_questions
{
    detail::request request;
    std::vector<command> commands;
    std::vector<std::uint64_t> serials;  ///< Of the questions.
};

/** Turns questions into commands.

    Questions that need a script share it, up to `max_list` of them, because entering a script costs
    a server as much as one question.

    Questions are put to one node after the other, so only the last ones need to be kept. The bytes
    are the same for all nodes, except for the end of the marker, where they have a gap.
*/
class command_encoder
{
public:
    /// @param guarded Null in plain mode.
    /// @param single_keys Whether a command may have only one key.
    command_encoder(std::shared_ptr<const guard> guarded, bool single_keys);

    /// Uses scripts other than this version's.
    command_encoder(std::shared_ptr<const guard> guarded, bool single_keys, script_set scripts);

    /// The scripts that a server must have loaded before the first question.
    [[nodiscard]] const script_set& scripts() const noexcept { return scripts_; }

    /// @param asked One or more questions of the same verb.
    [[nodiscard]] const encoded_questions& encode(std::span<const question_ptr> asked);

    /// One command with the whole script, for a server that didn't run it: see `is_worth_another`.
    [[nodiscard]] encoded_questions encode_whole(const question_ptr& asked) const;

private:
    /// A longer list would keep other clients waiting.
    static constexpr std::size_t max_list = 64;

    void push_script(encoded_questions& to, std::span<const question_ptr> asked, script_form form)
        const;

    std::shared_ptr<const guard> guarded_;
    script_set scripts_;
    std::size_t max_list_;
    std::array<encoded_questions, verb_count> kept_;
};

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
    order of verbs, and never again. Its replies come before those to the next one.
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
    [[nodiscard]] bool is_full() const noexcept { return open_ && open_->size >= max_batch; }

    /// Whether the node owes answers to a batch.
    [[nodiscard]] bool owed() const noexcept { return !written_.empty(); }

    /// Whether there may be a batch to write.
    [[nodiscard]] bool has_more() const noexcept { return open_ || !to_ask_again_.empty(); }

    /** Takes the batch of this turn, which the caller writes.

        Answers the questions that are no longer wanted.

        @return Null if there is none, or if the node owes too many answers. Then the batch keeps
        its questions, in the right order for the turn they came in. Otherwise valid until the last
        reply is read.
    */
    [[nodiscard]] const request* take_batch();

    /// Takes a part of the replies to the first batch that isn't answered, and answers its
    /// questions.
    void read(const resp::part& part);

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

    /// The connection has broken. Fails up to `most` questions that have no answer.
    /// @return Whether some are left.
    [[nodiscard]] bool fail_some(error_code why, std::size_t most);

    /// The releases among them.
    [[nodiscard]] std::vector<question_ptr> take_lost_releases() noexcept
    {
        return std::exchange(lost_releases_, {});
    }

private:
    using question_list = std::vector<question_ptr>;

    /// Commands that share one write, and the questions that get their replies. Filled in one or
    /// more turns, then written, then answered, and used again.
    struct batch
    {
        request bytes;
        std::vector<command> commands;
        question_list asked;   ///< In the order of the commands.
        std::size_t size = 0;  ///< Of all questions that were added to it.
    };

    /// Batches kept for reuse. A few are in flight at a time.
    static constexpr std::size_t max_spare = 8;

    batch& open_batch();
    void ask_again();
    void encode_added();
    void append(std::span<question_ptr> asked, const encoded_questions& encoded);
    void end_batch();
    void withdraw(question& asked);
    void count_down(const question& answered) noexcept;
    findings& found();
    void note_error(verb what, std::string_view error);
    void take_answer(const question_ptr& asked, const command& put, const answer& said);
    void fail(const question_ptr& asked, error_code why);

    std::size_t index_;
    std::shared_ptr<command_encoder> encoder_;
    std::string marker_end_;
    std::array<question_list, verb_count> added_;  ///< In this turn.
    /// This turn's batch. If the node owes too many answers, earlier turns' too.
    std::unique_ptr<batch> open_;
    std::deque<std::unique_ptr<batch>> written_;  ///< Those that aren't fully answered.
    std::size_t next_command_ = 0;                ///< Of the first of these: its reply is parsed.
    std::size_t next_question_ = 0;               ///< Of the first of these: it has no answer.
    answer_reader answers_;
    std::vector<std::unique_ptr<batch>> spare_;
    std::deque<question_ptr> to_ask_again_;  ///< Each separately, with EVAL.
    std::size_t unanswered_ = 0;
    std::size_t releases_ = 0;            ///< Of these.
    std::unique_ptr<findings> findings_;  ///< Null: there are none.
    std::bitset<verb_count> answered_;
    std::vector<question_ptr> lost_releases_;
};

}  // namespace redlock::detail

#endif
