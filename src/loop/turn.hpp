#ifndef REDLOCK_SRC_LOOP_TURN_HPP
#define REDLOCK_SRC_LOOP_TURN_HPP

#include "loop/strand.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/intrusive/list.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace redlock::detail {

/// Work put off to the end of the current turn. Destroying it takes it out of the queue.
class deferred : public boost::intrusive::list_base_hook<
                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>>
{
public:
    /// Does the work. Called on the strand, with the task out of the queue; may destroy the task.
    virtual void on_turn_end() = 0;

protected:
    ~deferred() = default;
};

/** The end of the current turn of the event loop.

    Two things wait for it. Commands: those that one turn produces share one write per node. And
    coroutines whose round was decided: votes are counted while replies are read, and nothing may
    resume, cancel or throw from in there.

    One end serves them all, in the order in which they came, including what they put off in turn.
    Commands are written when nothing else is left. Used on the strand only.

    An end does a limited number of tasks. What is left gets an end of its own, behind other
    handlers of the loop: nobody else has to wait for long, however many operations go on at once.

    What a connection has read is a turn: see `work`. What user code puts off is done behind all
    handlers that are posted already, so that their commands share a write as well: that end is
    posted to the executor and enters the strand from there. Posted to the strand, it would keep the
    strand busy until it runs, and what user code starts meanwhile would queue up behind it, for one
    more turn and in a batch of its own.
*/
class turn : public std::enable_shared_from_this<turn>
{
public:
    /// @param executor The one under `strand`.
    turn(asio::any_io_executor executor, strand_type strand);

    /// Calls a function that the loop has brought, and then ends the turn. What is thrown in there
    /// ends the program: see `strand_type`.
    template <class Function>
    void work(Function&& function) noexcept
    {
        if (working_)  // An observer polls the loop.
            return std::forward<Function>(function)();
        working_ = true;
        std::forward<Function>(function)();
        working_ = false;
        end();
    }

    /// Puts `task` off to the end of this turn. Does nothing if it is put off already.
    void defer(deferred& task);

    /// The same, before everything else that is put off: what must be known before replies are.
    void defer_first(deferred& task);

    /// The same, when no other task is left: what writes. An end that has done enough calls it too.
    void defer_write(deferred& task);

    /// The same, after all others that write.
    void defer_last(deferred& task);

    /// The same, to the next end and not to this one: other handlers of the loop come between.
    void defer_to_next(deferred& task);

    /// So many tasks are done at an end. A task takes some microseconds.
    static constexpr std::size_t max_tasks = 256;

    /// Called by work that lets an operation go on. Should it end, its handler is posted, and is
    /// likely to start another one. The commands of that should not wait for one more turn: so
    /// another end comes behind that handler.
    void end_again() noexcept { again_ = true; }

    /// Calls `first` before the work of each turn. Null: nothing.
    void begin_with(std::function<void()> first) { first_ = std::move(first); }

private:
    using task_list = boost::intrusive::list<deferred, boost::intrusive::constant_time_size<false>>;

    void put_off(deferred& task, task_list& to);
    [[nodiscard]] deferred* take_next(std::size_t& budget);
    void schedule();
    void post_end();
    void on_posted_end();
    void end();
    void work_off();

    asio::any_io_executor executor_;  ///< Under the strand.
    strand_type strand_;
    task_list tasks_;
    task_list writes_;                 ///< When there are no others.
    task_list last_;                   ///< Nor those.
    task_list next_;                   ///< At the next end.
    bool working_ = false;             ///< An end is sure to come.
    std::atomic<bool> posted_{false};  ///< An end is posted to the executor.
    bool behind_ = false;              ///< Handlers were posted after it.
    bool again_ = false;
    std::function<void()> first_;
};

}  // namespace redlock::detail

#endif
