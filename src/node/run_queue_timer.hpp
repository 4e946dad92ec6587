#ifndef REDLOCK_SRC_NODE_RUN_QUEUE_TIMER_HPP
#define REDLOCK_SRC_NODE_RUN_QUEUE_TIMER_HPP

#include "node/run_queue.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancel_at.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

/** What the timers of a connection are if it runs in a run queue.

    Boost.Redis makes its timers for the executor it is given, and most of them never expire: one
    that its writer waits for until there is something to write, and one beside each read and each
    write, for a timeout that is off. Asio would bring the news that such a timer was cancelled
    through the loop, which is half of the steps between a reply and the next command. So two of
    Asio's templates are specialized here, for the executor of a run queue and nothing else.
*/
namespace boost::asio {

/** A timer that brings a wait which never expires to the run queue, and is one of Asio's otherwise.

    Has the members that Boost.Redis uses. It has one wait at a time there, so a cancellation slot
    ends all waits of the timer.
*/
template <class Clock, class Traits>
class basic_waitable_timer<Clock, Traits, redlock::detail::run_queue::executor_type>
{
public:
    using executor_type = redlock::detail::run_queue::executor_type;
    using clock_type = Clock;
    using traits_type = Traits;
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using expiring_timer =
        basic_waitable_timer<Clock, Traits, redlock::detail::run_queue::loop>;

    explicit basic_waitable_timer(const executor_type& executor)
        : executor_(executor), expiring_(executor.queue().behind()), endless_(executor.queue())
    {
    }

    [[nodiscard]] executor_type get_executor() const noexcept { return executor_; }

    /// Ends all waits with `operation_aborted`. @return How many.
    std::size_t cancel() { return expires() ? expiring_.cancel() : endless_.wake(); }

    /// Cancels, and sets the end of the waits that follow. The maximum: they have none.
    std::size_t expires_at(const time_point& at)
    {
        const std::size_t cancelled = cancel();
        expiry_ = at;
        if (expires())
            expiring_.expires_at(at);
        return cancelled;
    }

    std::size_t expires_after(const duration& delay)
    {
        return expires_at(Clock::now() + delay);
    }

    template <class Token>
    auto async_wait(Token&& token)
    {
        return async_initiate<Token, void(system::error_code)>(initiation{*this}, token);
    }

    /// For `cancel_at`, which sets it itself.
    [[nodiscard]] expiring_timer& expiring() noexcept { return expiring_; }

private:
    struct initiation
    {
        using executor_type = redlock::detail::run_queue::executor_type;

        executor_type get_executor() const noexcept { return timer.executor_; }

        template <class Handler>
        void operator()(Handler&& handler) const
        {
            if (timer.expires())
                timer.expiring_.async_wait(std::forward<Handler>(handler));
            else
                timer.wait_endlessly(std::forward<Handler>(handler));
        }

        basic_waitable_timer& timer;
    };

    [[nodiscard]] bool expires() const noexcept { return expiry_ != (time_point::max)(); }

    template <class Handler>
    void wait_endlessly(Handler handler)
    {
        auto slot = get_associated_cancellation_slot(handler);
        if (slot.is_connected())
            slot.assign([this](cancellation_type) { endless_.wake(); });
        endless_.add(redlock::detail::make_queued(
            [executor = executor_, handler = std::move(handler)]() mutable {
                const system::error_code aborted = error::operation_aborted;
                executor.complete(std::move(handler), aborted);
            }
        ));
    }

    executor_type executor_;
    time_point expiry_ = {};
    expiring_timer expiring_;
    redlock::detail::sleepers endless_;
};

/** `cancel_at` with such a timer: no timer at all if the time never comes. What is read so is taken
    for a reply.

    For completion handlers, and tokens with which nothing is returned.
*/
template <class Token, class Clock, class Traits, class... Signatures>
struct async_result<
    cancel_at_timer<Token, Clock, Traits, redlock::detail::run_queue::executor_type>,
    Signatures...>
{
    template <class Initiation, class RawToken, class... Arguments>
    static void initiate(Initiation&& initiation, RawToken&& token, Arguments&&... arguments)
    {
        if (token.expiry_ == (Clock::time_point::max)())
        {
            auto untimed =
                bind<Arguments...>(token.timer_.get_executor(), std::move(token.token_));
            return async_initiate<decltype(untimed), Signatures...>(
                std::forward<Initiation>(initiation), untimed, std::forward<Arguments>(arguments)...
            );
        }

        auto timed = cancel_at(
            token.timer_.expiring(), token.expiry_, token.cancel_type_, std::move(token.token_)
        );
        return async_initiate<decltype(timed), Signatures...>(
            std::forward<Initiation>(initiation), timed, std::forward<Arguments>(arguments)...
        );
    }

private:
    template <class Argument>
    static constexpr bool reads_into = is_mutable_buffer_sequence<std::decay_t<Argument>>::value;

    template <class... Arguments>
    static auto bind(const redlock::detail::run_queue::executor_type& executor, Token token)
    {
        // Asio keeps the memory of two operations of a thread for reuse, and a turn has more.
        auto bound =
            bind_allocator(redlock::detail::recycling_allocator<void>(), std::move(token));
        if constexpr ((reads_into<Arguments> || ...))
            return bind_executor(executor.for_replies(), std::move(bound));
        else
            return bound;
    }
};

}  // namespace boost::asio

#endif
