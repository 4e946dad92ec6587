#include "support/mariadb_server.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/eventually.hpp"

namespace redlock::test {

using namespace std::chrono_literals;

mariadb_server::mariadb_server()
{
    const std::filesystem::path program = find_program("mariadbd");
    if (program.empty())
        throw std::runtime_error("no such program: mariadbd");
    std::filesystem::create_directory(file("data"));
    std::ofstream(file("init")) << "CREATE DATABASE test;\n";

    pid_ = spawn_server(program, arguments(), file("log"));
    bool ended = false;
    const auto answers_or_ended = [this, &ended] {
        ended = ::waitpid(pid_, nullptr, WNOHANG) == pid_;
        return ended || answers();
    };
    const bool in_time = eventually(answers_or_ended, 60s);  // It makes its files first.
    if (ended)
        pid_ = 0;
    if (ended || !in_time)
    {
        kill();
        throw std::runtime_error("mariadbd does not answer: " + read_file(file("log")));
    }
}

mariadb_server::~mariadb_server()
{
    kill();
}

void mariadb_server::kill()
{
    if (pid_ == 0)
        return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR)
        continue;
    pid_ = 0;
}

std::filesystem::path mariadb_server::file(const char* name) const
{
    return folder_.path() / name;
}

// The server greets whoever connects, once it is ready.
bool mariadb_server::answers() const
{
    try
    {
        const descriptor connection = connect_unix(socket());
        wait_ready(connection.get(), POLLIN, deadline_clock::now() + 5s);
        char greeting = 0;
        return ::recv(connection.get(), &greeting, 1, 0) == 1;
    }
    catch (const std::system_error&)
    {
        return false;
    }
}

std::vector<std::string> mariadb_server::arguments() const
{
    // Without the tables of its system, which take long to make, it cannot know anybody. So it lets
    // everybody in, and is reached through the private folder only.
    std::vector<std::string> words{
        "mariadbd",
        "--no-defaults",
        "--skip-grant-tables",
        "--skip-networking",
        "--socket=" + socket(),
        "--datadir=" + file("data").string(),
        "--tmpdir=" + folder_.path().string(),
        "--pid-file=" + file("pid").string(),
        "--init-file=" + file("init").string(),
        "--innodb-buffer-pool-size=16M",
        "--innodb-use-native-aio=OFF",  // The kernel may have none left.
    };
    if (::geteuid() == 0)
        words.push_back("--user=root");  // As root it wants to be told so.
    return words;
}

}  // namespace redlock::test
