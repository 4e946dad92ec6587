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
    none,  ///< It is none.
    hash,
    text,
};

/// A command, and how many questions it puts. None: its answer does not matter.
struct command
{
    std::size_t size;
    script_form script;

    /// The reply is a list with an answer for each question.
    [[nodiscard]] bool is_list() const noexcept { return size > 1; }
};

/** Whether an answer says that its command did nothing, and that another one may do what it should:
    the text of the script, with a question of its own. Once: the same answer to that one is an
    answer like any other.
*/
[[nodiscard]] bool is_worth_another(const command& put, const answer& said) noexcept;

/// Questions of one verb, made commands of.
struct encoded_questions
{
    detail::request request;
    std::vector<command> commands;
    std::vector<std::uint64_t> serials;  ///< Of the questions.
};

/** Turns questions into commands.

    Those that need a script share it, up to `max_list` of them, because entering a script costs a
    server as much as one question.

    Questions are put to one node after the other, so the last ones are all that needs keeping. The
    bytes are the same for all nodes, but for the end of the marker: there they have a gap.
*/
class command_encoder
{
public:
    /// @param guarded Null in plain mode.
    /// @param single_keys A command may have one key only.
    command_encoder(std::shared_ptr<const guard> guarded, bool single_keys);

    /// Puts other scripts than those of this version.
    command_encoder(std::shared_ptr<const guard> guarded, bool single_keys, script_set scripts);

    /// What a server has to know before the first question.
    [[nodiscard]] const script_set& scripts() const noexcept { return scripts_; }

    /// @param asked Questions of one verb, and at least one.
    [[nodiscard]] const encoded_questions& encode(std::span<const question_ptr> asked);

    /// One command with the whole script, for a server that did not run it: see `is_worth_another`.
    [[nodiscard]] encoded_questions encode_whole(const question_ptr& asked) const;

private:
    /// A longer script would keep everybody else waiting.
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
