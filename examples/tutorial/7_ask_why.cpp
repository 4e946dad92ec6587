// usage: 7_ask_why URL,URL,...
//
// Acquires a lock and prints what the client knows about it.

#include <redlock.hpp>

#include <boost/asio.hpp>

#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// Called when a node changes its state.
void print_log(redlock::log_level level, std::string_view line)
{
    std::cout << "log: " << level << ": " << line << '\n';
}

/// Called at every step of the client. This one prints two of them.
class narrator final : public redlock::observer
{
    void on_waiting(const redlock::waiting_event& event) noexcept override
    {
        std::cout << "observer: waiting for " << event.resource << '\n';
    }

    void on_acquired(const redlock::acquired_event& event) noexcept override
    {
        std::cout << "observer: " << event.resource << " acquired after " << event.waited.count()
                  << " us, rounds: " << event.rounds << '\n';
    }
};

// snippet: why
asio::awaitable<void> ship_order(redlock::client& locks)
{
    redlock::diagnostics report;
    const redlock::acquire_options options{.ttl = 10s, .wait = 2s, .report = &report};
    auto [ec, held] =
        co_await locks.async_acquire("orders:42", options, asio::as_tuple(asio::deferred));
    if (ec)
        std::cout << "outcome: " << ec.message() << "\nreport: " << report << '\n';

    for (const redlock::node_status& one : locks.nodes())
    {
        const char* const because = one.because.empty() ? "" : ": ";
        std::cout << "node: " << one.node << " is " << one.state << because << one.because << '\n';
    }

    const redlock::metrics all = locks.metrics();
    std::cout << "metrics: " << all.acquired << " acquired, " << all.contended << " contended, "
              << all.failed << " failed\n";
}
// end snippet

void run(std::string_view nodes)
{
    redlock::client_config config{.nodes = redlock::parse_nodes(nodes)};
    config.log = print_log;
    config.observer = std::make_shared<narrator>();

    asio::io_context context{1};
    redlock::client locks(context, config);
    locks.async_run(asio::detached);
    asio::co_spawn(context, ship_order(locks), [&](std::exception_ptr failure) {
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
        std::cerr << "7_ask_why: " << error.what() << '\n';
        return 1;
    }
}
