#ifndef REDLOCK_SRC_NODE_REPLY_SHAPE_HPP
#define REDLOCK_SRC_NODE_REPLY_SHAPE_HPP

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

}  // namespace redlock::detail

#endif
