#include <redlock/config.hpp>

#include <cstdio>
#include <string>

namespace redlock {

void log_to_stderr(log_level level, std::string_view line)
{
    if (level == log_level::info)
        return;
    // In one write, so that lines of several clients do not mix.
    const std::string text =
        std::string("redlock: ") + to_string(level) + ": " + std::string(line) + "\n";
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

}  // namespace redlock
