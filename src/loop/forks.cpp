#include "loop/forks.hpp"

#include <atomic>

#include <pthread.h>

namespace redlock::detail {

namespace {

std::atomic<unsigned> forks = 0;

}  // namespace

home::home() noexcept
{
    // Without memory for the handler nothing is counted: then a child is not told from its parent.
    [[maybe_unused]] static const int registered =
        ::pthread_atfork(nullptr, nullptr, []() { forks.fetch_add(1, std::memory_order_relaxed); });
    forks_ = forks.load(std::memory_order_relaxed);
}

bool home::is_here() const noexcept
{
    return forks_ == forks.load(std::memory_order_relaxed);
}

}  // namespace redlock::detail
