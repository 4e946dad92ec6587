#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_STAGE_STAGE_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_STAGE_STAGE_HPP

#include <redlock/config.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/posix.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_proxy.hpp"

namespace chat {

/// Options for the servers of a stage.
struct stage_options
{
    std::size_t servers = 3;
    std::chrono::milliseconds ttl{3000};
    std::vector<std::string> more{};  ///< Other options, for all of them.

    /// Whether there is a proxy before each lock node, to cut it off.
    enum class road : std::uint8_t
    {
        direct,
        through_proxy,
    };
    road to_nodes = road::direct;

    /// Variables in the environment of the last lock node.
    std::vector<std::string> environment{};
};

/// A chat server that was started as a process.
class server_process
{
public:
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_.number(); }
    [[nodiscard]] pid_t pid() const noexcept { return process_.pid(); }
    [[nodiscard]] std::string url() const;

    void kill() { process_.kill(); }
    void pause() { process_.pause(); }
    void resume() { process_.resume(); }

    /// Whether SIGSTOP has stopped it.
    [[nodiscard]] bool is_stopped() const;

    /// Asks it to end, with SIGTERM.
    void ask_to_end() const;
    [[nodiscard]] bool has_ended() { return process_.has_ended(); }
    [[nodiscard]] std::optional<int> exit_status() const { return process_.exit_status(); }

    /// Once it exists, the server stops itself before its next append.
    [[nodiscard]] std::filesystem::path stall_file() const { return folder_.path() / "stall"; }

    /// Its log.
    [[nodiscard]] std::string log() const;

    /// The body of an answer. Empty if there is none.
    [[nodiscard]] std::string get(const std::string& path) const;

    /// One of its measurements, 0 if it has none of that name.
    [[nodiscard]] double measure(const std::string& name) const;

    /// The memory that it uses, in bytes.
    [[nodiscard]] std::size_t memory() const;

private:
    friend class stage;

    std::string name_;
    std::string node_urls_;
    redlock::test::temp_folder folder_;
    redlock::test::loopback_port port_;
    redlock::test::child_process process_;
};

/** Five lock nodes, a data store and some chat servers: real processes on this machine, each on its
    own port. They end with the object.
*/
class stage
{
public:
    /// Starts everything. Returns when all servers are healthy.
    explicit stage(stage_options how = {});

    redlock::test::redis_servers nodes;
    redlock::test::redis_server store;
    std::deque<redlock::test::tcp_proxy> roads;  ///< To the nodes. Empty: there are no proxies.

    [[nodiscard]] std::size_t size() const noexcept { return servers_.size(); }
    [[nodiscard]] server_process& operator[](std::size_t index) { return servers_.at(index); }

    /// The server with this name.
    [[nodiscard]] server_process& find(const std::string& name);

    [[nodiscard]] auto begin() noexcept { return servers_.begin(); }
    [[nodiscard]] auto end() noexcept { return servers_.end(); }

    /// Ports of all servers, that of server `first` first.
    [[nodiscard]] std::vector<std::uint16_t> ports(std::size_t first) const;

    /// Starts a server, or one that has ended.
    void start(server_process& which);

    /// Lets a server reach the nodes at other addresses from its next start on.
    void use_nodes(server_process& which, std::string urls) { which.node_urls_ = std::move(urls); }

    /// The addresses of the nodes that the processes get.
    [[nodiscard]] std::string node_urls() const;

private:
    void initialize_nodes() const;
    [[nodiscard]] std::vector<std::string> peers_of(const server_process& which) const;

    stage_options how_;
    std::deque<server_process> servers_;
};

/// Whether a server answers that members can talk, within `limit`.
[[nodiscard]] bool becomes_healthy(
    const server_process& which,
    std::chrono::milliseconds limit = std::chrono::seconds(20)
);

}  // namespace chat

#endif
