#ifndef REDLOCK_DETAIL_DELIVER_HPP
#define REDLOCK_DETAIL_DELIVER_HPP

#include <redlock/detail/export.hpp>
#include <redlock/detail/recycling.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/execution/executor.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

// Asio compares executor types by RTTI here, and the library is compiled with it.
#ifndef __cpp_rtti
#error "redlock needs RTTI: compile without -fno-rtti"
#endif

namespace redlock::detail {

/// A function that is called once, or destroyed.
class REDLOCK_EXPORT posted
{
public:
    virtual ~posted() = default;

    static void* operator new(std::size_t size) { return allocate_recycled(size); }
    static void operator delete(void* block, std::size_t size) noexcept
    {
        free_recycled(block, size);
    }

    // For a function whose alignment exceeds the default.
    static void* operator new(std::size_t size, std::align_val_t alignment)
    {
        return ::operator new(size, alignment);
    }
    static void operator delete(void* block, std::align_val_t alignment) noexcept
    {
        ::operator delete(block, alignment);
    }

    /// Frees the memory first, so that the function can reuse it, and calls the function.
    virtual void call() = 0;
};

/// Posts `what` to `executor`.
REDLOCK_EXPORT void post(
    const boost::asio::any_io_executor& executor,
    std::unique_ptr<posted> what
);

/// @tparam Base `posted`, or derived from it.
template <class Function, class Base = posted>
class posted_function final : public Base
{
public:
    explicit posted_function(Function function) : function_(std::move(function)) {}

    void call() override
    {
        Function function = std::move(function_);
        delete this;
        function();
    }

private:
    Function function_;
};

/** Calls a completion handler on its executor, from any thread, and never in place.

    User code may block, but must never block the client's strand. So the call is posted to the
    client's executor first, and from there to the handler's own, unless they are the same. The
    handler's executor counts the operation as outstanding work, so its context doesn't run out of
    work before. The cancellation slot is cleared where the handler runs, because its signal may
    only be used there.
*/
template <class Handler, class Executor>
class delivery
{
public:
    using allocator_type = boost::asio::associated_allocator_t<Handler, recycling_allocator<void>>;
    using cancellation_slot_type = boost::asio::associated_cancellation_slot_t<Handler>;

    delivery(Handler handler, Executor executor, boost::asio::any_io_executor client, bool same)
        : handler_(std::move(handler)),
          executor_(std::move(executor)),
          client_(std::move(client)),
          same_(same)
    {
    }

    allocator_type get_allocator() const noexcept
    {
        return boost::asio::get_associated_allocator(handler_, recycling_allocator<void>());
    }

    cancellation_slot_type get_cancellation_slot() const noexcept
    {
        return boost::asio::get_associated_cancellation_slot(handler_);
    }

    template <class... Args>
    void operator()(Args... args)
    {
        auto call = [handler = std::move(handler_), ... args = std::move(args)]() mutable {
            boost::asio::get_associated_cancellation_slot(handler).clear();
            std::move(handler)(std::move(args)...);
        };
        if (same_)
            return post_to_client(std::move(call));
        post_to_client([executor = std::move(executor_), call = std::move(call)]() mutable {
            executor.execute(std::move(call));
        });
    }

private:
    template <class Function>
    void post_to_client(Function function)
    {
        post(client_, std::make_unique<posted_function<Function>>(std::move(function)));
    }

    Handler handler_;
    Executor executor_;
    boost::asio::any_io_executor client_;
    bool same_;
};

/// Erases the type of a handler. It runs on its associated executor, by default the client's.
template <class Signature, class Handler>
boost::asio::any_completion_handler<Signature> deliver(
    Handler handler,
    const boost::asio::any_io_executor& client
)
{
    namespace asio = boost::asio;

    const auto own = asio::get_associated_executor(handler, client);
    bool same = false;
    if constexpr (std::is_same_v<std::decay_t<decltype(own)>, asio::any_io_executor>)
        same = own == client;
    auto tracked = asio::prefer(own, asio::execution::outstanding_work.tracked);
    return delivery<Handler, decltype(tracked)>(
        std::move(handler), std::move(tracked), client, same
    );
}

}  // namespace redlock::detail

#endif
