#ifndef REDLOCK_SRC_LOOP_AWAITED_VALUE_HPP
#define REDLOCK_SRC_LOOP_AWAITED_VALUE_HPP

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace redlock::detail {

/** A value that any thread brings to one that waits on a strand.

    The one that waits may go first, and its execution context with it. After `leave` nothing that
    it gave is kept or called, so the other thread never touches an executor that is gone. To that
    end the mutex is held while `on_arrival` is called and destroyed.
*/
template <class T>
class awaited_value
{
public:
    /// Calls `on_arrival` once, when the value is brought and on the thread that brings it: it may
    /// only post.
    void wait(std::function<void()> on_arrival)
    {
        const std::lock_guard lock(mutex_);
        on_arrival_ = std::move(on_arrival);
    }

    /// Waits no more. The value can come all the same.
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
    std::mutex mutex_;  ///< Of both.
    std::optional<T> value_;
    std::function<void()> on_arrival_;
};

}  // namespace redlock::detail

#endif
