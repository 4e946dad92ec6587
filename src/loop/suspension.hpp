#ifndef REDLOCK_SRC_LOOP_SUSPENSION_HPP
#define REDLOCK_SRC_LOOP_SUSPENSION_HPP

#include <redlock/error.hpp>

#include "loop/deadlines.hpp"
#include "loop/task.hpp"
#include "loop/turn.hpp"

#include <boost/intrusive/list.hpp>

#include <coroutine>
#include <utility>

namespace redlock::detail {

using suspension_hook = boost::intrusive::list_base_hook<
    boost::intrusive::tag<suspension>,
    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

/** A point at which one operation of a client waits.

    It resumes with the error code that the first `wake()` brings: the event itself, cancellation of
    the operation, or the end of the client. Its deadline, if it has one, wakes it without an error.
    It is resumed at the end of the turn, never from within `wake()`. A wake-up that comes before
    the wait is kept.
*/
class suspension : public suspension_hook, public deferred, public deadline
{
public:
    /// The points at which the operations of a client wait.
    using list = boost::intrusive::list<
        suspension,
        boost::intrusive::base_hook<suspension_hook>,
        boost::intrusive::constant_time_size<false>>;

    /// @param end_of_turn When to resume. Used only while an operation waits here, which keeps its
    /// client alive.
    explicit suspension(turn& end_of_turn) noexcept : turn_(end_of_turn) {}

    suspension(const suspension&) = delete;
    suspension& operator=(const suspension&) = delete;

    /// Waits for `wake()` and returns its code. Until then the suspension is in `waiting`.
    [[nodiscard]] auto wait(list& waiting) noexcept { return awaiter{*this, waiting, false}; }

    /// Lets other handlers of the loop go first. Returns the code of a `wake()`, if there was one.
    [[nodiscard]] auto wait_for_next_turn(list& waiting) noexcept
    {
        return awaiter{*this, waiting, true};
    }

    /// Ends the wait, or the next one. @return Whether nothing else had ended it before.
    bool wake(error_code outcome);

    /// The same, but the operation resumes before all others that are awake.
    void wake_first(error_code outcome);

    /// Destroys the operation that waits here. Used when the execution context ends.
    void drop() noexcept;

protected:
    ~suspension() = default;

    void on_deadline() override { wake({}); }

private:
    struct awaiter
    {
        suspension& self;
        list& waiting;
        bool goes_on_by_itself;

        bool await_ready() const noexcept { return false; }

        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> waiter) const
        {
            self.start(waiter, *waiter.promise().frame, waiting);
            if (goes_on_by_itself)
                self.go_on_in_next_turn();
        }

        error_code await_resume() const noexcept { return std::exchange(self.outcome_, {}); }
    };

    void start(std::coroutine_handle<> waiter, operation_frame& frame, list& waiting);
    void go_on_in_next_turn();
    operation_frame* stop_waiting() noexcept;
    void on_turn_end() override;

    turn& turn_;
    std::coroutine_handle<> waiter_;
    operation_frame* frame_ = nullptr;  ///< Of the waiting operation. Null if there is none.
    error_code outcome_;
    bool woken_ = false;
};

/// A suspension and nothing more.
class pause final : public suspension
{
public:
    using suspension::suspension;
};

}  // namespace redlock::detail

#endif
