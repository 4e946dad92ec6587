// What users write by mistake. Each name selects one, which must be refused in the sentence that
// CMakeLists.txt expects.

#include <redlock.hpp>

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <utility>

using namespace std::chrono_literals;

boost::asio::awaitable<void> make_mistake(redlock::client& locks)
{
#if defined(CALLBACK_WITHOUT_LEASE)
    locks.async_acquire("orders:42", 10s, [](redlock::error_code) {});
#elif defined(CALLBACK_WITHOUT_CODE)
    locks.async_try_acquire("orders:42", [](redlock::lease) {});
#elif defined(RELEASE_WITHOUT_OUTCOME)
    redlock::lease held;
    held.async_release([](redlock::error_code) {});
#elif defined(TTL_WITHOUT_UNIT)
    co_await locks.async_acquire("orders:42", 10);
#elif defined(BODY_WITHOUT_LEASE)
    co_await redlock::with_lock(locks, "orders:42", 10s, []() -> boost::asio::awaitable<void> {
        co_return;
    });
#elif defined(BODY_THAT_IS_NO_COROUTINE)
    co_await redlock::with_lock(locks, "orders:42", 10s, [](redlock::lease&) {});
#elif defined(BODY_WITHOUT_TERM)
    co_await redlock::lead(locks, "jobs", {}, [](redlock::lease&) -> boost::asio::awaitable<void> {
        co_return;
    });
#elif defined(LEADER_THAT_IS_NO_COROUTINE)
    co_await redlock::lead(locks, "jobs", {}, [](redlock::term&) {});
#elif defined(ON_OVERRUN_THAT_MAY_THROW)
    const redlock::lead_options options{.on_overrun = [](const redlock::overrun&) {}};
#elif defined(DROPPED_LEASE)
    co_await locks.async_acquire("orders:42");
#elif defined(DROPPED_BLOCKING_LEASE)
    redlock::blocking::client blocking("redis://a");
    blocking.acquire("orders:42");
#elif defined(OPTIONAL_OF_LEASE)
    const std::optional<redlock::lease> held = co_await locks.async_try_acquire("orders:42");
#elif defined(BODY_THAT_CANNOT_BE_COPIED)
    auto only = std::make_unique<int>(42);
    const auto body = [only = std::move(only)](redlock::lease&) -> boost::asio::awaitable<void> {
        co_return;
    };
    co_await redlock::with_lock(locks, "orders:42", body);
#else
    // No mistake.
    co_await redlock::with_lock(
        locks, "orders:42", 10s, [](redlock::lease&) -> boost::asio::awaitable<void> { co_return; }
    );
    const redlock::lead_options options{.on_overrun = [](const redlock::overrun&) noexcept {}};
    co_await redlock::lead(
        locks, "jobs", options, [](redlock::term&) -> boost::asio::awaitable<void> { co_return; }
    );
#endif
    co_return;
}
