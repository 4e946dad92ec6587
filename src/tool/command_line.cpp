#include "tool/command_line.hpp"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace redlock::tool {

namespace {

/// Shows what follows `--`, which isn't one of our arguments.
class help_formatter final : public CLI::Formatter
{
public:
    std::string make_usage(const CLI::App* app, std::string name) const override
    {
        return "\nUsage: " + (name.empty() ? app->get_name() : name) + synopsis(*app) + "\n\n";
    }

    std::string make_footer(const CLI::App* app) const override
    {
        return '\n' + app->get_footer() + '\n';
    }
};

/// An option whose value is a time.
CLI::Option* add_time(
    CLI::App& to,
    const std::string& name,
    std::function<void(milliseconds)> set,
    const std::string& words
)
{
    const auto read = [set = std::move(set), name](const std::string& text) {
        try
        {
            set(read_time(text));
        }
        catch (const std::invalid_argument& problem)
        {
            throw CLI::ValidationError(name, problem.what());
        }
    };
    return to.add_option_function<std::string>(name, read, words)->type_name("TIME");
}

CLI::Option* add_time(
    CLI::App& to,
    const std::string& name,
    milliseconds& into,
    const std::string& words
)
{
    return add_time(to, name, [&into](milliseconds time) { into = time; }, words);
}

/// @param prints Whether the command prints an answer, in words or in JSON.
void add_node_options(CLI::App& to, node_options& into, bool prints = true)
{
    to.add_option(
          "--nodes",
          into.nodes,
          "comma-separated URLs of the nodes, without passwords. "
          "Default: the variable REDLOCK_NODES"
    )
        ->type_name("URL,...");
    to.add_option(
          "--nodes-file",
          into.nodes_file,
          "a file with one URL per line; these may contain passwords"
    )
        ->type_name("FILE");
    add_time(
        to,
        "--node-timeout",
        into.node_timeout,
        "how long a node may take to answer. Default: 200ms"
    );
    add_time(
        to, "--ttl-max", into.ttl_max, "the longest ttl of all clients of these nodes. Default: 30s"
    );
    add_time(
        to,
        "--other-ttl-max",
        into.other_ttl_max,
        "the other ttl_max, while you raise it client by client. Default: none"
    );
    add_time(
        to,
        "--clock-window",
        into.clock_window,
        "how far apart the nodes' clocks may be. Default: 500ms"
    );
    if (prints)
        to.add_flag("--json", into.json, "print JSON");
}

void add_run_options(CLI::App& to, run_options& into)
{
    to.add_option("resource", into.resource, "what to lock: any name")
        ->required()
        ->type_name("RESOURCE");
    add_time(
        to,
        "--ttl",
        into.ttl,
        "how long the resource stays locked if this machine dies. Default: 10s"
    );
    add_time(to, "--grace", into.grace, "how long no one else gets it after this holder is lost");
    add_time(
        to,
        "--stop-before",
        [&into](milliseconds time) { into.stop_before = time; },
        "send TERM to the command this long before the deadline if the lease cannot be extended. "
        "Default: a third of the ttl"
    );
    to.add_option("--note", into.note, "what others see as the holder. Default: host and process")
        ->type_name("TEXT");
}

CLI::App& add_command(CLI::App& to, const char* name, const char* words, const char* example)
{
    CLI::App& made = *to.add_subcommand(name, words);
    made.footer(std::string("Example: ") + example);
    return made;
}

void add_run(CLI::App& to, options& into)
{
    CLI::App& run = add_command(
        to,
        "run",
        "Run a command while this process holds a resource",
        "redlock run backup -n -- /usr/local/bin/backup --full"
    );
    add_run_options(run, into.run);
    auto* const wait = add_time(
        run,
        "--wait",
        [&into](milliseconds time) { into.run.wait = time; },
        "give up after this long. Default: wait until it is granted"
    );
    run.add_flag(
           "-n,--nonblock", into.run.try_once, "give up at once if someone else holds the resource"
    )
        ->excludes(wait);
    add_time(
        run,
        "--at-least",
        into.run.at_least,
        "keep the resource locked for at least this long after it was acquired, even if the "
        "command ends or fails earlier"
    );
    run.add_flag(
        "--free-on-failure",
        into.run.free_on_failure,
        "with --at-least: free the resource at once if the command fails, so that it can be tried "
        "again"
    );
    run.add_option(
           "-E,--conflict-exit-code",
           into.run.held_status,
           "the exit status if someone else holds the resource. Default: 75"
    )
        ->check(CLI::Range(0, 255))
        ->type_name("CODE");
    add_node_options(run, into.nodes, false);
}

void add_lead(CLI::App& to, options& into)
{
    CLI::App& lead = add_command(
        to,
        "lead",
        "Run a command each time this process becomes the leader",
        "redlock lead shop:scheduler -- ./scheduler"
    );
    add_run_options(lead, into.run);
    add_time(
        lead,
        "--pause",
        into.run.pause,
        "wait up to this long before trying again, so that others can lead. Default: 500ms"
    );
    add_node_options(lead, into.nodes, false);
}

void add_query(
    CLI::App& to,
    options& into,
    const char* name,
    const char* words,
    const char* example,
    bool many = false
)
{
    CLI::App& made = add_command(to, name, words, example);
    CLI::Option* const resources =
        made.add_option("resource", into.query.resources, "the name of the resource")
            ->required()
            ->type_name("RESOURCE");
    if (!many)
        resources->expected(1);
    add_node_options(made, into.nodes);
}

void add_queries(CLI::App& to, options& into)
{
    add_query(to, into, "show", "Show who holds resources", "redlock show orders:42 backup", true);
    add_query(
        to,
        into,
        "watch",
        "Show who holds a resource, and each change",
        "redlock watch shop:scheduler"
    );
    add_query(
        to, into, "revoke", "Ask the holder of a resource to stop", "redlock revoke shop:scheduler"
    );
    to.get_subcommand("revoke")
        ->add_option("--token", into.query.token, "only if the holder has this token")
        ->type_name("NUMBER");
    add_query(
        to,
        into,
        "free",
        "Free a resource that nobody holds but --at-least still keeps locked",
        "redlock free report"
    );
    add_node_options(
        add_command(
            to,
            "init",
            "Admit new nodes, once, before the first client",
            "redlock init --nodes redis://a,redis://b,redis://c"
        ),
        into.nodes
    );
    add_node_options(
        add_command(to, "doctor", "Report what is wrong with the nodes", "redlock doctor"),
        into.nodes
    );
}

void add_local(CLI::App& to, options& into)
{
    CLI::App& local = add_command(
        to,
        "local",
        "Start servers on this machine that end with the command or on Ctrl-C",
        "redlock local 3 -- ./my_program"
    );
    local.add_option("number", into.local.count, "how many servers. Default: 3")
        ->check(CLI::Range(1, 15))
        ->type_name("NUMBER");
    local
        .add_option(
            "--server",
            into.local.server,
            "the server program. Default: redis-server, else valkey-server"
        )
        ->type_name("PROGRAM");
    local
        .add_option(
            "--port",
            into.local.port,
            "the port of the first server; the others follow it. Default: free ports"
        )
        ->check(CLI::Range(1, 65535))
        ->type_name("NUMBER");
    local.add_flag("--json", into.nodes.json, "print JSON");
}

std::string read_nodes_file(const std::string& name)
{
    std::ifstream file(name);
    if (!file)
        throw std::invalid_argument("cannot read the nodes file '" + name + "'");
    std::string urls;
    for (std::string line; std::getline(file, line);)
    {
        line.erase(std::min(line.find('#'), line.size()));
        if (line.find_first_not_of(" \t\r,") == line.npos)
            continue;
        urls += (urls.empty() ? "" : ",") + line;
    }
    return urls;
}

}  // namespace

std::string synopsis(const CLI::App& app)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 9> tails{{
        {"run", " RESOURCE [OPTIONS] -- COMMAND [ARGUMENT...]"},
        {"lead", " RESOURCE [OPTIONS] -- COMMAND [ARGUMENT...]"},
        {"show", " RESOURCE... [OPTIONS]"},
        {"watch", " RESOURCE [OPTIONS]"},
        {"revoke", " RESOURCE [OPTIONS]"},
        {"free", " RESOURCE [OPTIONS]"},
        {"init", " [OPTIONS]"},
        {"doctor", " [OPTIONS]"},
        {"local", " [NUMBER] [OPTIONS] [-- COMMAND [ARGUMENT...]]"},
    }};
    const auto* const found =
        std::ranges::find(tails, app.get_name(), [](const auto& each) { return each.first; });
    return found == tails.end() ? " COMMAND [OPTIONS]" : std::string(found->second);
}

std::unique_ptr<CLI::App> make_command_line(options& into)
{
    auto made =
        std::make_unique<CLI::App>("Distributed locks on independent Redis servers", "redlock");
    made->formatter(std::make_shared<help_formatter>());
    made->require_subcommand(1);
    made->set_version_flag("--version", REDLOCK_TOOL_VERSION);
    made->footer(
        "Example: redlock local 3 -- redlock run orders:42 -- echo locked\n"
        "`redlock COMMAND --help` lists the options of a command."
    );
    add_run(*made, into);
    add_lead(*made, into);
    add_queries(*made, into);
    add_local(*made, into);
    return made;
}

milliseconds read_time(const std::string& text)
{
    constexpr std::array<std::pair<std::string_view, double>, 7> units{{
        {"", 1e3},
        {"ms", 1},
        {"s", 1e3},
        {"min", 60e3},
        {"m", 60e3},
        {"h", 3600e3},
        {"d", 24 * 3600e3},
    }};
    const double most = 1e15;
    double sum = 0;
    double last_unit = most;
    std::string_view rest = text;
    do
    {
        double number = 0;
        const char* const end = rest.data() + rest.size();
        const auto [unit, failure] = std::from_chars(rest.data(), end, number);
        const auto after = std::find_if(unit, end, [](char each) { return each < 'a'; });
        const auto* const found =
            std::ranges::find(units, std::string_view(unit, after), [](const auto& each) {
                return each.first;
            });
        // Largest unit first, each at most once. A number alone is a whole time.
        const bool is_part = rest.size() != text.size() || after != end;
        const bool fits = found != units.end() && found->second < last_unit &&
                          (!is_part || !found->first.empty());
        if (failure != std::errc() || !fits || !(number >= 0) ||
            sum + number * found->second > most)
            throw std::invalid_argument(
                "'" + text + "' is not a time; write 250ms, 10s, 5min, 1h30m or 2d"
            );
        sum += number * found->second;
        last_unit = found->second;
        rest = std::string_view(after, end);
    } while (!rest.empty());
    return milliseconds(static_cast<milliseconds::rep>(sum));
}

client_config make_config(const node_options& from)
{
    client_config made;
    std::string urls = from.nodes;
    const bool as_argument = !urls.empty();
    if (!from.nodes_file.empty())
    {
        if (as_argument)
            throw std::invalid_argument("give --nodes or --nodes-file, not both");
        urls = read_nodes_file(from.nodes_file);
    }
    else if (const char* const set = as_argument ? nullptr : std::getenv("REDLOCK_NODES"))
    {
        urls = set;
    }
    if (urls.empty())
    {
        throw std::invalid_argument(
            "no nodes given. Set REDLOCK_NODES=redis://HOST:PORT,... or use --nodes or "
            "--nodes-file. To try it out: redlock local 3 -- redlock run orders:42 -- echo locked"
        );
    }
    made.nodes = parse_nodes(urls);
    const auto has_password = [](const node_config& each) {
        return !each.password.empty() || (each.sentinel && !each.sentinel->password.empty());
    };
    if (as_argument && std::ranges::any_of(made.nodes, has_password))
    {
        throw std::invalid_argument(
            "--nodes has a password, which everyone on this machine can read in the process list; "
            "put the URLs in the variable REDLOCK_NODES or in a file for --nodes-file"
        );
    }
    made.node_timeout = from.node_timeout;
    made.ttl_max = from.ttl_max;
    made.other_ttl_max = from.other_ttl_max;
    made.clock_window = from.clock_window;
    return made;
}

}  // namespace redlock::tool
