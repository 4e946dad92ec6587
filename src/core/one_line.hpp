#ifndef REDLOCK_SRC_CORE_ONE_LINE_HPP
#define REDLOCK_SRC_CORE_ONE_LINE_HPP

#include <algorithm>
#include <cstddef>
#include <string>

namespace redlock::core {

/// What a server says is shown up to here. Its errors have a tenth of that.
inline constexpr std::size_t max_line = 1000;

/// A server's words on one line of bounded length: whoever may write them must not forge a log.
[[nodiscard]] inline std::string on_one_line(std::string text)
{
    if (text.size() > max_line)
    {
        text.resize(max_line);
        text += "...";
    }
    std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    return text;
}

}  // namespace redlock::core

#endif
