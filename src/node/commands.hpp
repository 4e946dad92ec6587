#ifndef REDLOCK_SRC_NODE_COMMANDS_HPP
#define REDLOCK_SRC_NODE_COMMANDS_HPP

#include "node/guard.hpp"
#include "node/node.hpp"
#include "node/reply_shape.hpp"
#include "wire/request.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
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
[[nodiscard]] bool is_worth_another(const command& put, const reply_shape& answer) noexcept;

/// Questions of one verb, made commands of.
struct encoded_questions
{
    detail::request request;
    std::vector<command> commands;
    std::vector<std::uint64_t> serials;  ///< Of the questions.
};

/** Turns questions into commands.

    Acquisitions of plain mode are a SET each, and questions about a holder a PTTL, after CLIENT
    CACHING if the answer is to be kept up to date. What needs a
    script shares it, up to `max_list` questions, because entering a script costs a server as much
    as one of them.

    Questions are put to one node after the other, so the last ones are all that needs keeping. The
    bytes are the same for all nodes, but for the run id of the server: there they have a gap.
*/
class command_encoder
{
public:
    /// @param single_keys A command may have one key only.
    command_encoder(std::shared_ptr<const guard> guarded, bool single_keys)
        : guarded_(std::move(guarded)), max_list_(single_keys ? 1 : max_list)
    {
    }

    /// @param asked Questions of one verb, and at least one.
    [[nodiscard]] const encoded_questions& encode(std::span<const question_ptr> asked);

    /// One command with the whole script, for a server that did not run it: see `is_worth_another`.
    [[nodiscard]] encoded_questions encode_whole(const question_ptr& asked) const;

private:
    /// A longer script would keep everybody else waiting.
    static constexpr std::size_t max_list = 64;

    /// Whether what is done with a key takes a script.
    [[nodiscard]] bool needs_script(verb what) const noexcept;

    /// Whether that script compares the marker of the node. It takes the run id of the server then.
    [[nodiscard]] bool needs_marker(verb what) const noexcept;
    [[nodiscard]] bool has_place(verb what) const noexcept;

    /// The arguments of a question to its script, next to the key.
    void push_arguments(request& to, const question& asked) const;
    [[nodiscard]] std::size_t argument_count(verb what) const noexcept;
    void push_place(request& to, const question& asked) const;

    void push_script(encoded_questions& to, std::span<const question_ptr> asked, script_form form)
        const;

    std::shared_ptr<const guard> guarded_;  ///< Null in plain mode.
    std::size_t max_list_;
    std::array<encoded_questions, verb_count> kept_;
};

}  // namespace redlock::detail

#endif
