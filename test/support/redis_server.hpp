#ifndef REDLOCK_TEST_SUPPORT_REDIS_SERVER_HPP
#define REDLOCK_TEST_SUPPORT_REDIS_SERVER_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "support/child_process.hpp"
#include "support/posix.hpp"
#include "support/resp_client.hpp"

namespace redlock::test {

/// Returns whether a program can be run. A name without a slash is looked up on the `PATH`.
[[nodiscard]] bool available(std::string_view program);

/// What a server needs to speak TLS, as paths of PEM files.
struct redis_tls
{
    std::filesystem::path certificate;
    std::filesystem::path key;
    std::filesystem::path authority;  ///< Client certificates are checked against this CA.
};

/// What a server finds again when it is started once more.
enum class redis_storage : std::uint8_t
{
    none,          ///< Nothing, or what it had at the last `SAVE`.
    every_second,  ///< It writes to a file, and asks the disk to keep that once a second.
    every_write,   ///< All that it has confirmed: it writes to a file before each answer.
};

struct redis_server_options
{
    /// A `redis-server` or `valkey-server`, looked up on the `PATH` unless it has a slash.
    std::string program = "redis-server";

    /// Arguments put after ours, such as `{"--requirepass", "secret"}`.
    std::vector<std::string> extra{};

    /// If set, the port speaks TLS only, and asks for a client certificate unless `extra` has
    /// `{"--tls-auth-clients", "no"}`.
    std::optional<redis_tls> tls{};

    /// What is left of the data when the server is killed.
    redis_storage storage = redis_storage::none;

    /// Variables for the server's environment, `NAME=value`, in addition to ours.
    std::vector<std::string> environment{};
};

/** One real server process on a loopback port of its own.

    The server has a private folder for its log and, if told to, its data. It is removed with the
    object. The server always listens on a unix socket in that folder too, in plain text even with
    TLS; `client()` and `command()` use it. The `DEBUG` command is enabled.

    The port stays ours while the server is down: connections are then refused, and `start()` finds
    it free.

    The server is killed when the process dies, and also when the thread dies that started it: call
    `start()` on a thread that outlives the server.
*/
class redis_server
{
public:
    /// Starts the server and waits until it answers. Throws what the server said if it does not.
    explicit redis_server(redis_server_options options = {});
    redis_server(const redis_server&) = delete;
    redis_server& operator=(const redis_server&) = delete;

    /// Starts a server that was killed or ended by itself, on the same port. It has the data that
    /// `redis_server_options::storage` says.
    void start();

    /// Deletes what a server that is down would find again.
    void erase_data();

    /// Takes the last bytes off the file of writes of a server that is down, as a crash of the
    /// machine would.
    void truncate_data(std::uintmax_t bytes);

    /// Kills the server, paused or not, and reaps it. No effect on one that was killed before.
    void kill() { process_.kill(); }

    /// Kills the server and starts it.
    void restart();

    /// Stops the process with SIGSTOP, and returns when it has stopped. The kernel still accepts
    /// connections for it.
    void pause() { process_.pause(); }

    /// Whether the process stands still.
    [[nodiscard]] bool is_paused() const { return process_.is_paused(); }

    /// Undoes `pause()`.
    void resume() { process_.resume(); }

    /// Whether the process has ended, killed or by itself.
    [[nodiscard]] bool has_ended() { return process_.has_ended(); }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_.number(); }

    /// Returns `redis://127.0.0.1:PORT`, or `rediss://…` with TLS.
    [[nodiscard]] std::string url() const;

    [[nodiscard]] std::filesystem::path unix_socket_path() const;

    /// Returns the process id, 0 if the server was killed.
    [[nodiscard]] pid_t pid() const noexcept { return process_.pid(); }

    /// Returns what the server wrote to its log.
    [[nodiscard]] std::string log() const;

    /// Connects to the unix socket.
    [[nodiscard]] resp_client client() const;

    /// Sends one command on a connection of its own, see `resp_client::command`.
    std::string command(const std::vector<std::string>& arguments) const;

private:
    enum class startup;

    startup try_start();
    bool answers() const;
    std::vector<std::string> arguments() const;
    std::filesystem::path log_path() const;

    redis_server_options options_;
    std::filesystem::path program_;
    temp_folder folder_;
    loopback_port port_;
    child_process process_;
};

/// Several servers.
class redis_servers
{
public:
    explicit redis_servers(std::size_t count, const redis_server_options& options = {});

    /// One server for each of the options.
    explicit redis_servers(const std::vector<redis_server_options>& options);

    [[nodiscard]] std::size_t size() const noexcept { return servers_.size(); }
    [[nodiscard]] redis_server& operator[](std::size_t index) { return servers_.at(index); }
    [[nodiscard]] std::vector<std::string> urls() const;

    [[nodiscard]] auto begin() noexcept { return servers_.begin(); }
    [[nodiscard]] auto end() noexcept { return servers_.end(); }

private:
    std::deque<redis_server> servers_;
};

}  // namespace redlock::test

#endif
