#ifndef REDLOCK_SRC_CLIENT_SUSPENSION_HPP
#define REDLOCK_SRC_CLIENT_SUSPENSION_HPP

#include <redlock/error.hpp>

#include "node/turn.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/intrusive/list.hpp>

#include <memory>
#include <utility>

namespace redlock::detail {

/// Errors are data in here: every wait of a coroutine is `std::get<0>(co_await ...)`, never a throw.
inline constexpr asio::as_tuple_t<asio::deferred_t> as_tuple{asio::deferred};

class suspension;

using suspension_hook = boost::intrusive::list_base_hook<
    boost::intrusive::tag<suspension>,
    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

/** A point at which one coroutine of a client waits.

    It goes on with the error code that the first `wake()` brings: the event itself, cancellation of
    the operation, or the end of the client. It is resumed at the end of the turn, never from within
    `wake()`. A wake-up that comes before the wait is kept.
*/
class suspension : public suspension_hook, public turn_task
{
public:
    /// The points at which the coroutines of a client wait.
    using list = boost::intrusive::list<
        suspension,
        boost::intrusive::base_hook<suspension_hook>,
        boost::intrusive::constant_time_size<false>>;

    explicit suspension(std::shared_ptr<turn> turn) : turn_(std::move(turn)) {}

    suspension(const suspension&) = delete;
    suspension& operator=(const suspension&) = delete;

    /// Waits for `wake()`. While it does, it is in `waiting`.
    template <class Token>
    auto async_wait(list& waiting, const Token& token)
    {
        return asio::async_initiate<const Token, void(error_code)>(
            [](auto handler, suspension* self, list* among)
            { self->start(std::move(handler), *among); },
            token,
            this,
            &waiting
        );
    }

    /// Ends the wait, or the next one.
    void wake(error_code outcome)
    {
        if (woken_)
            return;
        woken_ = true;
        outcome_ = outcome;
        if (handler_)
            turn_->defer(*this);
    }

    /// Whether a wake-up was given.
    [[nodiscard]] bool woken() const noexcept { return woken_; }

    /// Destroys the waiting coroutine. For the end of the execution context.
    void drop() noexcept
    {
        auto dropped = take_handler();
        turn_task::unlink();
    }

protected:
    ~suspension() = default;

private:
    using handler_type = asio::any_completion_handler<void(error_code)>;

    void start(handler_type handler, list& waiting)
    {
        auto slot = asio::get_associated_cancellation_slot(handler);
        if (slot.is_connected())
        {
            slot.assign([this](asio::cancellation_type type) {
                using asio::cancellation_type;
                if ((type & (cancellation_type::terminal | cancellation_type::partial)) !=
                    cancellation_type::none)
                    wake(asio::error::operation_aborted);
            });
        }
        handler_ = std::move(handler);
        waiting.push_back(*this);
        if (woken_)
            turn_->defer(*this);
    }

    handler_type take_handler()
    {
        if (handler_)
            asio::get_associated_cancellation_slot(handler_).clear();
        suspension_hook::unlink();
        return std::exchange(handler_, nullptr);
    }

    void on_turn_end() override
    {
        woken_ = false;
        // The coroutine may destroy this object: nothing of it is touched after the call.
        take_handler()(std::exchange(outcome_, {}));
    }

    std::shared_ptr<turn> turn_;
    handler_type handler_;
    error_code outcome_;
    bool woken_ = false;
};

}  // namespace redlock::detail

#endif
