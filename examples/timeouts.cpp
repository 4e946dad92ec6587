// usage: redlock_timeouts URL,URL,...
//
// Everything that takes time, and what limits it.

#include "program.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr const char* order = "orders:42";

/// Two ways to stop trying.
asio::awaitable<void> give_up(redlock::client& locks)
{
    // `wait` limits how long to try. Prefer it, because the error says why the attempt failed.
    auto limited = co_await locks.async_acquire(order, {.ttl = 10s, .wait = 300ms}, asio::as_tuple);
    std::cout << "within 300 ms: " << std::get<0>(limited).message() << '\n';

    // `cancel_after` limits any operation. The error only says that you gave up.
    const auto half_a_second = asio::cancel_after(500ms, asio::as_tuple);
    auto cancelled = co_await locks.async_acquire(order, 10s, half_a_second);
    if (std::get<0>(cancelled) == asio::error::operation_aborted)
        std::cout << "within 500 ms: given up\n";
}

asio::awaitable<void> limit_everything(redlock::client& locks)
{
    // Waits until a quorum of the nodes is connected. Without `cancel_after` it has no limit.
    co_await locks.async_wait_ready(asio::cancel_after(5s));
    co_await give_up(locks);

    // No wait is endless unless you say so. `ttl` limits the lease, `hold_max` all its extensions.
    const redlock::acquire_options patient{.ttl = 2s, .wait = redlock::forever, .hold_max = 5s};
    auto held = co_await locks.async_acquire(order, patient);
    std::cout << "ours, for up to " << held.remaining().count() << " ms\n";

    co_await held.async_extend(3s);
    const auto extended = co_await held.async_extend(10s, asio::as_tuple);
    if (std::get<0>(extended) == redlock::error::hold_limit_reached)
        std::cout << "not for 10 s more: " << std::get<0>(extended).message() << '\n';

    // A release ends within one `node_timeout`, whatever the nodes do.
    std::cout << to_string(co_await held.async_release()) << '\n';
}

}  // namespace

int main(int argc, char** argv)
{
    return run_program(argc, argv, limit_everything);
}
