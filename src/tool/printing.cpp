#include "tool/printing.hpp"

#include "core/one_line.hpp"

#include <boost/json/parse.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <iostream>

#include <unistd.h>

namespace redlock::tool {

namespace {

std::string in_utc(std::chrono::system_clock::time_point when)
{
    const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
    std::tm broken{};
    ::gmtime_r(&seconds, &broken);
    char text[32];
    const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &broken);
    return {text, size};
}

/// Whether a text is UTF-8, which JSON requires.
bool is_utf8(std::string_view text)
{
    boost::system::error_code ec;
    std::string quoted = "\"";
    for (const char each : text)
        quoted += each == '"' || each == '\\' ? '_' : each;
    boost::json::parse(quoted + '"', ec);
    return !ec;
}

std::string note_of(const holding& seen)
{
    return core::on_one_line(std::string(seen.note.text()));
}

}  // namespace

std::string in_utf8(std::string text)
{
    if (!is_utf8(text))
        std::ranges::replace_if(text, [](char each) { return (each & 0x80) != 0; }, '?');
    return text;
}

bool is_terminal() noexcept
{
    return ::isatty(STDOUT_FILENO) == 1;
}

std::string in_words(milliseconds time)
{
    if (time == forever)
        return "forever";
    if (time < std::chrono::seconds(1))
        return std::to_string(time.count()) + " ms";
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(time.count()) / 1000);
    return text;
}

void print_table(
    const std::vector<std::string>& titles,
    const std::vector<std::vector<std::string>>& lines
)
{
    if (!is_terminal())
    {
        for (const auto& line : lines)
        {
            for (std::size_t i = 0; i < line.size(); ++i)
                std::cout << (i == 0 ? "" : "\t") << line[i];
            std::cout << std::endl;
        }
        return;
    }
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < titles.size(); ++i)
    {
        widths.push_back(titles[i].size());
        for (const auto& line : lines)
            widths[i] = std::max(widths[i], line[i].size());
    }
    const auto print = [&widths](const std::vector<std::string>& line) {
        for (std::size_t i = 0; i < line.size(); ++i)
        {
            std::cout << line[i];
            if (i + 1 < line.size())
                std::cout << std::string(widths[i] - line[i].size() + 2, ' ');
        }
        std::cout << std::endl;
    };
    std::cout << "\033[1m";
    print(titles);
    std::cout << "\033[0m";
    for (const auto& line : lines)
        print(line);
}

const std::vector<std::string>& holding_titles()
{
    static const std::vector<std::string> titles{
        "RESOURCE", "STATE", "HOLDER", "TOKEN", "SINCE", "LEFT", "WAITING", "NODES"
    };
    return titles;
}

std::vector<std::string> cells_of(
    const std::string& resource,
    const holding& seen,
    std::size_t nodes
)
{
    const std::size_t silent = nodes - seen.answered;
    const std::string others = silent > 0 ? ", " + std::to_string(silent) + " silent" : "";
    const bool held = seen.state == holding_state::held || seen.state == holding_state::kept;
    std::string state = to_string(seen.state);
    if (seen.revoked)
        state += ", revoked";
    return {
        resource,
        state,
        held && !seen.note.empty() ? note_of(seen) : "-",
        seen.token ? to_string(seen.token) : "-",
        seen.since ? in_utc(*seen.since) : "-",
        held ? in_words(seen.remaining) : "-",
        std::to_string(seen.waiting),
        std::to_string(seen.agree) + " of " + std::to_string(nodes) + others
    };
}

boost::json::object as_json(const std::string& resource, const holding& seen, std::size_t nodes)
{
    boost::json::object made;
    made["resource"] = in_utf8(resource);
    made["state"] = to_string(seen.state);
    made["note"] = in_utf8(note_of(seen));
    made["revoked"] = seen.revoked;
    // Tokens are below 2^53, so every JSON reader gets them right.
    made["token"] = seen.token.value();
    if (seen.since)
        made["since"] = in_utc(*seen.since);
    if (seen.remaining == forever)
        made["remaining_ms"] = nullptr;
    else
        made["remaining_ms"] = seen.remaining.count();
    made["waiting"] = seen.waiting;
    made["agree"] = seen.agree;
    made["answered"] = seen.answered;
    made["nodes"] = nodes;
    return made;
}

}  // namespace redlock::tool
