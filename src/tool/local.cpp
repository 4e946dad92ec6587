#include <redlock/initialize.hpp>

#include "tool/child.hpp"
#include "tool/commands.hpp"
#include "tool/job.hpp"
#include "tool/signals.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <list>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/// Runs servers on this machine, for first tries, tests and demonstrations.
namespace redlock::tool {

namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds start_timeout{10};

/// A folder that is removed when this process ends, even if it is killed: another process, which
/// waits only for that, removes it.
class temporary_folder
{
public:
    temporary_folder()
    {
        std::string name = std::filesystem::temp_directory_path() / "redlock.XXXXXX";
        if (!::mkdtemp(name.data()))
            throw std::system_error(errno, std::generic_category(), name);
        path_ = name;
        int ends[2];
        make_pipe(ends);
        cleaner_ = ::fork();
        if (cleaner_ == 0)
            clean_up(ends[0], ends[1]);
        if (cleaner_ < 0)
            throw std::system_error(errno, std::generic_category(), "fork");
        ::close(ends[0]);
        alive_ = ends[1];
    }

    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;

    ~temporary_folder()
    {
        ::close(alive_);
        ::waitpid(cleaner_, nullptr, 0);
    }

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    [[noreturn]] void clean_up(int input, int output)
    {
        ::setsid();  // It must not get signals from the terminal.
        ::close(output);
        char none = 0;
        while (::read(input, &none, 1) != 0)
        {
        }
        // The servers end at the same time and may write once more.
        for (int attempts = 0; attempts < 100 && std::filesystem::exists(path_); ++attempts)
        {
            std::error_code ignored;
            std::filesystem::remove_all(path_, ignored);
            ::usleep(20'000);
        }
        ::_exit(0);
    }

    std::filesystem::path path_;
    pid_t cleaner_ = -1;
    int alive_ = -1;
};

/// Another one may take it before the server does.
std::uint16_t free_port(asio::io_context& in)
{
    const asio::ip::tcp::endpoint any(asio::ip::address_v4::loopback(), 0);
    return asio::ip::tcp::acceptor(in, any).local_endpoint().port();
}

/// Otherwise the server that has it would be taken for ours.
void check_free(asio::io_context& in, std::uint16_t port)
{
    boost::system::error_code taken;
    const asio::ip::tcp::endpoint wanted(asio::ip::address_v4::loopback(), port);
    asio::ip::tcp::acceptor trial(in);
    trial.open(wanted.protocol());
    trial.set_option(asio::socket_base::reuse_address(true));
    if (trial.bind(wanted, taken); taken)
        throw std::runtime_error("port " + std::to_string(port) + ": " + taken.message());
}

/// The command for a server, with settings for production except for the address.
std::vector<std::string> server_command(
    const std::string& program,
    std::uint16_t port,
    const std::filesystem::path& folder
)
{
    return {
        program,
        "--port",
        std::to_string(port),
        "--bind",
        "127.0.0.1",
        "--dir",
        folder,
        "--appendonly",
        "yes",
        "--save",
        "",
        "--maxmemory-policy",
        "noeviction"
    };
}

std::string last_line(const std::filesystem::path& of)
{
    std::ifstream file(of);
    std::string last;
    for (std::string line; std::getline(file, line);)
    {
        if (!line.empty())
            last = line;
    }
    return last;
}

/// A server and its folder.
class local_server
{
public:
    local_server(const std::string& program, std::uint16_t port, std::filesystem::path folder)
        : port_(port), folder_(std::move(folder))
    {
        std::filesystem::create_directory(folder_);
        start(program);
    }

    [[nodiscard]] bool has_ended() { return runs_->has_ended(); }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

    /// The last that it has said.
    [[nodiscard]] std::string last_words() const { return last_line(folder_ / "output"); }

private:
    void start(const std::string& program)
    {
        const bool by_default = program == local_options().server;
        try
        {
            runs_.emplace(child_options{
                .command = server_command(program, port_, folder_), .output = folder_ / "output"
            });
        }
        catch (const std::system_error& failure)
        {
            if (failure.code() != std::errc::no_such_file_or_directory)
                throw;
            if (by_default)
                return start("valkey-server");
            throw std::runtime_error(
                "'" + program +
                "' is not installed; install Redis or Valkey, or name the server's program with "
                "--server"
            );
        }
    }

    std::uint16_t port_;
    std::filesystem::path folder_;
    std::optional<child> runs_;
};

class local_servers
{
public:
    local_servers(const local_options& how, asio::io_context& in) : how_(how)
    {
        if (how.port != 0 && how.port + how.count - 1 > 65'535)
            throw std::invalid_argument(
                "--port is " + std::to_string(how.port) + ", too high for " +
                std::to_string(how.count) + " servers"
            );
        for (std::size_t i = 0; i < how.count; ++i)
            start(in);
        admit(in);
    }

    [[nodiscard]] std::string urls() const
    {
        std::string made;
        for (const local_server& each : servers_)
            made += (made.empty() ? "redis://127.0.0.1:" : ",redis://127.0.0.1:") +
                    std::to_string(each.port());
        return made;
    }

    /// The output of the first server that has ended. Empty if all are running.
    [[nodiscard]] std::string failure()
    {
        const auto ended = std::ranges::find_if(servers_, &local_server::has_ended);
        if (ended == servers_.end())
            return {};
        return "the server on port " + std::to_string(ended->port()) +
               " exited: " + ended->last_words();
    }

private:
    void start(asio::io_context& in)
    {
        const std::size_t number = ++started_;
        auto port = static_cast<std::uint16_t>(how_.port + number - 1);
        if (how_.port != 0)
            check_free(in, port);
        else
            port = another_port(in);
        servers_.emplace_back(how_.server, port, folder_.path() / std::to_string(number));
    }

    /// A free one. A server that has just been started may not listen yet.
    [[nodiscard]] std::uint16_t another_port(asio::io_context& in) const
    {
        for (;;)
        {
            const std::uint16_t port = free_port(in);
            if (std::ranges::find(servers_, port, &local_server::port) == servers_.end())
                return port;
        }
    }

    /// Replaces servers whose port was taken, unless the user has chosen it.
    void replace_failed(asio::io_context& in)
    {
        for (std::size_t left = servers_.size(); left > 0; --left)
        {
            const auto failed = std::ranges::find_if(servers_, [](local_server& each) {
                return each.has_ended() &&
                       each.last_words().find("Failed listening") != std::string::npos;
            });
            if (how_.port != 0 || failed == servers_.end())
                return;
            servers_.erase(failed);
            start(in);
        }
    }

    /// The servers are new, so they have nothing to forget.
    void admit(asio::io_context& in)
    {
        const auto give_up = std::chrono::steady_clock::now() + start_timeout;
        for (;;)
        {
            client_config config;
            config.nodes = parse_nodes(urls());
            asio::io_context own{1};
            diagnostics report;
            error_code outcome;
            async_initialize_nodes(own, config, &report, [&outcome](error_code ec) {
                outcome = ec;
            });
            own.run();
            if (!outcome && failure().empty())
                return;
            replace_failed(in);
            if (const std::string problem = failure(); !problem.empty())
                throw std::runtime_error(problem);
            if (std::chrono::steady_clock::now() >= give_up)
                throw std::runtime_error("the servers don't answer: " + to_string(report));
            ::usleep(20'000);
        }
    }

    const local_options& how_;
    temporary_folder folder_;
    std::list<local_server> servers_;
    std::size_t started_ = 0;
};

void tell(const std::string& urls, bool json)
{
    if (json)
    {
        boost::json::object told;
        told["nodes"] = urls;
        std::cout << boost::json::serialize(told) << std::endl;
        return;
    }
    std::cout << "export REDLOCK_NODES=" << urls << std::endl;
    std::cerr << "Press Ctrl-C to stop the servers.\n";
}

}  // namespace

int local(const options& given)
{
    asio::io_context context{1};
    signals heard(context);
    local_servers servers(given.local, context);
    if (given.local.command.empty())
    {
        tell(servers.urls(), given.nodes.json);
        heard.on_signal([&](int number) {
            if (signals::asks_to_stop(number))
                signals::stop(number, false);
            if (signals::asks_to_end(number) || !servers.failure().empty())
                context.stop();
        });
        context.run();
        if (const std::string problem = servers.failure();
            heard.asked_to_end() == 0 && !problem.empty())
            throw std::runtime_error(problem);
        return 0;
    }
    try
    {
        job command(
            {.command = given.local.command, .added = {{"REDLOCK_NODES", servers.urls()}}},
            "local",
            []() { return true; }
        );
        heard.on_signal([&](int number) {
            command.on_signal(number);
            if (command.has_ended())
                context.stop();
        });
        if (!command.has_ended())
            context.run();
        return command.exit_status();
    }
    catch (const std::system_error& failure)
    {
        std::cerr << "redlock: " << failure.what() << '\n';
        const bool found = failure.code() != std::errc::no_such_file_or_directory;
        return static_cast<int>(found ? status::not_run : status::not_found);
    }
}

}  // namespace redlock::tool
