#ifndef REDLOCK_SRC_NODE_BATCH_HPP
#define REDLOCK_SRC_NODE_BATCH_HPP

#include "node/commands.hpp"
#include "node/node.hpp"
#include "node/reply_reader.hpp"

#include <boost/redis/adapter/any_adapter.hpp>
#include <boost/redis/request.hpp>
#include <boost/redis/resp3/node.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace redlock::detail {

/// Commands that share one write, and who gets their replies. Filled in one turn or several, then
/// written, then read, and used again.
class batch
{
public:
    /// Adds a question.
    /// @param whole_script Send its script as text, because the server had forgotten it.
    void add(question_ptr asked, bool whole_script, command_encoder& encoder);

    /// Makes commands of the lists of this turn. @return What to write, if nothing more is added.
    /// Valid until `clear()`.
    [[nodiscard]] boost::redis::request& put_together(command_encoder& encoder);

    /// Takes what Boost.Redis parses. Calls `deliver(question, whole_script, answer)` for each
    /// answer.
    template <class Deliver>
    void read(
        boost::redis::any_adapter::parse_event event,
        const boost::redis::resp3::node_view& part,
        Deliver deliver
    )
    {
        using boost::redis::any_adapter;

        const command& replied = commands_[current_];
        const auto next = [&](const reply_shape& answer) {
            deliver(std::move(asked_[answered_++]), replied.whole_script, answer);
        };
        switch (event)
        {
        case any_adapter::parse_event::init:
            answers_.begin(replied.size, replied.is_list);
            break;
        case any_adapter::parse_event::node: answers_.read(part, next); break;
        case any_adapter::parse_event::done:
            answers_.end(next);
            ++current_;
            break;
        }
    }

    /// Takes out a question without an answer. @return Null if there is none.
    [[nodiscard]] question_ptr take_unanswered() noexcept;

    /// Forgets everything but the memory.
    void clear();

private:
    using question_list = std::vector<question_ptr>;

    /// A command, and how many questions it puts.
    struct command
    {
        std::size_t size;
        bool is_list;  ///< The reply is a list with an answer for each question.
        bool whole_script;
    };

    boost::redis::request request_;
    std::vector<command> commands_;
    question_list asked_;                          ///< In the order of the commands.
    std::array<question_list, verb_count> lists_;  ///< To be put together. Of this turn.
    std::size_t answered_ = 0;                     ///< Of `asked_`.
    std::size_t current_ = 0;                      ///< Of `commands_`: is being parsed.
    answer_reader answers_;
};

}  // namespace redlock::detail

#endif
