#ifndef REDLOCK_SRC_NODE_ANSWER_READER_HPP
#define REDLOCK_SRC_NODE_ANSWER_READER_HPP

#include "node/reply_shape.hpp"
#include "wire/resp.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// From the parts of a reply to what we make of it.
namespace redlock::detail {

/// A whole number, and nothing but that.
[[nodiscard]] std::optional<std::int64_t> read_number(std::string_view text);

/// Takes the first part of an answer.
void read_head(reply_shape& shape, const resp::part& part);

/// Takes one element of a list of numbers.
void read_element(reply_shape& shape, const resp::part& part);

/** Splits the reply to one command into the answers to its questions.

    A command puts one question and its reply is the answer, or it is a script for a list of
    questions and its reply is a list of answers. A reply that has too few of them, or another form,
    grants nothing: a question without an answer of its own gets one of kind `other`. An error in
    place of a list is the answer to all.
*/
class answer_reader
{
public:
    /// The reply to a command with so many questions follows.
    void begin(std::size_t questions, bool is_list) noexcept
    {
        left_ = questions;
        depth_ = is_list ? 1 : 0;
        begun_ = false;
        answer_.what = {};
    }

    /// Takes a part of the reply. Calls `deliver(answer)` if that shows that an answer is complete.
    template <class Deliver>
    void read(const resp::part& part, Deliver deliver)
    {
        if (part.depth > depth_)
            return read_element(answer_, part);
        if (std::exchange(begun_, part.depth == depth_))
            next(deliver);
        answer_.what = {};
        answer_.of_all = !begun_;
        read_head(answer_, part);
        // In place of a list only an error says something.
        if (!begun_ && answer_.what != reply_shape::kind::error)
            answer_.what = {};
    }

    /// The reply is complete. Calls `deliver(answer)` for each question that is left.
    template <class Deliver>
    void end(Deliver deliver)
    {
        if (begun_ && left_ > 0)
        {
            next(deliver);
            // The list was too short: we do not know what became of the others.
            answer_.what = {};
        }
        while (left_ > 0)
            next(deliver);
    }

private:
    template <class Deliver>
    void next(Deliver& deliver)
    {
        if (left_ == 0)
            return;
        --left_;
        deliver(std::as_const(answer_));
    }

    std::size_t left_ = 0;   ///< Questions without an answer.
    std::size_t depth_ = 0;  ///< Of the answers.
    bool begun_ = false;     ///< An answer, whose end is not known yet.
    reply_shape answer_;     ///< That one.
};

/// Bytes of the texts that are kept: ten times what a server has to say. A hostile one could fill
/// the memory with the replies to one request.
inline constexpr std::size_t max_texts = std::size_t{256} * 1024;

/// Everything that is text in the replies to a request, whatever its depth, up to `max_texts`. The
/// first error, if there is one, instead, cut to `core::max_error`.
struct texts
{
    std::vector<std::string> all;
    std::string error;
    std::size_t size = 0;  ///< Bytes that `all` takes.

    void read(const resp::part& part);

    [[nodiscard]] std::string first() const { return all.empty() ? std::string() : all.front(); }
};

}  // namespace redlock::detail

#endif
