#ifndef REDLOCK_TEST_SIM_CALLS_HPP
#define REDLOCK_TEST_SIM_CALLS_HPP

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace redlock::sim {

namespace asio = boost::asio;

/// An operation that was started. Its owner may wait for it.
struct call_base
{
    const char* what = "";
    std::size_t completions = 0;
    asio::cancellation_signal signal;
    std::size_t steps_left = 0;  ///< Until it is cancelled. Zero: it is not.
    asio::any_completion_handler<void()> waiter;

    [[nodiscard]] bool done() const noexcept { return completions > 0; }
};

template <class... Results>
struct call : call_base
{
    std::tuple<Results...> outcome;
};

/// All operations of a schedule: how often each completed, and when one is to be cancelled.
class call_book
{
public:
    void add(const std::shared_ptr<call_base>& started)
    {
        ++started_;
        calls_.push_back(started);
        if (started->steps_left > 0)
            to_cancel_.push_back(started);
    }

    void note_completion(const call_base& of) { (of.completions == 1 ? completed_ : twice_)++; }

    /// One more event has happened.
    void step()
    {
        std::erase_if(to_cancel_, [](const auto& each) {
            const auto open = each.lock();
            return !open || open->done() || open->steps_left == 0;
        });
        for (std::size_t i = 0; i < to_cancel_.size(); ++i)
        {
            const auto open = to_cancel_[i].lock();
            if (open && --open->steps_left == 0)
                open->signal.emit(asio::cancellation_type::terminal);
        }
    }

    /// The names of those that are pending.
    [[nodiscard]] std::string describe_pending() const
    {
        std::string list;
        for (const auto& each : calls_)
        {
            const auto open = each.lock();
            if (open && !open->done())
                list.append(list.empty() ? "" : ", ").append(open->what);
        }
        return list;
    }

    [[nodiscard]] std::size_t started() const noexcept { return started_; }
    [[nodiscard]] std::size_t pending() const noexcept { return started_ - completed_; }
    [[nodiscard]] std::size_t completed_twice() const noexcept { return twice_; }

private:
    std::vector<std::weak_ptr<call_base>> calls_;
    std::vector<std::weak_ptr<call_base>> to_cancel_;
    std::size_t started_ = 0;
    std::size_t completed_ = 0;
    std::size_t twice_ = 0;
};

template <class Result, class... Results, class Operation>
std::shared_ptr<call<Result, Results...>> launch_as(
    void (*)(Result, Results...),
    call_book& book,
    const asio::any_io_executor& executor,
    const char* what,
    Operation operation,
    std::size_t steps_to_cancel
)
{
    auto started = std::make_shared<call<Result, Results...>>();
    started->what = what;
    started->steps_left = steps_to_cancel;
    book.add(started);
    std::move(operation)(asio::bind_cancellation_slot(
        started->signal.slot(),
        [started, &book, executor](Result first, Results... more) {
            ++started->completions;
            book.note_completion(*started);
            started->outcome = {std::move(first), std::move(more)...};
            if (auto waiter = std::exchange(started->waiter, nullptr))
                asio::post(executor, std::move(waiter));
        }
    ));
    return started;
}

/// Starts a deferred operation, to be cancelled after so many events unless that is zero.
template <class Operation>
auto launch(
    call_book& book,
    const asio::any_io_executor& executor,
    const char* what,
    Operation operation,
    std::size_t steps_to_cancel = 0
)
{
    using signature = asio::completion_signature_of_t<Operation>;
    return launch_as(
        static_cast<signature*>(nullptr),
        book,
        executor,
        what,
        std::move(operation),
        steps_to_cancel
    );
}

/// Waits until an operation has completed, which the caller keeps.
inline asio::awaitable<void> completion(call_base& of)
{
    if (of.done())
        co_return;
    const auto keep_waiter = [&of](auto handler) { of.waiter = std::move(handler); };
    co_await asio::async_initiate<const asio::use_awaitable_t<>&, void()>(
        keep_waiter, asio::use_awaitable
    );
}

}  // namespace redlock::sim

#endif
