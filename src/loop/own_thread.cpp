#include "loop/own_thread.hpp"

#include "loop/platform.hpp"

#include <thread>
#include <utility>

namespace redlock::detail {

void run_on_own_thread(std::function<void()> what)
{
    platform::without_signals([&what]() { std::thread(std::move(what)).detach(); });
}

}  // namespace redlock::detail
