#ifndef REDLOCK_SRC_CORE_ONE_LINE_HPP
#define REDLOCK_SRC_CORE_ONE_LINE_HPP

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace redlock::core {

/// What a server says is shown up to here.
inline constexpr std::size_t max_line = 1000;

/// Its errors are kept up to here, for each lease may keep some. Most have a third of that.
inline constexpr std::size_t max_error = 256;

/// Follows what was cut.
inline constexpr std::string_view cut_mark = "...";

/// What is kept of a server's error.
[[nodiscard]] inline std::string kept_error(std::string_view text)
{
    std::string kept(text.substr(0, max_error));
    if (text.size() > max_error)
        kept += cut_mark;
    return kept;
}

/// A server's words on one line of bounded length: whoever may write them must not forge a log.
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
