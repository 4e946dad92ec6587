#include "performance.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <csignal>
#include <exception>
#include <utility>

namespace demo {

namespace asio = boost::asio;
using namespace std::chrono_literals;

int performance::run(asio::awaitable<void> story, std::function<void()> stop)
{
    int caught = 0;
    std::exception_ptr failure;
    asio::cancellation_signal cancel;

    asio::signal_set signals(context_, SIGINT, SIGTERM, SIGPIPE);
    signals.add(SIGHUP);
    signals.async_wait([&](const boost::system::error_code& ec, int number) {
        if (ec)
            return;
        caught = number;
        cancel.emit(asio::cancellation_type::terminal);
    });
    // Ctrl-C ends the servers too, which may fail the story before the signal arrives here. So wait
    // a moment for it after a failure.
    asio::steady_timer moment(context_);
    const auto at_end = [&](std::exception_ptr thrown) {
        failure = std::move(thrown);
        stop();
        moment.expires_after(failure ? 50ms : 0ms);
        moment.async_wait([&](const boost::system::error_code&) { signals.cancel(); });
    };
    asio::co_spawn(context_, std::move(story), asio::bind_cancellation_slot(cancel.slot(), at_end));
    context_.run();

    if (caught == 0 && failure)
        std::rethrow_exception(failure);
    return caught;
}

}  // namespace demo
