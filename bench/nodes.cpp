#include "nodes.hpp"

#include "posix.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr int port_attempts = 10;
constexpr auto start_limit = 5s;
constexpr auto poll_interval = 5ms;

std::string make_directory()
{
    std::string path = std::filesystem::temp_directory_path() / "redlock-bench-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr)
        throw_errno("mkdtemp");
    return path;
}

// Runs in the child, where nothing may be thrown or allocated.
[[noreturn]] void exec_server(pid_t parent, const char* port, const char* directory)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent)  // The parent died before the line above: nobody would end us.
        ::_exit(1);

    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, STDIN_FILENO);
    ::dup2(null, STDOUT_FILENO);
    ::execlp(
        "redis-server",
        "redis-server",
        "--port",
        port,
        "--bind",
        "127.0.0.1",
        "--dir",
        directory,
        "--save",
        "",
        "--appendonly",
        "no",
        "--daemonize",
        "no",
        static_cast<char*>(nullptr)
    );
    ::_exit(127);
}

pid_t spawn_server(std::uint16_t port, const std::string& directory)
{
    const std::string port_text = std::to_string(port);
    const pid_t parent = ::getpid();
    const pid_t child = checked(::fork(), "fork");
    if (child == 0)
        exec_server(parent, port_text.c_str(), directory.c_str());
    return child;
}

void end_server(pid_t server) noexcept
{
    ::kill(server, SIGKILL);  // There is nothing to save.
    ::waitpid(server, nullptr, 0);
}

// A PING would also be answered by a stranger who took the port first; the process id would not.
bool answers(std::uint16_t port, pid_t server)
{
    constexpr std::string_view question = "INFO server\r\n";
    std::array<char, 8192> reply{};
    try
    {
        const unique_fd socket = connect_to(port);
        checked(::send(socket.get(), question.data(), question.size(), MSG_NOSIGNAL), "send");
        const auto size = checked(::recv(socket.get(), reply.data(), reply.size(), 0), "recv");
        const std::string_view text(reply.data(), static_cast<std::size_t>(size));
        return text.find("\nprocess_id:" + std::to_string(server) + "\r") != text.npos;
    }
    catch (const std::system_error&)  // Not listening yet.
    {
        return false;
    }
}

enum class start_outcome : std::uint8_t
{
    ready,   ///< The server answers.
    ended,   ///< The server has ended, most likely because somebody else took the port.
    silent,  ///< The server runs and does not answer.
};

start_outcome await_start(std::uint16_t port, pid_t server)
{
    const auto give_up = std::chrono::steady_clock::now() + start_limit;
    while (std::chrono::steady_clock::now() < give_up)
    {
        if (answers(port, server))
            return start_outcome::ready;
        if (::waitpid(server, nullptr, WNOHANG) == server)
            return start_outcome::ended;
        std::this_thread::sleep_for(poll_interval);
    }
    return start_outcome::silent;
}

}  // namespace

nodes::nodes(std::size_t count) : directory_(make_directory())
{
    try
    {
        servers_.reserve(count);
        ports_.reserve(count);
        while (servers_.size() < count)
            start_one();
    }
    catch (...)
    {
        stop();
        throw;
    }
}

nodes::~nodes()
{
    stop();
}

void nodes::start_one()
{
    for (int attempt = 0; attempt < port_attempts; ++attempt)
    {
        const std::uint16_t port = find_free_port();
        const pid_t server = spawn_server(port, directory_);
        switch (await_start(port, server))
        {
        case start_outcome::ready:
            servers_.push_back(server);
            ports_.push_back(port);
            return;
        case start_outcome::ended: continue;
        case start_outcome::silent:
            end_server(server);
            throw std::runtime_error("redis-server does not answer");
        }
    }
    throw std::runtime_error("redis-server does not start: is it installed?");
}

void nodes::stop() noexcept
{
    for (const pid_t server : servers_)
        end_server(server);
    servers_.clear();

    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

}  // namespace bench
