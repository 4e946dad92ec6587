#ifndef REDLOCK_SRC_CORE_ONE_LINE_HPP
#define REDLOCK_SRC_CORE_ONE_LINE_HPP

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace redlock::core {

/// A server's words are cut to this size when shown.
inline constexpr std::size_t max_line = 1000;

/// Its errors are cut to this size, because each lease may keep some. Most take a third of that.
inline constexpr std::size_t max_error = 256;

/// Marks a text that was cut.
inline constexpr std::string_view cut_mark = "...";

/// The part of a server's error that is kept.
[[nodiscard]] inline std::string kept_error(std::string_view text)
{
    std::string kept(text.substr(0, max_error));
    if (text.size() > max_error)
        kept += cut_mark;
    return kept;
}

/// A server's words on one line of bounded length, so that they can't forge log lines.
[[nodiscard]] inline std::string on_one_line(std::string text)
{
    if (text.size() > max_line)
    {
        text.resize(max_line);
        text += cut_mark;
    }
    std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    return text;
}

}  // namespace redlock::core

#endif
