// usage: watcher NODES RESOURCE BOOK
//
// A process that watches who leads, and writes each view down.

#include <redlock/client.hpp>

#include "lead/book.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <iostream>

using namespace redlock;
using namespace redlock::test;
namespace asio = boost::asio;

namespace {

asio::awaitable<void> watch(client& locks, const char* resource, mapped_book& book)
{
    co_await locks.async_wait_ready();
    watcher leaders = locks.watch(resource);
    for (;;)
    {
        const holding seen = co_await leaders.async_next();
        view_entry& entry = book->add_view();
        entry.state = seen.state;
        entry.number = seen.token.value();
        entry.seen = now();
    }
}

}  // namespace

int main(int, char** arguments)
{
    try
    {
        asio::io_context context{1};
        client locks(context, arguments[1]);
        mapped_book book(arguments[3]);
        locks.async_run(asio::detached);
        asio::co_spawn(
            context,
            watch(locks, arguments[2], book),
            [](const std::exception_ptr& failure) {
                if (failure)
                    std::rethrow_exception(failure);
            }
        );
        context.run();
    }
    catch (const std::exception& failure)
    {
        std::cerr << "watcher: " << failure.what() << '\n';
        return 1;
    }
}
