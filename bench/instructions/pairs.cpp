// The pairs whose instructions scripts/instructions.py counts.
//
//     redlock_instructions SOCKET...    acquires and releases on the nodes at these unix sockets
//     redlock_instructions --rows       prints what it does: a line of mode, tasks and pairs each
//     redlock_instructions --build      prints what it is built with
//
// Each row begins and ends with a mark: the program calls `redlock_instructions_mark`, and sends
// ECHO to the first node. Callgrind writes what it has counted when either calls that function.

#include <redlock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/version.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <poll.h>
#include <unistd.h>

#include "support/posix.hpp"

extern "C" [[gnu::noinline]] void redlock_instructions_mark()
{
    asm volatile("" ::: "memory");  // So that the calls stay.
}

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct row
{
    redlock::mode mode;
    std::size_t tasks;
    std::size_t pairs;
};

/// Enough that it does not matter where the garbage collector of a node's Lua just is.
constexpr std::array rows{
    row{redlock::mode::plain, 1, 256},
    row{redlock::mode::plain, 16, 1024},
    row{redlock::mode::plain, 64, 1024},
    row{redlock::mode::guarded, 1, 512},
    row{redlock::mode::guarded, 16, 2048},
    row{redlock::mode::guarded, 64, 2048},
};

/// Before a row is counted: each task has its keys, and memory has found its place.
constexpr std::size_t warm_up_pairs = 256;

redlock::client_config make_config(redlock::mode mode, std::span<char*> sockets)
{
    redlock::client_config config;
    config.mode = mode;
    config.name = "instructions";  // The default has a process id, which may have any length.
    // Callgrind makes nodes slow.
    config.node_timeout = 5s;
    config.clock_window = 60s;
    for (const char* const socket : sockets)
        config.nodes.emplace_back().unix_socket = socket;
    return config;
}

void initialize(const redlock::client_config& config)
{
    asio::io_context context;
    redlock::async_initialize_nodes(context, config, [](redlock::error_code ec) {
        if (ec)
            throw boost::system::system_error(ec, "initializing the nodes");
    });
    context.run();
}

/// The client, and how far its tasks are.
struct run
{
    asio::io_context context;
    redlock::client locks;
    std::size_t tasks_left = 0;
    std::size_t errors = 0;

    explicit run(const redlock::client_config& config) : locks(context, config) {}
};

asio::awaitable<void> work(run& shared, std::size_t task, std::size_t pairs)
{
    const std::string resource = "pair:" + std::to_string(task);
    for (std::size_t pair = 0; pair < pairs; ++pair)
    {
        auto acquired =
            co_await shared.locks.async_acquire(resource, 20s, asio::as_tuple(asio::deferred));
        auto& [failure, held] = acquired;
        if (!failure)
        {
            auto released = co_await held.async_release(asio::as_tuple(asio::deferred));
            auto& [ec, outcome] = released;
            shared.errors += ec || outcome != redlock::release_outcome::released;
        }
        shared.errors += failure.failed();
    }
    if (--shared.tasks_left == 0)
        shared.context.stop();
}

/// Runs the loop until it is stopped. Not with `run_one`, which has no memory to reuse.
void run_loop(run& shared)
{
    shared.context.run();
    shared.context.restart();
}

void do_pairs(run& shared, std::size_t tasks, std::size_t pairs)
{
    shared.tasks_left = tasks;
    for (std::size_t task = 0; task < tasks; ++task)
        asio::co_spawn(shared.context, work(shared, task, pairs / tasks), asio::detached);
    run_loop(shared);
}

void wait_ready(run& shared)
{
    shared.locks.async_run(asio::detached);
    shared.locks.async_wait_ready([&shared](redlock::error_code ec) {
        if (ec)
            throw boost::system::system_error(ec, "waiting for the nodes");
        shared.context.stop();
    });
    run_loop(shared);
}

/// A connection to the first node, beside those of the client.
class marker
{
public:
    explicit marker(const char* path) : socket_(redlock::test::connect_unix(path)) {}

    void mark() const
    {
        constexpr std::string_view command = "*2\r\n$4\r\nECHO\r\n$1\r\n.\r\n";
        constexpr std::string_view reply = "$1\r\n.\r\n";
        std::array<char, reply.size()> buffer{};

        bool well = ::write(socket_.get(), command.data(), command.size()) ==
                    static_cast<ssize_t>(command.size());
        pollfd answered{.fd = socket_.get(), .events = POLLIN, .revents = 0};
        well = well && ::poll(&answered, 1, 60'000) == 1;
        well = well && ::read(socket_.get(), buffer.data(), buffer.size()) ==
                           static_cast<ssize_t>(reply.size());
        if (!well || std::string_view(buffer.data(), buffer.size()) != reply)
            throw std::runtime_error("the first node does not answer an ECHO");
        redlock_instructions_mark();
    }

private:
    redlock::test::descriptor socket_;
};

void do_rows(redlock::mode mode, std::span<char*> sockets, const marker& marks)
{
    const redlock::client_config config = make_config(mode, sockets);
    if (mode == redlock::mode::guarded)
        initialize(config);
    run shared(config);
    wait_ready(shared);
    for (const row& each : rows)
    {
        if (each.mode != mode)
            continue;
        do_pairs(shared, each.tasks, warm_up_pairs);
        marks.mark();
        do_pairs(shared, each.tasks, each.pairs);
        marks.mark();
    }
    shared.locks.cancel();
    shared.context.run();
    if (shared.errors > 0)
        throw std::runtime_error(
            std::to_string(shared.errors) + " errors in mode " + redlock::to_string(mode)
        );
}

void print_rows()
{
    for (const row& each : rows)
        std::printf("%s %zu %zu\n", redlock::to_string(each.mode), each.tasks, each.pairs);
}

}  // namespace

int main(int argc, char** argv)
{
    try
    {
        const std::span<char*> sockets(argv + 1, static_cast<std::size_t>(argc - 1));
        const std::string_view first = sockets.empty() ? "--help" : sockets.front();
        if (first == "--rows")
            print_rows();
        else if (first == "--build")
            std::printf(
                "%s, Boost %d.%d\n",
                REDLOCK_BUILD,
                BOOST_VERSION / 100000,
                BOOST_VERSION / 100 % 1000
            );
        else if (first.starts_with("-"))
            throw std::invalid_argument("takes the unix sockets of nodes, --rows or --build");
        else
        {
            const marker marks(sockets.front());
            for (const auto mode : {redlock::mode::plain, redlock::mode::guarded})
                do_rows(mode, sockets, marks);
        }
        return 0;
    }
    catch (const std::exception& failure)
    {
        std::fprintf(stderr, "redlock_instructions: %s\n", failure.what());
        return 1;
    }
}
