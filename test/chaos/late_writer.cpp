// A holder that stops itself between acquiring and writing, again and again. Whoever started it
// lets it go on when its lease is long over. It writes all the same, as a process would that had
// looked at the clock just before.
//
//   late_writer NODES STORE_PORT TTL_MS CYCLES CHECKED|UNCHECKED
//
// Prints for each cycle what the store said to its late write.

#include <redlock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "chaos/late_writes.hpp"
#include "support/resp_client.hpp"

using namespace redlock;
using namespace redlock::test;
namespace asio = boost::asio;

namespace {

struct settings
{
    std::string nodes;
    std::uint16_t store_port;
    milliseconds ttl;
    int cycles;
    bool checked;
};

asio::awaitable<void> write_late(client& locks, settings how)
{
    resp_client store(how.store_port);
    co_await locks.async_wait_ready(asio::use_awaitable);
    for (int cycle = 0; cycle < how.cycles; ++cycle)
    {
        const acquire_options options{.ttl = how.ttl, .wait = forever, .auto_extend = true};
        lease held = co_await locks.async_acquire(late_resource, options, asio::use_awaitable);

        std::raise(SIGSTOP);

        const std::string said = store.command(write_command(held.fence(), "late", how.checked));
        std::cout << (held.expired() ? "over " : "held ") << said << std::endl;
        co_await held.async_release(asio::use_awaitable);
    }
}

}  // namespace

int main(int count, char** arguments)
{
    const std::vector<std::string> given(arguments + 1, arguments + count);
    try
    {
        const settings how{
            given.at(0),
            static_cast<std::uint16_t>(std::stoul(given.at(1))),
            milliseconds(std::stol(given.at(2))),
            std::stoi(given.at(3)),
            given.at(4) == "CHECKED",
        };
        asio::io_context context;
        client locks(context, {.nodes = parse_nodes(how.nodes)});
        locks.async_run(asio::detached);
        asio::co_spawn(context, write_late(locks, how), [&](const std::exception_ptr& failure) {
            locks.cancel();
            if (failure)
                std::rethrow_exception(failure);
        });
        context.run();
    }
    catch (const std::exception& failure)
    {
        std::cerr << "late_writer: " << failure.what() << '\n';
        return 1;
    }
}
