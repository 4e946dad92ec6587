#include "support/redis_server.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <stdexcept>
#include <system_error>

#include <poll.h>

#include "support/eventually.hpp"

namespace redlock::test {

/// What came of starting the process.
enum class redis_server::startup
{
    answering,
    port_taken,  ///< Another program listens on the port: the process has ended.
};

namespace {

using namespace std::chrono_literals;

// Asks a server program for its version. The answer is kept: tests start many servers.
int major_version(const std::filesystem::path& program)
{
    static std::mutex mutex;
    static std::map<std::filesystem::path, int> known;
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(program); found != known.end())
        return found->second;

    std::FILE* const output = ::popen((shell_word(program.native()) + " --version").c_str(), "r");
    if (output == nullptr)
        throw_errno("popen");
    int version = 0;
    const int matched = std::fscanf(output, "%*[^=]=%d", &version);  // "… server v=7.0.15 …"
    ::pclose(output);
    if (matched != 1)
        throw std::runtime_error("not a redis server: " + program.native());
    return known[program] = version;
}

}  // namespace

bool available(std::string_view program)
{
    return !find_program(program).empty();
}

redis_server::redis_server(redis_server_options options)
    : options_(std::move(options)), program_(find_program(options_.program))
{
    if (program_.empty())
        throw std::runtime_error("no such program: " + options_.program);

    for (int ports_left = 5; try_start() == startup::port_taken; --ports_left)
    {
        if (ports_left == 1)
            throw std::runtime_error("found no free port: " + log());
        std::filesystem::remove(log_path());
        port_ = loopback_port();
    }
}

void redis_server::start()
{
    // A process that is ending, after SHUTDOWN for example, can be reaped a little later.
    if (!eventually([this] { return process_.has_ended(); }, 1s))
        throw std::logic_error("the server is running");
    if (try_start() == startup::port_taken)
        throw std::runtime_error("somebody else took the port: " + log());
}

void redis_server::erase_data()
{
    if (!process_.has_ended())
        throw std::logic_error("the server is running");
    // Of 7.0, of before, and of `SAVE`.
    for (const char* const name : {"appendonlydir", "appendonly.aof", "dump.rdb"})
        std::filesystem::remove_all(folder_.path() / name);
}

void redis_server::truncate_data(std::uintmax_t bytes)
{
    if (!process_.has_ended())
        throw std::logic_error("the server is running");
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder_.path()))
    {
        const std::string name = file.path().filename();
        if (name.ends_with(".incr.aof") || name == "appendonly.aof")  // Of 7.0, and of before.
            std::filesystem::resize_file(
                file.path(), file.file_size() - std::min(bytes, file.file_size())
            );
    }
}

void redis_server::restart()
{
    kill();
    start();
}

std::string redis_server::url() const
{
    return (options_.tls ? "rediss://127.0.0.1:" : "redis://127.0.0.1:") + std::to_string(port());
}

std::filesystem::path redis_server::unix_socket_path() const
{
    return folder_.path() / "socket";
}

std::filesystem::path redis_server::log_path() const
{
    return folder_.path() / "log";
}

std::string redis_server::log() const
{
    return read_file(log_path());
}

resp_client redis_server::client() const
{
    return resp_client(unix_socket_path());
}

std::string redis_server::command(const std::vector<std::string>& arguments) const
{
    return client().command(arguments);
}

redis_server::startup redis_server::try_start()
{
    process_ = child_process({program_, arguments(), options_.environment, log_path()});
    const auto give_up = deadline_clock::now() + 20s;  // Sanitizers and busy machines are slow.
    while (!answers())
    {
        if (process_.has_ended())
        {
            const std::string said = log();
            if (said.find("Address already in use") != std::string::npos)
                return startup::port_taken;
            throw std::runtime_error(options_.program + " ended at once: " + said);
        }
        if (deadline_clock::now() >= give_up)
        {
            kill();
            throw std::runtime_error(options_.program + " does not answer: " + log());
        }
        ::poll(nullptr, 0, 2);
    }
    return startup::answering;
}

// Any reply is an answer, such as -NOAUTH, except that the server still reads its data. The unix
// socket tells that it is our process and not somebody else's on the same port, and a server opens
// its port before it answers anybody.
bool redis_server::answers() const
{
    try
    {
        return !command({"PING"}).starts_with("-LOADING");
    }
    catch (const std::system_error&)
    {
        return false;
    }
}

std::vector<std::string> redis_server::arguments() const
{
    const std::string number = std::to_string(port());
    std::vector<std::string> words{options_.program};
    const auto add = [&words](const std::vector<std::string>& more) {
        words.insert(words.end(), more.begin(), more.end());
    };
    add({"--port", options_.tls ? "0" : number});
    add({"--bind", "127.0.0.1"});
    add({"--unixsocket", unix_socket_path()});
    add({"--unixsocketperm", "700"});
    add({"--dir", folder_.path()});
    add({"--save", ""});
    const redis_storage storage = options_.storage;
    add({"--appendonly", storage == redis_storage::none ? "no" : "yes"});
    add({"--appendfsync", storage == redis_storage::every_write ? "always" : "everysec"});
    add({"--loglevel", "notice"});
    add({"--logfile", log_path()});
    if (major_version(program_) >= 7)
        add({"--enable-debug-command", "local"});
    if (options_.tls)
    {
        add({"--tls-port", number});
        add({"--tls-cert-file", options_.tls->certificate});
        add({"--tls-key-file", options_.tls->key});
        add({"--tls-ca-cert-file", options_.tls->authority});
    }
    add(options_.extra);
    return words;
}

redis_servers::redis_servers(std::size_t count, const redis_server_options& options)
{
    while (servers_.size() < count)
        servers_.emplace_back(options);
}

redis_servers::redis_servers(const std::vector<redis_server_options>& options)
{
    for (const redis_server_options& each : options)
        servers_.emplace_back(each);
}

std::vector<std::string> redis_servers::urls() const
{
    std::vector<std::string> all;
    for (const redis_server& server : servers_)
        all.push_back(server.url());
    return all;
}

}  // namespace redlock::test
