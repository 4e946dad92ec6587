#ifndef REDLOCK_SRC_NODE_RUN_QUEUE_HPP
#define REDLOCK_SRC_NODE_RUN_QUEUE_HPP

#include <redlock/detail/deliver.hpp>

#include "node/strand.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/assert.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/slist.hpp>

#include <cstddef>
#include <deque>
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

    [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }

    void add(std::unique_ptr<queued> what) noexcept;

    /// Puts them into the queue. @return How many.
    std::size_t wake() noexcept { return empty() ? 0 : wake_all(); }

    /// Destroys them uncalled.
    void destroy() noexcept;

private:
    std::size_t wake_all() noexcept;

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
    queued behind it would wait for that to end. They follow the reply that decided their operation:
    they are called when the queue has done its part, and still before the loop goes on. Otherwise
    they, and the commands they lead to, would wait for the replies of nodes that decide nothing.

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

    explicit run_queue(asio::io_context& context);

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

    /// As `dispatch`, for the end of a read, which the loop brings. Then calls what follows it.
    template <class Function>
    void dispatch_reply(Function&& function)
    {
        if (running_)
            return std::forward<Function>(function)();
        {
            const reply_scope scope(*this);
            run([&function]() { std::forward<Function>(function)(); });
        }
        call_followers();
    }

    /// Whether this thread works off a reply, so that what it posts there follows that.
    [[nodiscard]] bool in_reply() const noexcept;

    /** Calls a function behind the reply that this thread works off, outside of the queue.

        @return False, and the function is untouched, if there is none, or if `executor` is not that
        of the loop that brought it.
    */
    [[nodiscard]] static bool follow(
        const asio::any_io_executor& executor,
        std::unique_ptr<posted>& what
    );

    /// Calls the function that is next, if there is one.
    void go_on();

private:
    friend class sleepers;

    /// While a reply is worked off. At its end the loop, too, is told to call what follows, for one
    /// of those functions may throw, stop the loop, or poll it.
    class reply_scope
    {
    public:
        explicit reply_scope(run_queue& queue) noexcept;
        ~reply_scope();

        reply_scope(const reply_scope&) = delete;
        reply_scope& operator=(const reply_scope&) = delete;

    private:
        run_queue& queue_;
        run_queue* before_;
    };

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
    void call_followers();
    void call_followers_later() noexcept;
    void shutdown() override;
    static void destroy(queued_list& what) noexcept;

    loop loop_;
    bool running_ = false;
    bool scheduled_ = false;  ///< The loop will run what is queued.
    bool followers_scheduled_ = false;  ///< The loop will call those that are left.
    bool shut_down_ = false;
    queued_list queue_;
    std::deque<std::unique_ptr<posted>> followers_;
    boost::intrusive::list<sleepers, boost::intrusive::constant_time_size<false>> sleepers_;
};

/// Runs functions in a run queue. For the connections of Boost.Redis, which use it for all they do.
class run_queue::executor_type
{
public:
    explicit executor_type(run_queue& queue) noexcept : queue_(&queue) {}

    [[nodiscard]] run_queue& queue() const noexcept { return *queue_; }

    /// The same, for handlers of reads: what they are called with are replies.
    [[nodiscard]] executor_type for_replies() const noexcept
    {
        executor_type result = *this;
        result.for_replies_ = true;
        return result;
    }

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
        return with(how);
    }

    executor_type require(asio::execution::blocking_t::never_t how) const noexcept
    {
        return with(how);
    }

    template <class Function>
    void execute(Function&& function) const
    {
        if (!queue_->behind().running_in_this_thread())
            return from_elsewhere(make_queued(std::forward<Function>(function)));
        if (blocking_ == asio::execution::blocking.never)
            return queue_->post(make_queued(std::forward<Function>(function)));
        if (for_replies_)
            return queue_->dispatch_reply(std::forward<Function>(function));
        queue_->dispatch(std::forward<Function>(function));
    }

    /// Calls a completion handler, from a function of the queue: in place, unless the handler has
    /// another executor.
    template <class Handler, class... Arguments>
    void complete(Handler&& handler, const Arguments&... arguments) const
    {
        BOOST_ASSERT(queue_->running());
        // What `dispatch` would do, with half of the moves: the handlers of a connection are large.
        const auto own = asio::get_associated_executor(handler, *this);
        if constexpr (std::is_same_v<decltype(own), const executor_type>)
        {
            if (own == *this)
                return std::forward<Handler>(handler)(arguments...);
        }
        asio::dispatch(*this, asio::append(std::forward<Handler>(handler), arguments...));
    }

    friend bool operator==(const executor_type&, const executor_type&) noexcept = default;

private:
    executor_type with(asio::execution::blocking_t how) const noexcept
    {
        executor_type result = *this;
        result.blocking_ = how;
        return result;
    }

    void from_elsewhere(std::unique_ptr<queued> what) const;

    run_queue* queue_;
    asio::execution::blocking_t blocking_ = asio::execution::blocking.possibly;
    bool for_replies_ = false;
};

inline run_queue::executor_type run_queue::get_executor() noexcept
{
    return executor_type(*this);
}

}  // namespace redlock::detail

#endif
