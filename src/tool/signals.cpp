#include "tool/signals.hpp"

#include <array>
#include <csignal>

#include <unistd.h>

namespace redlock::tool {

namespace {

constexpr std::array received{
    SIGINT,
    SIGTERM,
    SIGHUP,
    SIGQUIT,
    SIGUSR1,
    SIGUSR2,
    SIGCHLD,
    SIGTSTP,
    SIGTTIN,
    SIGTTOU,
    SIGCONT,
};

constexpr int longest_delivery_ms = 50;

volatile std::sig_atomic_t end_asked_by = 0;
volatile std::sig_atomic_t continued = 0;

void (*pass_on)(int) = nullptr;  // Asio's handler.

/// The loop learns of a signal some time after it has arrived. Until then a command could begin.
void note(int number)
{
    if (signals::asks_to_end(number))
        end_asked_by = number;
    if (number == SIGCONT)
        continued = 1;
    pass_on(number);
}

}  // namespace

signals::signals(boost::asio::io_context& in) : set_(in)
{
    ::sigset_t unblocked;
    sigemptyset(&unblocked);
    for (const int each : received)
    {
        struct sigaction now{};
        ::sigaction(each, nullptr, &now);
        // Respect `nohup`, and `&` in a script.
        if (each != SIGCHLD && now.sa_handler == SIG_IGN)
            continue;
        set_.add(each);
        ::sigaction(each, nullptr, &now);
        pass_on = now.sa_handler;
        now.sa_handler = note;
        ::sigaction(each, &now, nullptr);
        sigaddset(&unblocked, each);
    }
    ::sigprocmask(SIG_UNBLOCK, &unblocked, nullptr);
    listen();
}

int signals::asked_to_end() const noexcept
{
    return end_asked_by;
}

bool signals::asks_to_end(int number) noexcept
{
    return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

bool signals::asks_to_stop(int number) noexcept
{
    return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

bool signals::stop(int number, bool with_group)
{
    struct sigaction plain{};
    struct sigaction before{};
    plain.sa_handler = SIG_IGN;
    ::sigaction(number, &plain, &before);
    if (with_group)
        ::kill(0, number);
    plain.sa_handler = SIG_DFL;
    ::sigaction(number, &plain, nullptr);
    continued = 0;
    // To this thread. Sent to the process, it could be delivered to another thread, and later.
    ::raise(number);
    // Another thread may be about to note it.
    for (int waited = 0; continued == 0 && waited < longest_delivery_ms; ++waited)
        ::usleep(1'000);
    ::sigaction(number, &before, nullptr);
    return continued != 0;
}

void signals::listen()
{
    set_.async_wait([this](boost::system::error_code ec, int number) {
        if (ec)
            return;
        if (handler_)
            handler_(number);
        else if (asks_to_stop(number))
            stop(number, false);
        listen();
    });
}

}  // namespace redlock::tool
