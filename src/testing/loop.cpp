#include "testing/loop.hpp"

#include <cstddef>
#include <stdexcept>

namespace redlock::testing {

namespace {

/// Far more than any scenario needs. A loop that runs forever must fail, not hang.
constexpr std::size_t most_handlers = 1'000'000;

}  // namespace

void run_until_idle(boost::asio::io_context& context)
{
    for (std::size_t handlers = 0; handlers < most_handlers; ++handlers)
    {
        context.restart();
        if (context.poll_one() == 0)
            return;
    }
    throw std::runtime_error("the context never becomes idle: something keeps restarting itself");
}

void advance(manual_time& time, nanoseconds by, const std::function<void()>& settle)
{
    const nanoseconds target = time.elapsed() + by;
    settle();
    for (auto next = time.next(); next && *next <= target; next = time.next())
    {
        time.advance(*next - time.elapsed());
        settle();
    }
    time.advance(target - time.elapsed());
    settle();
}

void advance(boost::asio::io_context& context, manual_time& time, nanoseconds by)
{
    advance(time, by, [&context]() { run_until_idle(context); });
}

}  // namespace redlock::testing
