// usage: 3_with_lock URL,URL,...
//
// Rebuilds an index. Only one machine may do it at a time, and it takes longer than the ttl.

#include <redlock.hpp>

#include <boost/asio.hpp>

#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

// snippet: body
/// Runs while the lock is held. If the lock is lost, its `co_await` throws.
asio::awaitable<int> rebuild_index(redlock::lease& held)
{
    asio::steady_timer work(co_await asio::this_coro::executor);
    int parts = 0;
    while (parts < 5)
    {
        work.expires_after(600ms);
        co_await work.async_wait(asio::deferred);
        ++parts;
        std::cout << "part " << parts << ", " << held.remaining().count() << " ms left"
                  << std::endl;
    }
    co_return parts;
}
// end snippet

asio::awaitable<void> maintain(redlock::client& locks)
{
    try
    {
        // snippet: with_lock
        // 3 s of work with a ttl of 2 s: the lease is extended, then released.
        const int parts =
            co_await redlock::with_lock(locks, "index:products", {.ttl = 2s}, rebuild_index);
        std::cout << "rebuilt, " << parts << " parts\n";
        // end snippet
    }
    catch (const boost::system::system_error& failure)
    {
        // The body has ended. Someone else may hold the lock now.
        if (failure.code() != redlock::error::lease_lost)
            throw;
        std::cout << "the lock was lost, the index is unchanged\n";
    }
}

void run(std::string_view nodes)
{
    asio::io_context context{1};
    redlock::client locks(context, nodes);
    locks.async_run(asio::detached);
    asio::co_spawn(context, maintain(locks), [&](std::exception_ptr failure) {
        locks.cancel();
        if (failure)
            std::rethrow_exception(failure);
    });
    context.run();
}

int main(int argc, char** argv)
{
    try
    {
        if (argc != 2)
            throw std::invalid_argument("name the nodes: redis://HOST:PORT,...");
        run(argv[1]);
    }
    catch (const std::exception& error)
    {
        std::cerr << "3_with_lock: " << error.what() << '\n';
        return 1;
    }
}
