#ifndef REDLOCK_NOTE_HPP
#define REDLOCK_NOTE_HPP

#include <redlock/detail/export.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>

namespace redlock {

/** A text in a hold that says who holds the resource. For people and tools: it decides nothing.

    Any bytes. It has its own copy, so it can be made from a temporary text. It's trivially
    copyable, so options are too.
*/
class note
{
public:
    static constexpr std::size_t max_size = 120;  ///< In bytes.

    /// Empty. In options it means `client_config::name`; announcing it removes the note.
    constexpr note() noexcept = default;

    /// @throws std::invalid_argument if `text` has more than `max_size` bytes.
    template <std::convertible_to<std::string_view> Text>
    note(const Text& text) : note(from_text{}, text)
    {
    }

    /// As given. Valid as long as the note exists.
    [[nodiscard]] constexpr std::string_view text() const noexcept { return {text_.data(), size_}; }

    /// Whether the text is empty.
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }

    /// Compares the texts.
    friend constexpr bool operator==(const note& left, const note& right) noexcept
    {
        return left.text() == right.text();
    }

private:
    /// Distinguishes the constructor below from the public one.
    struct from_text
    {
    };

    REDLOCK_EXPORT note(from_text, std::string_view text);

    std::array<char, max_size> text_{};
    std::uint8_t size_ = 0;
};

/// Prints the text.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream& out, const note& from);

}  // namespace redlock

#endif
