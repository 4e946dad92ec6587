// One server of the chat, see examples/chat_room/README.md.

#include <redlock/client.hpp>

#include "chat_room/http.hpp"
#include "chat_room/limits.hpp"
#include "chat_room/metrics.hpp"
#include "chat_room/options.hpp"
#include "chat_room/rooms.hpp"
#include "chat_room/store.hpp"
#include "chat_room/timing.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include <sys/resource.h>

namespace chat {

namespace {

using namespace std::chrono_literals;

/// A stop that takes longer than this has failed. Leases that are left expire by themselves.
constexpr auto stopping_time = 5s;

redlock::client_config lock_config(const options& how, metrics& counts)
{
    redlock::client_config config;
    config.nodes = how.nodes;
    config.node_timeout = how.node_timeout;
    config.observer = std::make_shared<acquisition_times>(counts.acquisition);
    config.log = [](redlock::log_level, std::string_view line) { std::cerr << line << std::endl; };
    return config;
}

/// All parts of a server, in the order in which they need each other.
class server
{
public:
    server(asio::io_context& context, const options& how)
        : context_(context),
          locks_(context, lock_config(how, counts_)),
          data_(context.get_executor(), how.store, how.history),
          with_{how, locks_, data_, counts_},
          rooms_(with_, context.get_executor()),
          http_(with_, rooms_, context.get_executor()),
          signals_(context, SIGINT, SIGTERM)
    {
    }

    void start()
    {
        locks_.async_run(asio::detached);
        data_.start([this] { rooms_.on_store_change(); });
        rooms_.start();
        http_.start();
        asio::co_spawn(context_, run_until_told(), asio::detached);

        const auto endpoint = http_.endpoint();
        std::cout << "listening on http://" << endpoint << std::endl;
    }

    [[nodiscard]] bool is_done() const { return http_.is_done() && rooms_.is_done(); }

private:
    asio::awaitable<void> run_until_told()
    {
        co_await signals_.async_wait(asio::use_awaitable);
        std::cout << "handing over" << std::endl;
        rooms_.stop();
        http_.stop();
        asio::steady_timer timer(context_);
        const auto give_up = std::chrono::steady_clock::now() + stopping_time;
        while (!is_done() && std::chrono::steady_clock::now() < give_up)
        {
            timer.expires_after(10ms);
            co_await timer.async_wait(asio::use_awaitable);
        }
        http_.end();
        co_await locks_.async_close(asio::cancel_after(1s, asio::as_tuple(asio::use_awaitable)));
        data_.stop();
        context_.stop();
    }

    asio::io_context& context_;
    metrics counts_;
    redlock::client locks_;
    store data_;
    surroundings with_;
    rooms rooms_;
    http_server http_;
    asio::signal_set signals_;
};

/** Raises the limit of open files to what this process may need.

    @throws std::runtime_error if that isn't allowed.
*/
void raise_file_limit(const options& how)
{
    constexpr std::size_t others = 64;  // Nodes, store, files of the page.
    const std::size_t wanted = how.max_members + limits::waiting_connections + others;
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < wanted)
        throw std::runtime_error(
            "--max-members " + std::to_string(how.max_members) + " needs " +
            std::to_string(wanted) + " open files, and this process may have " +
            std::to_string(limit.rlim_max)
        );
    limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, wanted);
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

int run(const options& how)
{
    raise_file_limit(how);
    asio::io_context context(1);  // One thread, so no part of a server needs a lock or a strand.
    server all(context, how);
    all.start();
    context.run();

    // Cancelled operations end here.
    context.restart();
    context.run_for(1s);
    if (!all.is_done())
    {
        std::cerr << "not everything has ended" << std::endl;
        std::_Exit(1);  // What is left must not outlive what it refers to.
    }
    std::cout << "ended" << std::endl;
    return 0;
}

}  // namespace

}  // namespace chat

int main(int argc, char** argv)
{
    try
    {
        const chat::parsed_options parsed = chat::parse_options(argc, argv);
        return parsed.value ? chat::run(*parsed.value) : parsed.exit_status;
    }
    catch (const std::exception& error)
    {
        std::cerr << "chat_server: " << error.what() << std::endl;
        return 1;
    }
}
