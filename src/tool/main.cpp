// redlock: locks for shell scripts and operators.

#include "tool/commands.hpp"
#include "tool/printing.hpp"

#include <CLI/Error.hpp>

#include <algorithm>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace redlock::tool;

struct command
{
    std::string_view name;
    int (*run)(const options&);
};

constexpr command commands[]{
    {"run", run},
    {"lead", lead},
    {"show", show},
    {"watch", watch},
    {"revoke", revoke},
    {"free", free_kept},
    {"init", init},
    {"doctor", doctor},
    {"local", local},
};

/// Writes the man page and the completions for the packages.
bool is_written(const CLI::App& about, const std::vector<std::string>& arguments)
{
    if (arguments.empty() || !arguments.front().starts_with("--write-"))
        return false;
    const std::string what = arguments.front().substr(8);
    std::cout << (what == "man" ? man_page(about) : completion(about, what));
    return true;
}

void check_name(const std::string& name)
{
    std::string names;
    for (const command& each : commands)
    {
        if (each.name == name)
            return;
        names += (names.empty() ? "" : ", ") + std::string(each.name);
    }
    throw std::invalid_argument("unknown command '" + name + "'; the commands are " + names);
}

/// A hint for a command given without dashes.
constexpr const char* ask_for_dashes =
    "Write the command to run after --, as in: redlock run orders:42 -- echo locked";

bool takes_command(std::string_view name)
{
    return name == "run" || name == "lead" || name == "local";
}

int carry_out(std::vector<std::string> arguments)
{
    options given;
    const auto line = make_command_line(given);
    if (is_written(*line, arguments))
        return 0;
    if (!arguments.empty() && !arguments.front().starts_with('-'))
        check_name(arguments.front());
    // Everything after the dashes is the child's, whatever it looks like.
    const auto dashes = std::ranges::find(arguments, "--");
    const bool has_command = dashes != arguments.end();
    const std::vector<std::string> child(has_command ? dashes + 1 : dashes, arguments.end());
    arguments.erase(dashes, arguments.end());
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    try
    {
        line->parse(reversed);
    }
    catch (const CLI::ParseError& problem)
    {
        const bool lacks_dashes = !has_command && !arguments.empty() &&
                                  takes_command(arguments.front()) &&
                                  dynamic_cast<const CLI::ExtrasError*>(&problem);
        if (lacks_dashes)
            throw std::invalid_argument(std::string(problem.what()) + ". " + ask_for_dashes);
        return line->exit(problem) == 0 ? 0 : static_cast<int>(status::ours);
    }
    given.run.command = child;
    given.local.command = child;
    const std::string name = line->get_subcommands().front()->get_name();
    if (takes_command(name) && name != "local" && child.empty())
        throw std::invalid_argument(
            "give a command after --: redlock " + name + " RESOURCE -- COMMAND"
        );
    if (!takes_command(name) && has_command)
        throw std::invalid_argument("'" + name + "' takes no command after --");
    const int outcome = std::ranges::find(commands, name, &command::name)->run(given);
    flush_output();
    return outcome;
}

}  // namespace

int main(int count, char** arguments)
{
    try
    {
        return carry_out({arguments + 1, arguments + count});
    }
    catch (const std::exception& problem)
    {
        const std::string_view words = problem.what();
        std::cerr << (words.starts_with("redlock: ") ? "" : "redlock: ") << words << '\n';
        return static_cast<int>(status::ours);
    }
}
