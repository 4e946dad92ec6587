#ifndef REDLOCK_TEST_SUPPORT_MARIADB_SERVER_HPP
#define REDLOCK_TEST_SUPPORT_MARIADB_SERVER_HPP

#include <filesystem>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/posix.hpp"

namespace redlock::test {

/** One real MariaDB server, with an empty database named `test`.

    It listens on a unix socket in a private folder and nowhere else, keeps its data there too, and
    lets anybody in who gets that far. Server and folder are gone with the object. The server is
    also killed when the thread dies that made the object.
*/
class mariadb_server
{
public:
    /// Starts the server and waits until it answers. Throws what the server said if it does not.
    mariadb_server();
    mariadb_server(const mariadb_server&) = delete;
    mariadb_server& operator=(const mariadb_server&) = delete;

    /// Returns the path of the unix socket.
    [[nodiscard]] std::string socket() const { return file("socket"); }

    /// Stops the process with SIGSTOP, and returns when it has stopped. It still takes connections.
    void pause() { process_.pause(); }

    /// Undoes `pause()`.
    void resume() { process_.resume(); }

private:
    [[nodiscard]] std::filesystem::path file(const char* name) const;
    [[nodiscard]] std::vector<std::string> arguments() const;
    [[nodiscard]] bool answers() const;

    temp_folder folder_;
    child_process process_;
};

}  // namespace redlock::test

#endif
