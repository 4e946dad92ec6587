#ifndef REDLOCK_SRC_NODE_RUN_QUEUE_HPP
#define REDLOCK_SRC_NODE_RUN_QUEUE_HPP

#include <redlock/detail/deliver.hpp>

#include "node/strand.hpp"

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/slist.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace redlock::detail {

class run_queue;

/// A function in a run queue, or one that waits to be put there.
class queued : public posted, public boost::intrusive::slist_base_hook<>
{
};

using queued_list = boost::intrusive::slist<
    queued,
    boost::intrusive::cache_last<true>,
    boost::intrusive::constant_time_size<false>>;

template <class Function>
[[nodiscard]] std::unique_ptr<queued> make_queued(Function&& function)
{
    using kept = posted_function<std::decay_t<Function>, queued>;
    return std::make_unique<kept>(std::forward<Function>(function));
}

/// Functions that wait for nothing but `wake()`. Destroying this wakes them.
class sleepers : public boost::intrusive::list_base_hook<
                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>>
{
public:
    explicit sleepers(run_queue& queue) noexcept : queue_(queue) {}
    ~sleepers() { wake(); }

    sleepers(const sleepers&) = delete;
    sleepers& operator=(const sleepers&) = delete;

    void add(std::unique_ptr<queued> what) noexcept;

    /// Puts them into the queue. @return How many.
    std::size_t wake() noexcept;

    /// Destroys them uncalled.
    void destroy() noexcept;

private:
    run_queue& queue_;
    queued_list waiting_;
};

/** Functions that follow the one that runs now, before the loop looks at its sockets again.

    A reply passes through half a dozen small steps of Boost.Redis, the client and Boost.Redis again
    before the next command is written. Posted to an io_context, each step waits until all sockets
    were looked at once more, and until the replies of other nodes have made theirs. In this queue
    the steps of one reply follow each other at once. What is posted while nothing runs here waits
    for the loop as usual.

    Completion handlers are not for this queue: user code may block or poll the loop, and what is
    queued behind it would wait for that to end.

    One for each io_context that one thread runs. All but `of` is used on that thread.
*/
class run_queue final : public asio::execution_context::service
{
public:
    using key_type = run_queue;
    static asio::execution_context::id id;

    using loop = asio::io_context::executor_type;
    class executor_type;

    /// So many functions follow one from the loop before others get their turn.
    static constexpr std::size_t max_run = 1024;

    explicit run_queue(asio::io_context& context) noexcept;

    /// The queue of what is behind `strand`. Null if that is not an io_context with one thread.
    [[nodiscard]] static run_queue* of(const strand_type& strand);

    [[nodiscard]] executor_type get_executor() noexcept;
    [[nodiscard]] const loop& behind() const noexcept { return loop_; }

    /// Whether the caller is a function of this queue, so that what it posts follows it at once.
    [[nodiscard]] bool running() const noexcept { return running_; }

    /// Calls a function, then what that posts.
    template <class Function>
    void dispatch(Function&& function)
    {
        if (running_)
            std::forward<Function>(function)();
        else
            run([&function]() { std::forward<Function>(function)(); });
    }

    /// Calls a function behind those that are queued.
    void post(std::unique_ptr<queued> what) noexcept;

    /// Calls the function that is next, if there is one.
    void go_on();

private:
    friend class sleepers;

    template <class First>
    void run(First first)
    {
        const bool within = std::exchange(running_, true);
        try
        {
            first();
            for (std::size_t count = 0; count < max_run && !queue_.empty(); ++count)
                go_on();
        }
        catch (...)
        {
            // Whoever runs the loop learns it, and may go on. So must what is left.
            running_ = within;
            run_later();
            throw;
        }
        running_ = within;
        run_later();
    }

    void run_later() noexcept;
    void shutdown() override;
    static void destroy(queued_list& what) noexcept;

    loop loop_;
    bool running_ = false;
    bool scheduled_ = false;  ///< The loop will run what is queued.
    bool shut_down_ = false;
    queued_list queue_;
    boost::intrusive::list<sleepers, boost::intrusive::constant_time_size<false>> sleepers_;
};

/// Runs functions in a run queue. For the connections of Boost.Redis, which use it for all they do.
class run_queue::executor_type
{
public:
    explicit executor_type(run_queue& queue) noexcept : queue_(&queue) {}

    [[nodiscard]] run_queue& queue() const noexcept { return *queue_; }

    asio::execution_context& query(asio::execution::context_t) const noexcept
    {
        return queue_->behind().context();
    }

    asio::execution::blocking_t query(asio::execution::blocking_t) const noexcept
    {
        return blocking_;
    }

    executor_type require(asio::execution::blocking_t::possibly_t how) const noexcept
    {
        return executor_type(*queue_, how);
    }

    executor_type require(asio::execution::blocking_t::never_t how) const noexcept
    {
        return executor_type(*queue_, how);
    }

    template <class Function>
    void execute(Function&& function) const
    {
        if (!queue_->behind().running_in_this_thread())
            return from_elsewhere(make_queued(std::forward<Function>(function)));
        if (blocking_ == asio::execution::blocking.never)
            return queue_->post(make_queued(std::forward<Function>(function)));
        queue_->dispatch(std::forward<Function>(function));
    }

    friend bool operator==(const executor_type&, const executor_type&) noexcept = default;

private:
    executor_type(run_queue& queue, asio::execution::blocking_t how) noexcept
        : queue_(&queue), blocking_(how)
    {
    }

    void from_elsewhere(std::unique_ptr<queued> what) const;

    run_queue* queue_;
    asio::execution::blocking_t blocking_ = asio::execution::blocking.possibly;
};

inline run_queue::executor_type run_queue::get_executor() noexcept
{
    return executor_type(*this);
}

}  // namespace redlock::detail

#endif
