#ifndef REDLOCK_SRC_NODE_BATCH_HPP
#define REDLOCK_SRC_NODE_BATCH_HPP

#include "node/answer.hpp"
#include "node/commands.hpp"
#include "node/node.hpp"
#include "node/verbs.hpp"
#include "wire/request.hpp"
#include "wire/resp.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::detail {

/// Commands that share one write, and the questions that get their replies. Filled in one or more
/// turns, then written, then read, and used again.
class batch
{
public:
    /// Adds a question to this turn's.
    void add(question_ptr asked);

    /// Adds a question as a separate command, with the text of its script.
    void add_whole(question_ptr asked, const command_encoder& encoder, std::string_view marker_end);

    /** Turns this turn's questions into commands, for the server with this end of the marker.

        Calls `drop(question)` for each one that is no longer wanted.

        @return What to write, if nothing more is added. Valid until `clear()`.
    */
    template <class Drop>
    [[nodiscard]] const request& put_together(
        command_encoder& encoder,
        std::string_view marker_end,
        Drop drop
    )
    {
        for (const verb what : write_order)
        {
            question_list& asked = added_[static_cast<std::size_t>(what)];
            if (asked.empty())
                continue;
            std::erase_if(asked, [&drop](const question_ptr& each) {
                const bool unwanted = !each->wanted();
                if (unwanted)
                    drop(*each);
                return unwanted;
            });
            if (!asked.empty())
                append(asked, encoder.encode(asked), marker_end);
            asked.clear();
        }
        return request_;
    }

    /// Takes a part of the replies. Calls `deliver(question, command, answer)` for each answer.
    template <class Deliver>
    void read(const resp::part& part, Deliver deliver)
    {
        const command& replied = commands_[current_];
        const auto next = [&](const answer& said) {
            deliver(std::move(asked_[answered_++]), replied, said);
        };
        if (part.depth == 0)
            answers_.begin(replied.size, replied.is_list());
        answers_.read(part, next);
        if (!part.last)
            return;
        answers_.end(next);
        ++current_;
    }

    /// Whether there is nothing to write.
    [[nodiscard]] bool empty() const noexcept { return commands_.empty(); }

    /// Number of questions that were added.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Takes out a question without an answer. @return Null if there is none.
    [[nodiscard]] question_ptr take_unanswered() noexcept;

    /// Forgets the contents and keeps the memory.
    void clear();

private:
    using question_list = std::vector<question_ptr>;

    /// Adds commands and the questions that they put.
    void append(
        std::span<question_ptr> asked,
        const encoded_questions& encoded,
        std::string_view marker_end
    );

    request request_;
    std::vector<command> commands_;
    question_list asked_;                          ///< In the order of the commands.
    std::array<question_list, verb_count> added_;  ///< In this turn.
    std::size_t size_ = 0;
    std::size_t answered_ = 0;  ///< Of `asked_`.
    std::size_t current_ = 0;   ///< The one of `commands_` that is being parsed.
    answer_reader answers_;
};

}  // namespace redlock::detail

#endif
