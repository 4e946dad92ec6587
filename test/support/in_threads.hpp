#ifndef REDLOCK_TEST_SUPPORT_IN_THREADS_HPP
#define REDLOCK_TEST_SUPPORT_IN_THREADS_HPP

#include <thread>
#include <vector>

namespace redlock::test {

/// Calls `work(index)` in as many threads and waits for them.
template <class Work>
void in_threads(int count, Work work)
{
    std::vector<std::thread> threads;
    for (int index = 0; index < count; ++index)
        threads.emplace_back([=] { work(index); });
    for (std::thread& each : threads)
        each.join();
}

}  // namespace redlock::test

#endif
