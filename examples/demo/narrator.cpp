#include "narrator.hpp"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include <unistd.h>

namespace demo {

namespace {

bool in_colour()
{
    return ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
}

/// Why a node voted as it did. Empty if there is nothing to explain.
std::string explain(const redlock::node_vote& from)
{
    if (from.reason == redlock::reason::none)
        return "";
    const std::string text = to_string(from.reason);
    if (from.held_for)
        return text + ", the key has " + in_ms(*from.held_for) + " left";
    if (from.ready_in)
        return text + ", votes again in " + in_ms(*from.ready_in);
    if (from.code)
        return text + ", " + from.code.message();
    if (!from.text.empty())
        return text + ", " + from.text;
    return text;
}

}  // namespace

void headline(int step, const std::string& text)
{
    const std::string line = std::to_string(step) + ". " + text;
    if (in_colour())
        std::cout << "\n\033[1m" << line << "\033[0m" << std::endl;
    else
        std::cout << '\n' << line << std::endl;
}

void fact(bool holds, const std::string& text)
{
    if (!holds)
        throw std::runtime_error("didn't end as expected: " + text);
    std::cout << "  " << text << std::endl;
}

void print_votes(const redlock::diagnostics& report)
{
    for (const redlock::node_vote& from : report.votes)
    {
        const char* const vote = from.vote ? to_string(*from.vote) : "not needed";
        const std::string why = explain(from);
        std::cout << "    " << from.node << "  " << vote << (why.empty() ? "" : ": ") << why
                  << std::endl;
    }
}

std::string in_ms(std::chrono::nanoseconds duration)
{
    const double ms = std::chrono::duration<double, std::milli>(duration).count();
    char text[32];
    std::snprintf(text, sizeof text, ms < 10 ? "%.2f ms" : "%.0f ms", ms);
    return text;
}

}  // namespace demo
