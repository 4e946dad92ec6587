#include <redlock.hpp>

#include "spellings/spellings.hpp"

#include <boost/asio.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "support/redis_server.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace spellings {
namespace {

asio::awaitable<void> all(std::string url)
{
    co_await clients(url);
    co_await configurations(url);
    co_await initializations(url);

    redlock::client locks(
        co_await asio::this_coro::executor, {.nodes = redlock::parse_nodes(url), .key_prefix = "s:"}
    );
    locks.async_run(asio::detached);
    co_await locks.async_wait_ready(asio::cancel_after(10s));
    co_await leases(locks);
    co_await bodies(locks);
    co_await leaders(locks);
    co_await locks.async_close(asio::cancel_after(10s));
}

}  // namespace
}  // namespace spellings

int main()
{
    try
    {
        redlock::test::redis_server server;
        asio::io_context context{1};
        asio::co_spawn(context, spellings::all(server.url()), [](std::exception_ptr failure) {
            if (failure)
                std::rethrow_exception(failure);
        });
        context.run();
        return EXIT_SUCCESS;
    }
    catch (const std::exception& failure)
    {
        std::fprintf(stderr, "%s\n", failure.what());
        return EXIT_FAILURE;
    }
}
