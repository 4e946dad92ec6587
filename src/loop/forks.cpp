#include "loop/forks.hpp"

#include <atomic>

#include <pthread.h>

namespace redlock::detail {

namespace {

std::atomic<unsigned> forks = 0;

}  // namespace

unsigned fork_count() noexcept
{
    // Without memory for the handler nothing is counted: then a child is not told from its parent.
    [[maybe_unused]] static const int registered =
        ::pthread_atfork(nullptr, nullptr, []() { forks.fetch_add(1, std::memory_order_relaxed); });
    return forks.load(std::memory_order_relaxed);
}

}  // namespace redlock::detail
