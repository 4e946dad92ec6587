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

/// Work deferred to the end of the current turn. Destroying it takes it out of the queue.
class deferred : public boost::intrusive::list_base_hook<
                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>>
{
public:
    /// Does the work. Called on the strand when the task is out of the queue; may destroy the task.
    virtual void on_turn_end() = 0;

protected:
    ~deferred() = default;
};

/** The end of the current turn of the event loop.

    Two things wait for it. Commands: those that one turn produces share one write per node. And
    coroutines whose round was decided: votes are counted while replies are read, and nothing may
    resume, cancel or throw from there.

    One end serves them all in the order in which they came, including work that they defer.
    Commands are written when nothing else is left. Used on the strand only.

    An end does a limited number of tasks. The rest gets another end after other handlers of the
    loop, so no handler waits long, however many operations resume at once.

    Handling what a connection has read is a turn: see `work`. Work that user code defers runs after
    all handlers that are already posted, so that their commands share a write too. That end is
    posted to the executor and enters the strand from there. Posted to the strand, it would keep the
    strand busy until it runs, and operations that user code starts until then would queue up behind
    it, for one more turn and in a separate batch.
*/
class turn : public std::enable_shared_from_this<turn>
{
public:
    /// @param executor The executor under `strand`.
    turn(asio::any_io_executor executor, strand_type strand);

    /// Calls a function that the loop brought, and then ends the turn. An exception from it ends
    /// the program: see `strand_type`.
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

    /// Defers `task` to the end of this turn. Does nothing if it is already deferred.
    void defer(deferred& task);

    /// The same, but before all other tasks. For news that must be known before replies are.
    void defer_first(deferred& task);

    /// The same, but when no other task is left. For writes. An end that has done enough tasks
    /// still does these.
    void defer_write(deferred& task);

    /// The same, but after all other writes.
    void defer_last(deferred& task);

    /// The same, but to the next end, after other handlers of the loop.
    void defer_to_next(deferred& task);

    /// The most tasks done at one end. A task takes a few microseconds.
    static constexpr std::size_t max_tasks = 128;

    /// Called by work that resumes an operation. If the operation ends, its handler is posted and
    /// is likely to start another one. The commands of that one shouldn't wait another turn, so
    /// another end follows that handler.
    void end_again() noexcept { again_ = true; }

    /// Calls `first` before the work of each turn. Null: calls nothing.
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
    task_list writes_;                 ///< Done when there are no others.
    task_list last_;                   ///< Done when there are no writes either.
    task_list next_;                   ///< Done at the next end.
    bool working_ = false;             ///< An end is sure to come.
    std::atomic<bool> posted_{false};  ///< An end is posted to the executor.
    bool behind_ = false;              ///< Handlers were posted after it.
    bool again_ = false;
    std::function<void()> first_;
};

}  // namespace redlock::detail

#endif
