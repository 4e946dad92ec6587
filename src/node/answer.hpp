#ifndef REDLOCK_SRC_NODE_ANSWER_HPP
#define REDLOCK_SRC_NODE_ANSWER_HPP

#include "wire/resp.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// Turns the parts of a reply into answers to questions.
namespace redlock::detail {

/** A server's answer to one question, flat: a scalar, or a short list of numbers and texts.

    Its meaning depends on the verb: see verbs.hpp.
*/
struct answer
{
    enum class kind : std::uint8_t
    {
        other,  ///< Anything that none of our commands gets.
        ok,     ///< The simple string "OK".
        null,
        error,   ///< Its only element is the text, cut to `core::max_error`.
        scalar,  ///< One element that isn't in a list.
        list,
    };

    using element = std::variant<std::int64_t, std::string>;

    /// Longest list that any of our commands gets.
    static constexpr std::size_t max_elements = 6;

    /// Longest text that any of our commands gets.
    static constexpr std::size_t max_text = 1024;

    kind what = kind::other;
    std::array<element, max_elements> elements{};
    std::size_t count = 0;  ///< Of `elements`.
    bool of_all = false;    ///< An error in place of a list: the command did nothing.

    /// A number among the elements. Empty if there is none at this place.
    [[nodiscard]] std::optional<std::int64_t> number(std::size_t at = 0) const noexcept;

    /// A text among the elements. Empty if there is none at this place.
    [[nodiscard]] std::optional<std::string_view> text(std::size_t at = 0) const noexcept;

    /// Whether it is an error of this kind. The kind is the error's first word.
    [[nodiscard]] bool is_error(std::string_view code) const noexcept;
};

/** Splits the reply to one command into the answers to its questions.

    A command puts one question and its reply is the answer, or it is a script for a list of
    questions and its reply is a list of answers. A reply with too few of them, or another form,
    grants nothing: a question without an answer gets one of kind `other`. An error in place of a
    list is the answer to all.
*/
class answer_reader
{
public:
    /// The reply to a command with this many questions follows.
    void begin(std::size_t questions, bool is_list) noexcept
    {
        left_ = questions;
        depth_ = is_list ? 1 : 0;
        begun_ = false;
        answer_.what = {};
    }

    /// Takes a part of the reply. Calls `deliver(answer)` if this shows that an answer is complete.
    template <class Deliver>
    void read(const resp::part& part, Deliver deliver)
    {
        if (part.depth > depth_)
            return read_element(part);
        if (std::exchange(begun_, part.depth == depth_))
            next(deliver);
        read_head(part);
    }

    /// The reply is complete. Calls `deliver(answer)` for each question that is left.
    template <class Deliver>
    void end(Deliver deliver)
    {
        if (begun_ && left_ > 0)
        {
            next(deliver);
            // The list was too short, so we don't know what became of the others.
            answer_.what = {};
        }
        while (left_ > 0)
            next(deliver);
    }

private:
    void read_head(const resp::part& part);
    void read_element(const resp::part& part);

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
    bool begun_ = false;     ///< An answer has begun, and its end isn't known yet.
    answer answer_;          ///< That one.
};

/// Reads a text that is a whole number and nothing else.
[[nodiscard]] std::optional<std::int64_t> read_number(std::string_view text);

/// The most bytes of texts that are kept: ten times what a server has to say. A hostile server
/// could fill the memory with the replies to one request.
inline constexpr std::size_t max_texts = std::size_t{256} * 1024;

/// All texts in the replies to a request, at any depth, up to `max_texts`. If there is an error,
/// only the first one, cut to `core::max_error`.
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
