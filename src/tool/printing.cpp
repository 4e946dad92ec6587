#include "tool/printing.hpp"

#include "core/one_line.hpp"

#include <boost/json/parse.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace redlock::tool {

namespace {

using namespace std::chrono_literals;

std::string in_utc(std::chrono::system_clock::time_point when)
{
    const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
    std::tm broken{};
    ::gmtime_r(&seconds, &broken);
    char text[32];
    const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &broken);
    return {text, size};
}

/// Whether a text is UTF-8, which JSON requires. What has to be escaped there doesn't matter.
bool is_utf8(std::string_view text)
{
    boost::system::error_code ec;
    std::string quoted = "\"";
    for (const char each : text)
    {
        const bool is_control = static_cast<unsigned char>(each) < 0x20;
        quoted += is_control || each == '"' || each == '\\' ? '_' : each;
    }
    boost::json::parse(quoted + '"', ec);
    return !ec;
}

}  // namespace

std::string in_utf8(std::string text)
{
    if (!is_utf8(text))
        std::ranges::replace_if(text, [](char each) { return (each & 0x80) != 0; }, '?');
    return text;
}

std::string shown(std::string text)
{
    return core::on_one_line(std::move(text));
}

void flush_output()
{
    errno = 0;
    if (std::cout.flush())
        return;
    const int why = errno;
    throw std::runtime_error(
        "cannot write the output" +
        (why == 0 ? std::string() : ": " + std::generic_category().message(why))
    );
}

bool is_terminal() noexcept
{
    return ::isatty(STDOUT_FILENO) == 1;
}

std::string in_words(milliseconds time)
{
    if (time == forever)
        return "forever";
    if (time < 1s)
        return std::to_string(time.count()) + " ms";
    if (time < 1min)
    {
        char text[32];
        std::snprintf(text, sizeof text, "%.1f", static_cast<double>(time.count()) / 1000);
        std::string made = text;
        if (made.ends_with(".0"))
            made.resize(made.size() - 2);
        return made + " s";
    }
    // The two largest units are enough.
    const auto in = [](auto count, const char* unit) { return std::to_string(count) + unit; };
    const auto join = [](std::string large, auto small_count, const char* unit) {
        return small_count == 0 ? large : large + ' ' + std::to_string(small_count) + unit;
    };
    if (time < 1h)
        return join(in(time / 1min, " min"), time % 1min / 1s, " s");
    if (time < 24h)
        return join(in(time / 1h, " h"), time % 1h / 1min, " min");
    return join(in(time / 24h, " d"), time % 24h / 1h, " h");
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
        shown(resource),
        state,
        held && !seen.note.empty() ? shown(std::string(seen.note.text())) : "-",
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
    made["note"] = in_utf8(shown(std::string(seen.note.text())));
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
