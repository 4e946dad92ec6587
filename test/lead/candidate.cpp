// usage: candidate NODES RESOURCE TTL BOOK NUMBER KIND
//
// A process that leads when it can, and writes its terms down. SIGUSR1: its body resigns. KIND:
//   obedient  its body ends when it is cancelled
//   ignores   its body ignores that
//   blocks    its body blocks the only thread
//   exits     its body ends the process, with `exit`

#include <redlock/lead.hpp>

#include "lead/book.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

moment as_moment(time_point at)
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
}

void note_alive(term_entry& in, const term& led)
{
    in.valid_until = as_moment(led.held().valid_until());
    in.alive = now();
}

class program
{
public:
    explicit program(char** arguments)
        : locks_(context_, config(arguments[1])),
          resource_(arguments[2]),
          options_{.ttl = milliseconds(std::stoi(arguments[3])), .pause = 300ms},
          book_(arguments[4]),
          number_(static_cast<std::uint32_t>(std::stoul(arguments[5]))),
          kind_(arguments[6])
    {
    }

    void run()
    {
        locks_.async_run(asio::detached);
        locks_.async_wait_ready([this](error_code) { book_->standing[number_] = ::getpid(); });
        const auto body = [this](term& led) { return serve(led); };
        asio::co_spawn(
            context_,
            lead(locks_, resource_, options_, body),
            [](const std::exception_ptr& failure) {
                if (failure)
                    std::rethrow_exception(failure);
            }
        );
        await_signal();
        context_.run();
    }

private:
    static client_config config(const char* nodes)
    {
        client_config made;
        made.nodes = parse_nodes(nodes);
        made.node_timeout = 100ms;
        return made;
    }

    void await_signal()
    {
        signals_.async_wait([this](error_code, int) {
            if (leads_)
                leads_->resign();
            await_signal();
        });
    }

    asio::awaitable<void> serve(term& led)
    {
        term_entry& entry = book_->add();
        entry.candidate = number_;
        entry.number = led.number().value();
        note_alive(entry, led);
        entry.begun = now();
        leads_ = &led;
        if (kind_ == "blocks")
            block(entry, led);
        if (kind_ == "exits")
            std::exit(0);
        co_await work(entry, led);
        leads_ = nullptr;
        entry.ended = now();
    }

    asio::awaitable<void> work(term_entry& entry, const term& led)
    {
        if (kind_ == "ignores")
            co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        else
            co_await asio::this_coro::throw_if_cancelled(false);
        asio::steady_timer timer(co_await asio::this_coro::executor);
        for (bool cancelled = false; !cancelled;)
        {
            timer.expires_after(1ms);
            const auto waited = co_await timer.async_wait(asio::as_tuple(asio::deferred));
            // It may come when the timer has expired, and nothing waits.
            const auto state = co_await asio::this_coro::cancellation_state;
            cancelled = std::get<0>(waited) || state.cancelled() != asio::cancellation_type::none;
            note_alive(entry, led);
        }
    }

    [[noreturn]] static void block(term_entry& entry, const term& led)
    {
        for (;;)
        {
            note_alive(entry, led);
            std::this_thread::sleep_for(100us);
        }
    }

    asio::io_context context_{1};
    asio::signal_set signals_{context_, SIGUSR1};
    client locks_;
    std::string resource_;
    lead_options options_;
    mapped_book book_;
    std::uint32_t number_;
    std::string_view kind_;
    term* leads_ = nullptr;
};

}  // namespace

int main(int, char** arguments)
{
    // It ends by `abort` when it is told to, and its memory is of no interest.
    constexpr ::rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    try
    {
        program(arguments).run();
    }
    catch (const std::exception& failure)
    {
        std::cerr << "candidate: " << failure.what() << '\n';
        return 1;
    }
}
