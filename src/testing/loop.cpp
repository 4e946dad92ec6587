#include "testing/loop.hpp"

#include <cstddef>
#include <stdexcept>

namespace redlock::testing {

namespace {

/// Far more than any scenario needs. What goes on for ever must fail and not hang.
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
    throw std::runtime_error("the context is never idle: something starts itself again at once");
}

void advance(boost::asio::io_context& context, manual_time& time, nanoseconds by)
{
    const nanoseconds target = time.elapsed() + by;
    run_until_idle(context);
    while (const auto next = time.next())
    {
        if (*next > target)
            break;
        time.advance(*next - time.elapsed());
        run_until_idle(context);
    }
    time.advance(target - time.elapsed());
    run_until_idle(context);
}

}  // namespace redlock::testing
