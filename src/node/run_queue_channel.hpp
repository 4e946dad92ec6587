#ifndef REDLOCK_SRC_NODE_RUN_QUEUE_CHANNEL_HPP
#define REDLOCK_SRC_NODE_RUN_QUEUE_CHANNEL_HPP

#include "node/run_queue.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/experimental/channel_error.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

namespace redlock::detail {

/// What Boost.Redis sends through its channels.
using channel_signature = void(boost::system::error_code, std::size_t);

}  // namespace redlock::detail

/** What the channels of a connection are if it runs in a run queue.

    Boost.Redis makes one for each request, to learn that its answers are there. Nearly always that
    is one message for one receiver who waits for it, and Asio's channel makes a buffer for messages
    that nobody waits for. So that template is specialized too, as the timers' is.
*/
namespace boost::asio::experimental {

/** A channel that hands a message to the receiver who waits for it, by way of the run queue, and
    has one of Asio's for everything else as soon as that is needed.

    Has the members that Boost.Redis uses. It has one receiver at a time there, so a cancellation
    slot ends whoever waits.
*/
template <class Traits>
class basic_channel<
    redlock::detail::run_queue::executor_type,
    Traits,
    redlock::detail::channel_signature>
{
public:
    using executor_type = redlock::detail::run_queue::executor_type;
    using traits_type = Traits;
    using signature = redlock::detail::channel_signature;
    using buffering_channel = basic_channel<redlock::detail::run_queue::loop, Traits, signature>;

    explicit basic_channel(const executor_type& executor, std::size_t max_buffer_size = 0)
        : executor_(executor), max_buffer_size_(max_buffer_size), waiting_(executor.queue())
    {
    }

    ~basic_channel() { cancel(); }

    basic_channel(const basic_channel&) = delete;
    basic_channel& operator=(const basic_channel&) = delete;

    [[nodiscard]] executor_type get_executor() const noexcept { return executor_; }

    /// Ends what is sent and what is received with `channel_cancelled`.
    void cancel()
    {
        if (buffering_)
            buffering_->cancel();
        hand_over(error::channel_cancelled, 0);  // May destroy this, see there.
    }

    /// @return Whether a receiver waits for it or there is room for it.
    bool try_send(const system::error_code& code, std::size_t size)
    {
        return hand_over(code, size) || buffering().try_send(code, size);
    }

    /// For Boost.Redis, which sends one of these: to convert a success costs a `dynamic_cast`.
    bool try_send(const std::error_code& code, std::size_t size)
    {
        return try_send(code ? system::error_code(code) : system::error_code(), size);
    }

    template <class Token>
    auto async_send(const system::error_code& code, std::size_t size, Token&& token)
    {
        return async_initiate<Token, void(system::error_code)>(sending{*this}, token, code, size);
    }

    /// @return Whether there is a message. Calls the handler with it, in place.
    template <class Handler>
    bool try_receive(Handler&& handler)
    {
        return buffering_ && buffering_->try_receive(std::forward<Handler>(handler));
    }

    template <class Token>
    auto async_receive(Token&& token)
    {
        return async_initiate<Token, signature>(receiving{*this}, token);
    }

private:
    struct message
    {
        system::error_code code;
        std::size_t size = 0;
    };

    /// Who waits, and what it is told.
    struct receiver : redlock::detail::queued
    {
        message told;
    };

    template <class Handler>
    class receiving_handler final : public receiver
    {
    public:
        receiving_handler(const executor_type& executor, Handler handler)
            : executor_(executor), handler_(std::move(handler))
        {
        }

        void call() override
        {
            const executor_type executor = executor_;
            const auto [code, size] = this->told;
            Handler handler = std::move(handler_);
            delete this;
            executor.complete(std::move(handler), code, size);
        }

    private:
        executor_type executor_;
        Handler handler_;
    };

    struct sending
    {
        using executor_type = redlock::detail::run_queue::executor_type;

        executor_type get_executor() const noexcept { return to.executor_; }

        template <class Handler>
        void operator()(Handler&& handler, const system::error_code& code, std::size_t size) const
        {
            const auto executor = to.executor_;
            if (to.hand_over(code, size))
                post(executor, append(std::forward<Handler>(handler), system::error_code()));
            else
                to.buffering().async_send(code, size, std::forward<Handler>(handler));
        }

        basic_channel& to;
    };

    struct receiving
    {
        using executor_type = redlock::detail::run_queue::executor_type;

        executor_type get_executor() const noexcept { return from.executor_; }

        template <class Handler>
        void operator()(Handler&& handler) const
        {
            // Behind whoever receives there, and after the messages there.
            if (from.buffering_ || !from.waiting_.empty())
                from.buffering().async_receive(std::forward<Handler>(handler));
            else
                from.wait(std::forward<Handler>(handler));
        }

        basic_channel& from;
    };

    template <class Handler>
    void wait(Handler handler)
    {
        auto slot = get_associated_cancellation_slot(handler);
        if (slot.is_connected())
            slot.assign([this](cancellation_type) { hand_over(error::channel_cancelled, 0); });
        auto added = std::make_unique<receiving_handler<Handler>>(executor_, std::move(handler));
        receiver_ = added.get();
        waiting_.add(std::move(added));
    }

    /// While the context shuts down this destroys the receiver, who may own the channel.
    /// @return Whether somebody waited.
    bool hand_over(const system::error_code& code, std::size_t size) noexcept
    {
        if (waiting_.empty())
            return false;
        receiver_->told = {code, size};
        waiting_.wake();
        return true;
    }

    buffering_channel& buffering()
    {
        if (!buffering_)
            buffering_.emplace(executor_.queue().behind(), max_buffer_size_);
        return *buffering_;
    }

    executor_type executor_;
    std::size_t max_buffer_size_;
    redlock::detail::sleepers waiting_;
    receiver* receiver_ = nullptr;  ///< The one in there, if it is not empty.
    std::optional<buffering_channel> buffering_;
};

}  // namespace boost::asio::experimental

#endif
