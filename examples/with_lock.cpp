// usage: redlock_with_lock URL,URL,...
//
// Rebuilds an index, which takes longer than a ttl, and never on two machines at once.

#include "program.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

// snippet: body
/// Runs while the lock is held. It is cancelled when the lock is lost, so `co_await` throws then.
asio::awaitable<int> rebuild_index(redlock::lease& held)
{
    asio::steady_timer work(co_await asio::this_coro::executor);
    int parts = 0;
    while (parts < 5)
    {
        work.expires_after(600ms);
        co_await work.async_wait();
        ++parts;
        // Flushed, so that you can follow it.
        std::cout << "part " << parts << " under token " << held.fence() << std::endl;
    }
    co_return parts;
}
// end snippet

asio::awaitable<void> maintain(redlock::client& locks)
{
    try
    {
        // snippet: with_lock
        // 3 s of work under a ttl of 2 s: the lease is extended, and released at the end.
        const int parts =
            co_await redlock::with_lock(locks, "index:products", {.ttl = 2s}, rebuild_index);
        std::cout << "rebuilt, " << parts << " parts\n";
        // end snippet
    }
    catch (const boost::system::system_error& failure)
    {
        // The body has ended already. Somebody else may be at work now.
        if (failure.code() != redlock::error::lease_lost)
            throw;
        std::cout << "the lock was lost, the index is as it was\n";
    }
}

}  // namespace

int main(int argc, char** argv)
{
    return run_program(argc, argv, maintain);
}
