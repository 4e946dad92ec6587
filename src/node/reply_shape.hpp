#ifndef REDLOCK_SRC_NODE_REPLY_SHAPE_HPP
#define REDLOCK_SRC_NODE_REPLY_SHAPE_HPP

#include "node/node.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace redlock::detail {

/// One reply of a server as far as we care: a scalar, or a short list of numbers.
struct reply_shape
{
    enum class kind : std::uint8_t
    {
        other,  ///< Anything that none of our commands gets.
        ok,     ///< The simple string "OK".
        null,
        number,
        numbers,
        error,
    };

    /// Longest list that any of our commands gets.
    static constexpr std::size_t max_numbers = 5;

    kind what = kind::other;
    std::int64_t number = 0;
    std::string text;  ///< Of an error, cut to `core::max_error`.
    std::array<std::int64_t, max_numbers> numbers{};
    std::size_t count = 0;  ///< Of `numbers`.
    bool of_all = false;    ///< An error in place of a list: the command did nothing.

    [[nodiscard]] bool is_noscript() const noexcept
    {
        return what == kind::error && text.starts_with("NOSCRIPT");
    }

    [[nodiscard]] bool is_noperm() const noexcept
    {
        return what == kind::error && text.starts_with("NOPERM");
    }
};

/** What a reply counts as.

    @param asked The verb of the question.
    @param stamp The stamp of a guarded question, which the answer must repeat. Zero in plain mode.

    Only the exact shape of a success is a grant. An error reply is a refusal, for none of our
    commands writes before it can fail. Anything else is a failure: we do not know what happened.
*/
[[nodiscard]] reply interpret(verb asked, std::uint64_t stamp, const reply_shape& from) noexcept;

}  // namespace redlock::detail

#endif
