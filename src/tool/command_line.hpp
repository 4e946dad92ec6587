#ifndef REDLOCK_SRC_TOOL_COMMAND_LINE_HPP
#define REDLOCK_SRC_TOOL_COMMAND_LINE_HPP

#include <redlock/config.hpp>
#include <redlock/fencing.hpp>
#include <redlock/time.hpp>

#include <CLI/App.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The command line of `redlock`. The man page and the completions are made from it too.
namespace redlock::tool {

/// Exit status of a command. A child's status is passed on unchanged.
enum class status : int
{
    ok = 0,
    no = 1,          ///< The answer is no: nothing to do, or something is wrong with a node.
    held = 75,       ///< Another client holds the resource. EX_TEMPFAIL.
    lost = 124,      ///< The lease was lost, and the child was stopped.
    ours = 125,      ///< The command line, the nodes, or `redlock` itself failed.
    not_run = 126,   ///< The child could not be run.
    not_found = 127  ///< There is no such program.
};

/// How the nodes are reached, the same for all commands.
struct node_options
{
    std::string nodes{};  ///< URLs, separated by commas.
    std::string nodes_file{};
    milliseconds node_timeout{200};
    milliseconds ttl_max{30'000};
    milliseconds other_ttl_max{0};
    milliseconds clock_window{500};
    bool json = false;
};

/// What `run` and `lead` do with a child.
struct run_options
{
    std::string resource{};
    std::vector<std::string> command{};
    milliseconds ttl{10'000};
    std::optional<milliseconds> wait{};  ///< Empty: until it is granted.
    bool try_once = false;
    milliseconds at_least{0};
    bool free_on_failure = false;  ///< Then `at_least` is only for commands that succeed.
    milliseconds grace{0};
    std::optional<milliseconds> stop_before{};  ///< Empty: a third of the ttl, or less if needed.
    std::string note{};
    int held_status = static_cast<int>(status::held);
    milliseconds pause{500};  ///< For `lead`.
};

/// The arguments of the other commands.
struct query_options
{
    std::vector<std::string> resources{};
    std::uint64_t token = 0;  ///< Of the hold to revoke. Zero: the current holder's.
};

struct local_options
{
    std::size_t count = 3;
    std::string server = "redis-server";
    std::uint16_t port = 0;  ///< Of the first one. Zero: free ports.
    std::vector<std::string> command{};
};

struct options
{
    node_options nodes{};
    run_options run{};
    query_options query{};
    local_options local{};
};

/** Describes the commands.

    @param into Set by parsing a command line. Must outlive the result.
*/
[[nodiscard]] std::unique_ptr<CLI::App> make_command_line(options& into);

/// The text that follows the name of a command in its usage.
[[nodiscard]] std::string synopsis(const CLI::App& of);

/// Reads "250ms", "10s", "1h30m", "2d"; a number alone means seconds.
/// @throws std::invalid_argument naming the text.
[[nodiscard]] milliseconds read_time(const std::string& text);

/// The nodes that `--nodes`, `--nodes-file` or REDLOCK_NODES name.
/// @throws std::invalid_argument if there are none, or a password is in an argument.
[[nodiscard]] client_config make_config(const node_options& from);

/// The man page, in troff.
[[nodiscard]] std::string man_page(const CLI::App& of);

/// @param shell "bash" or "zsh".
[[nodiscard]] std::string completion(const CLI::App& of, const std::string& shell);

}  // namespace redlock::tool

#endif
