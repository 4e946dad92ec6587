#ifndef REDLOCK_SRC_TOOL_SIGNALS_HPP
#define REDLOCK_SRC_TOOL_SIGNALS_HPP

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <functional>
#include <utility>

namespace redlock::tool {

/// Receives the signals of this process, and passes them to one handler at a time.
class signals
{
public:
    explicit signals(boost::asio::io_context& in) : set_(in)
    {
        for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD})
        {
            struct sigaction before{};
            ::sigaction(each, nullptr, &before);
            // Respect `nohup`, and `&` in a script.
            if (each == SIGCHLD || before.sa_handler != SIG_IGN)
                set_.add(each);
        }
        listen();
    }

    /// @param handler Gets the number of each signal, including SIGCHLD.
    void on_signal(std::function<void(int)> handler) { handler_ = std::move(handler); }

    /// The last signal that asked this process to end. Zero if none did.
    [[nodiscard]] int asked_to_end() const noexcept { return asked_to_end_; }

    [[nodiscard]] static bool asks_to_end(int number) noexcept
    {
        return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
    }

private:
    void listen()
    {
        set_.async_wait([this](boost::system::error_code ec, int number) {
            if (ec)
                return;
            if (asks_to_end(number))
                asked_to_end_ = number;
            if (handler_)
                handler_(number);
            listen();
        });
    }

    boost::asio::signal_set set_;
    std::function<void(int)> handler_;
    int asked_to_end_ = 0;
};

}  // namespace redlock::tool

#endif
