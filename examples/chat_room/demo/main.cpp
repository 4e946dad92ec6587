// Shows what a chat does with redlock and checks it, step by step. Read story.hpp next.

#include "chat_room/demo/controls.hpp"
#include "chat_room/demo/show.hpp"
#include "chat_room/demo/story.hpp"
#include "demo/narrator.hpp"
#include "demo/performance.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <string_view>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr std::string_view usage =
    "usage: chat_demo [--serve] [--help]\n"
    "\n"
    "Starts five lock nodes, a data store and three chat servers on free loopback ports, shows\n"
    "what two members of a room go through, and stops everything. Exits with 1 if a step doesn't\n"
    "end as expected.\n"
    "\n"
    "  --serve   instead serves the page until Ctrl-C, with buttons to break things\n";

asio::awaitable<void> tell_story(chat::company& in)
{
    const auto start = std::chrono::steady_clock::now();
    co_await chat::everybody_joins(in);
    co_await chat::coordinator_killed(in);
    co_await chat::coordinator_stopped_before_append(in);
    co_await chat::nodes_lost(in);
    co_await chat::all_is_there(in);
    co_await chat::everybody_leaves(in);

    const auto taken = std::chrono::steady_clock::now() - start;
    std::cout << "\nEvery step ended as expected, in " << demo::in_ms(taken) << '.' << std::endl;
}

/// All processes end with `company`.
int run_story()
{
    demo::performance show;
    chat::company in(show.get_executor());
    const int caught = show.run(tell_story(in), [&in]() {
        in.ada.stop();
        in.bob.stop();
    });
    if (caught == 0)
        return 0;
    std::cerr << "\nchat_demo: ended by a signal, all processes are stopped" << std::endl;
    return 128 + caught;
}

asio::awaitable<void> serve(chat::show& of, const chat::controls& by)
{
    std::cout << "Open one of these, or several in separate windows. Ctrl-C stops everything.\n"
                 "Anyone with an address can kill these processes, so keep it to yourself.\n";
    for (const chat::server_process& each : of.on)
        std::cout << "  " << each.url() << "/#lobby!" << by.secret() << '\n';
    std::cout << std::flush;
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (;;)
    {
        timer.expires_after(1h);
        co_await timer.async_wait(asio::use_awaitable);
    }
}

/// All processes end with `show`.
int run_show()
{
    demo::performance stage;
    chat::controls by(stage.get_executor());
    chat::show of(stage.get_executor(), by.url());
    of.start();
    by.start(of);
    const int caught = stage.run(serve(of, by), [&]() {
        by.stop();
        of.stop();
    });
    std::cerr << "\nchat_demo: ended by a signal, all processes are stopped" << std::endl;
    return caught == SIGINT ? 0 : 128 + caught;
}

}  // namespace

int main(int argc, char** argv)
{
    const std::string_view option = argc > 1 ? argv[1] : "";
    if (option == "--help")
    {
        std::cout << usage;
        return 0;
    }
    if (argc > 2 || (argc == 2 && option != "--serve"))
    {
        std::cerr << usage;
        return 2;
    }
    try
    {
        return option == "--serve" ? run_show() : run_story();
    }
    catch (const std::exception& error)
    {
        std::cerr << "\nchat_demo: " << error.what() << std::endl;
        return 1;
    }
}
