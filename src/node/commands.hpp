#ifndef REDLOCK_SRC_NODE_COMMANDS_HPP
#define REDLOCK_SRC_NODE_COMMANDS_HPP

#include "node/answer.hpp"
#include "node/node.hpp"
#include "node/verbs.hpp"
#include "wire/request.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

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

}  // namespace redlock::detail

#endif
