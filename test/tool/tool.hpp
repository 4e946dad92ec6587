#ifndef REDLOCK_TEST_TOOL_TOOL_HPP
#define REDLOCK_TEST_TOOL_TOOL_HPP

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/child_process.hpp"
#include "support/eventually.hpp"
#include "support/posix.hpp"
#include "support/redis_server.hpp"

namespace redlock::test {

/// Far longer than anything takes.
inline constexpr std::chrono::seconds patience{20};

/// `redlock` while it runs.
class tool
{
public:
    /// @param environment `NAME=value`.
    explicit tool(std::vector<std::string> arguments, std::vector<std::string> environment = {})
        : process_({
              .program = REDLOCK_TOOL,
              .arguments = with_name(std::move(arguments)),
              .environment = std::move(environment),
              .output = output_file(),
          })
    {
    }

    [[nodiscard]] std::string output() const { return read_file(output_file()); }

    [[nodiscard]] bool has_said(std::string_view text) const
    {
        return output().find(text) != std::string::npos;
    }

    /// Waits until it has printed `text`, errors included. @return Whether it has.
    [[nodiscard]] bool says(std::string_view text) const
    {
        return eventually([&] { return has_said(text); }, patience);
    }

    /// Waits for its end. @return Its exit status. Empty: it was killed, or does not end.
    [[nodiscard]] std::optional<int> exit_status()
    {
        const bool ended = eventually([this] { return process_.has_ended(); }, patience);
        BOOST_TEST(ended, "it printed: " << output());
        return process_.exit_status();
    }

    [[nodiscard]] bool ends_with(int status)
    {
        const std::optional<int> found = exit_status();
        BOOST_TEST_INFO("it printed: " << output());
        BOOST_TEST((found == status), "its status is " << found.value_or(-1));
        return found == status;
    }

    void signal(int number) const { ::kill(process_.pid(), number); }
    void kill() { process_.kill(); }
    [[nodiscard]] child_process& process() noexcept { return process_; }

private:
    static std::vector<std::string> with_name(std::vector<std::string> arguments)
    {
        arguments.insert(arguments.begin(), "redlock");
        return arguments;
    }

    [[nodiscard]] std::filesystem::path output_file() const { return folder_.path() / "output"; }

    temp_folder folder_;
    child_process process_;
};

inline std::string list_of(const redis_servers& nodes)
{
    std::string list;
    for (const std::string& url : nodes.urls())
        list += (list.empty() ? "" : ",") + url;
    return list;
}

/// Three fresh nodes that may vote, which `redlock` knows by its environment.
struct tool_nodes
{
    tool_nodes() { BOOST_TEST_REQUIRE(start({"init"}).ends_with(0)); }

    [[nodiscard]] tool start(std::vector<std::string> arguments)
    {
        return tool(std::move(arguments), {"REDLOCK_NODES=" + list_of(nodes)});
    }

    /// `redlock run` of a line of shell.
    [[nodiscard]] tool run(const std::string& line, std::vector<std::string> options = {})
    {
        std::vector<std::string> arguments{"run", "orders:42"};
        arguments.insert(arguments.end(), options.begin(), options.end());
        arguments.insert(arguments.end(), {"--", "sh", "-c", line});
        return start(std::move(arguments));
    }

    redis_servers nodes{3};
    temp_folder folder;
};

inline void write_file(const std::filesystem::path& file, const std::string& text)
{
    std::ofstream(file) << text;
}

/// Whether a process lives. A zombie does not.
[[nodiscard]] inline bool is_alive(int pid)
{
    const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    const auto end = stat.rfind(')');
    return end != std::string::npos && stat.at(end + 2) != 'Z';
}

/// The number behind a word in a text. Zero: there is none.
[[nodiscard]] inline int number_behind(std::string_view word, const std::string& text)
{
    const auto at = text.find(word);
    return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + word.size());
}

}  // namespace redlock::test

#endif
