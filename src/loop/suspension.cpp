#include "loop/suspension.hpp"

#include <boost/asio/error.hpp>
#include <boost/assert.hpp>

namespace redlock::detail {

void canceller::cancel()
{
    // An operation that has already been woken for another reason is stopped at its next wait.
    if (!waiting_ || !waiting_->wake(boost::asio::error::operation_aborted))
        requested_ = true;
}

bool suspension::wake(error_code outcome)
{
    if (woken_)
        return false;
    woken_ = true;
    outcome_ = outcome;
    if (frame_)
        turn_.defer(*this);
    return true;
}

void suspension::wake_first(error_code outcome)
{
    if (wake(outcome) && frame_)
        turn_.defer_first(*this);
}

void suspension::drop() noexcept
{
    deferred::unlink();
    if (const operation_frame* dropped = stop_waiting())
        dropped->outermost.destroy();
}

void suspension::start(std::coroutine_handle<> waiter, operation_frame& frame, list& waiting)
{
    BOOST_ASSERT(!frame_);

    waiter_ = waiter;
    frame_ = &frame;
    waiting.push_back(*this);
    if (canceller* const cancelled_by = frame.cancelled_by)
    {
        cancelled_by->waiting_ = this;
        // If this wait was over before it began, the cancellation is for the next one.
        if (cancelled_by->requested_)
            cancelled_by->requested_ = !wake(boost::asio::error::operation_aborted);
    }
    if (woken_)
        turn_.defer(*this);
}

void suspension::go_on_in_next_turn()
{
    if (!std::exchange(woken_, true))
        turn_.defer_to_next(*this);
}

operation_frame* suspension::stop_waiting() noexcept
{
    suspension_hook::unlink();
    if (frame_ && frame_->cancelled_by)
        frame_->cancelled_by->waiting_ = nullptr;
    return std::exchange(frame_, nullptr);
}

void suspension::on_turn_end()
{
    woken_ = false;
    stop_waiting();
    turn_.end_again();
    // The operation may destroy this object, so don't touch it after the call.
    std::exchange(waiter_, nullptr).resume();
}

}  // namespace redlock::detail
