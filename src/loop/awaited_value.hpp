#ifndef REDLOCK_SRC_LOOP_AWAITED_VALUE_HPP
#define REDLOCK_SRC_LOOP_AWAITED_VALUE_HPP

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace redlock::detail {

/** A value that any thread brings to a waiter on a strand.

    The waiter may go first, together with its execution context. After `leave` nothing that it
    passed is kept or called, so the other thread never touches an executor that is gone. That is
    why the mutex is held while `on_arrival` is called and destroyed.
*/
template <class T>
class awaited_value
{
public:
    /// Calls `on_arrival` once when the value arrives, on the thread that brings it, so it may only
    /// post.
    void wait(std::function<void()> on_arrival)
    {
        const std::lock_guard lock(mutex_);
        on_arrival_ = std::move(on_arrival);
    }

    /// Stops waiting. The value can still come.
    void leave() noexcept
    {
        const std::lock_guard lock(mutex_);
        on_arrival_ = nullptr;
    }

    void bring(T value) noexcept
    {
        const std::lock_guard lock(mutex_);
        value_ = std::move(value);
        if (const auto tell = std::exchange(on_arrival_, nullptr))
            tell();
    }

    /// Takes the value, if it was brought.
    [[nodiscard]] std::optional<T> take() noexcept
    {
        const std::lock_guard lock(mutex_);
        return std::exchange(value_, std::nullopt);
    }

private:
    std::mutex mutex_;  ///< For both.
    std::optional<T> value_;
    std::function<void()> on_arrival_;
};

}  // namespace redlock::detail

#endif
