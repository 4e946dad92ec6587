#ifndef REDLOCK_TEST_EXAMPLES_PROGRAM_HPP
#define REDLOCK_TEST_EXAMPLES_PROGRAM_HPP

#include <redlock/config.hpp>
#include <redlock/error.hpp>
#include <redlock/initialize.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
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

/// Far longer than any example takes.
inline constexpr std::chrono::seconds patience{30};

inline std::string list_of(const redis_servers& nodes)
{
    std::string list;
    for (const std::string& url : nodes.urls())
        list += (list.empty() ? "" : ",") + url;
    return list;
}

/// An example that runs.
class program
{
public:
    /// @param file Where it is in the folder of examples.
    program(const std::filesystem::path& file, std::vector<std::string> arguments)
        : process_({
              .program = std::filesystem::path(REDLOCK_EXAMPLES) / file,
              .arguments = with_name(file, std::move(arguments)),
              .output = output_file(),
          })
    {
    }

    program(const std::string& name, const redis_servers& nodes)
        : program("redlock_" + name, {list_of(nodes)})
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
        BOOST_TEST_INFO("it printed: " << output());
        BOOST_TEST(ended);
        return process_.exit_status();
    }

    void signal(int number) const { ::kill(process_.pid(), number); }
    void kill() { process_.kill(); }

private:
    static std::vector<std::string> with_name(
        const std::filesystem::path& file,
        std::vector<std::string> arguments
    )
    {
        arguments.insert(arguments.begin(), file.filename());
        return arguments;
    }

    [[nodiscard]] std::filesystem::path output_file() const { return folder_.path() / "output"; }

    temp_folder folder_;
    child_process process_;
};

/// Three fresh nodes that may vote.
class example_nodes
{
public:
    example_nodes()
    {
        client_config config;
        config.nodes = parse_nodes(list_of(nodes));
        boost::asio::io_context context;
        error_code outcome;
        async_initialize_nodes(context, config, [&outcome](error_code ec) { outcome = ec; });
        context.run();
        BOOST_TEST_REQUIRE(outcome == error_code());
    }

    /// Sets the key of a resource, as any other Redlock client would.
    void hold_elsewhere(const std::string& resource, std::chrono::milliseconds ttl)
    {
        for (redis_server& node : nodes)
            node.command({"SET", resource, "another", "PX", std::to_string(ttl.count())});
    }

    /// A key that is only deleted would be set again by the next extension.
    void take_away(const std::string& resource)
    {
        hold_elsewhere(resource, std::chrono::minutes(1));
    }

    [[nodiscard]] bool all_hold(const std::string& resource)
    {
        return eventually([&] { return count(resource) == nodes.size(); });
    }

    [[nodiscard]] bool is_free(const std::string& resource)
    {
        return eventually([&] { return count(resource) == 0; });
    }

    redis_servers nodes{3};

private:
    /// How many nodes have the key.
    std::size_t count(const std::string& resource)
    {
        const auto has = [&](redis_server& node) { return node.client().exists(resource); };
        return static_cast<std::size_t>(std::ranges::count_if(nodes, has));
    }
};

inline std::string message_of(redlock::error value)
{
    return make_error_code(value).message();
}

/// The number after `word` in what a program has printed.
inline std::uint64_t number_after(std::string_view word, const std::string& output)
{
    const std::size_t at = output.find(word);
    BOOST_TEST_REQUIRE(at != std::string::npos);
    return std::stoull(output.substr(at + word.size()));
}

}  // namespace redlock::test

#endif
