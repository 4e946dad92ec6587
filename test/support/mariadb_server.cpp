#include "support/mariadb_server.hpp"

#include <chrono>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include <poll.h>
#include <sys/socket.h>
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

    process_ = child_process({program, arguments(), {}, file("log")});
    const auto answers_or_ended = [this] { return process_.has_ended() || answers(); };
    const bool in_time = eventually(answers_or_ended, 60s);  // It makes its files first.
    if (process_.has_ended() || !in_time)
        throw std::runtime_error("mariadbd does not answer: " + read_file(file("log")));
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
