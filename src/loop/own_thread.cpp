#include "loop/own_thread.hpp"

#include <thread>
#include <utility>

#include <pthread.h>
#include <signal.h>

namespace redlock::detail {

namespace {

/// Blocks all signals in this thread, and so in those that it starts.
class blocked_signals
{
public:
    blocked_signals() noexcept
    {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }

    blocked_signals(const blocked_signals&) = delete;
    blocked_signals& operator=(const blocked_signals&) = delete;
    ~blocked_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

}  // namespace

void run_on_own_thread(std::function<void()> what)
{
    const blocked_signals during_start;
    std::thread(std::move(what)).detach();
}

}  // namespace redlock::detail
