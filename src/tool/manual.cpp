#include "tool/command_line.hpp"

#include <cstddef>
#include <string_view>

/// Makes the man page and the completions from the description of the command line.
namespace redlock::tool {

namespace {

/// Escapes what troff would interpret.
std::string in_troff(std::string_view text)
{
    std::string made;
    for (const char each : text)
    {
        if (each == '\\')
            made += "\\e";
        else if (each == '-')
            made += "\\-";
        else
            made += each;
    }
    return made;
}

std::string names_of(const CLI::Option& of)
{
    std::string names = of.get_name(false, true);
    for (std::size_t at = 0; (at = names.find(',', at)) != names.npos; at += 2)
        names.insert(at + 1, " ");
    return names;
}

void write_options(std::string& to, const CLI::App& of)
{
    for (const CLI::Option* each : of.get_options())
    {
        if (each->get_positional() || each->get_description().empty())
            continue;
        to += ".TP\n.B " + in_troff(names_of(*each));
        if (each->get_type_size() > 0)
            to += " \\fI" + in_troff(each->get_type_name()) + "\\fR";
        to += '\n' + in_troff(each->get_description()) + ".\n";
    }
}

std::string long_options(const CLI::App& of)
{
    std::string made;
    for (const CLI::Option* each : of.get_options())
    {
        for (const std::string& name : each->get_lnames())
            made += (made.empty() ? "--" : " --") + name;
        for (const std::string& name : each->get_snames())
            made += " -" + name;
    }
    return made;
}

}  // namespace

std::string man_page(const CLI::App& of)
{
    std::string made =
        ".TH REDLOCK 1 \"\" \"redlock " REDLOCK_TOOL_VERSION "\"\n.SH NAME\nredlock \\- " +
        in_troff("distributed locks on independent Redis servers") + "\n.SH SYNOPSIS\n";
    const auto commands = of.get_subcommands([](const CLI::App*) { return true; });
    for (const CLI::App* each : commands)
        made += ".B redlock " + each->get_name() + "\n" + in_troff(synopsis(*each)) + "\n.br\n";
    made += ".SH COMMANDS\n";
    for (const CLI::App* each : commands)
    {
        made += ".SS " + each->get_name() + "\n" + in_troff(each->get_description()) + ".\n";
        write_options(made, *each);
        made += ".PP\n" + in_troff(each->get_footer()) + "\n";
    }
    made +=
        ".SH EXIT STATUS\n"
        ".B redlock run\nends with the status of the command, or 128 and the number of the signal "
        "that ended it.\n"
        ".TP\n.B 1\nThe answer is no: there is nothing to revoke or to free, or a node is not "
        "healthy.\n"
        ".TP\n.B 75\nSomeone else holds the resource, see \\-E.\n"
        ".TP\n.B 124\nThe lease was lost or revoked, and the command was stopped.\n"
        ".TP\n.B 125\nThere is a problem with the command line, the nodes or redlock itself.\n"
        ".TP\n.B 126, 127\nThe command can't be run, or isn't found.\n"
        ".SH ENVIRONMENT\n.TP\n.B REDLOCK_NODES\nThe nodes, unless \\-\\-nodes or "
        "\\-\\-nodes\\-file is given. "
        "The command doesn't see it.\n"
        ".TP\n.B REDLOCK_RESOURCE, REDLOCK_FENCE\nSet for the command of run and lead: the "
        "resource and the fencing token.\n";
    return made;
}

std::string completion(const CLI::App& of, const std::string& shell)
{
    std::string names;
    std::string cases;
    for (const CLI::App* each : of.get_subcommands([](const CLI::App*) { return true; }))
    {
        names += (names.empty() ? "" : " ") + each->get_name();
        cases += "    " + each->get_name() + ") words='" + long_options(*each) + "' ;;\n";
    }
    // zsh can read bash's completion.
    std::string made =
        shell == "zsh" ? "#compdef redlock\nautoload -U +X bashcompinit && bashcompinit\n" : "";
    made +=
        "_redlock() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} words i\n"
        "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "        # What follows is another command.\n"
        "        [[ ${COMP_WORDS[i]} == -- ]] && { COMPREPLY=($(compgen -c -- \"$word\")); return; "
        "}\n"
        "    done\n"
        "    case ${COMP_WORDS[1]} in\n" +
        cases + "    *) words='" + names +
        " --help --version' ;;\n"
        "    esac\n"
        "    [[ $COMP_CWORD == 1 ]] && words='" +
        names +
        " --help --version'\n"
        "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
        "}\ncomplete -o default -F _redlock redlock\n";
    return made;
}

}  // namespace redlock::tool
