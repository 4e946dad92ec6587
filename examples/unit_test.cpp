// usage: redlock_unit_test
//
// The unit test of a program that locks, without a server and without a sleep. What is tested is
// the class `stocktaking`; in a project of yours it is in a file of its own, and the checks below
// are those of a test framework.

#include <redlock.hpp>
#include <redlock/testing.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <iostream>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// What is to be tested: counts a warehouse for as long as it has the lease.
class stocktaking
{
public:
    explicit stocktaking(redlock::client& locks) : locks_(locks) {}

    asio::awaitable<void> run()
    {
        redlock::error_code ec;
        const auto token = asio::redirect_error(asio::use_awaitable, ec);
        auto held = co_await locks_.async_acquire("stock", {.ttl = 3s, .wait = 5s}, token);
        if (ec)
        {
            state = "someone else counts";
            co_return;
        }
        state = "counting";
        co_await held.async_wait_lost(token);
        state = "stopped";
    }

    std::string state = "waiting";

private:
    redlock::client& locks_;
};

int failures = 0;

void check(const char* claim, bool holds)
{
    std::cout << (holds ? "ok: " : "FAILED: ") << claim << '\n';
    failures += !holds;
}

// snippet: unit_test
void stops_when_its_lease_expires()
{
    asio::io_context context;
    redlock::testing::fake_nodes nodes(context);
    redlock::client locks = nodes.make_client();
    locks.async_run(asio::detached);

    stocktaking stock(locks);
    asio::co_spawn(context, stock.run(), asio::detached);
    nodes.advance(2s);
    check("it counts while it has the lease", stock.state == "counting");
    nodes.advance(1s);
    check("it stops when the lease has expired", stock.state == "stopped");
}

void gives_up_when_another_holds_the_stock()
{
    asio::io_context context;
    redlock::testing::fake_nodes nodes(context);
    redlock::client locks = nodes.make_client();
    locks.async_run(asio::detached);

    nodes.hold_elsewhere("stock", 1min);
    stocktaking stock(locks);
    asio::co_spawn(context, stock.run(), asio::detached);
    nodes.advance(4s);
    check("it waits while someone else holds the stock", stock.state == "waiting");
    nodes.advance(2s);
    check("it gives up after five seconds", stock.state == "someone else counts");
}
// end snippet

void stops_when_its_process_has_stood_still()
{
    asio::io_context context;
    redlock::testing::fake_nodes nodes(context);
    redlock::client locks = nodes.make_client();
    locks.async_run(asio::detached);

    stocktaking stock(locks);
    asio::co_spawn(context, stock.run(), asio::detached);
    nodes.run_until_idle();
    nodes.freeze(1h);
    check("it stops when its process has stood still for an hour", stock.state == "stopped");
}

}  // namespace

int main()
{
    stops_when_its_lease_expires();
    gives_up_when_another_holds_the_stock();
    stops_when_its_process_has_stood_still();
    return failures == 0 ? 0 : 1;
}
