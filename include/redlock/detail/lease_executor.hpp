#ifndef REDLOCK_DETAIL_LEASE_EXECUTOR_HPP
#define REDLOCK_DETAIL_LEASE_EXECUTOR_HPP

#include <redlock/detail/deliver.hpp>
#include <redlock/detail/export.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/system_executor.hpp>

#include <memory>
#include <utility>

namespace redlock::detail {

/** Provides a lease's operation with an executor, for its token or its handler.

    A lease has the executor of its client. An empty lease has none, but `cancel_after` needs one
    for its timer. The operation then has a context for it. With a longer-lived context the timer
    could fire after the handler's context is gone.
*/
class REDLOCK_EXPORT lease_executor
{
public:
    /// Lends the executor of a client.
    explicit lease_executor(boost::asio::any_io_executor client) : executor_(std::move(client)) {}

    /// Lends an executor of its own context.
    lease_executor();

    [[nodiscard]] boost::asio::any_io_executor get_executor() const noexcept { return executor_; }

    /// Erases the type of a handler: see `detail::deliver`.
    template <class Signature, class Handler>
    boost::asio::any_completion_handler<Signature> deliver(Handler handler) const
    {
        if (!own_)
            return detail::deliver<Signature>(std::move(handler), executor_);

        namespace asio = boost::asio;
        auto executor = asio::prefer(
            asio::get_associated_executor(handler, asio::system_executor()),
            asio::execution::outstanding_work.tracked
        );
        return [executor, own = own_, handler = std::move(handler)](auto... args) mutable {
            auto call = [own, handler = std::move(handler), ... args = std::move(args)]() mutable {
                std::move(handler)(std::move(args)...);
                run(*own);
            };
            asio::require(executor, asio::execution::blocking.never).execute(std::move(call));
        };
    }

private:
    /// Runs the handler of a cancelled timer that the operation left in the context.
    static void run(boost::asio::execution_context& own);

    std::shared_ptr<boost::asio::execution_context> own_;
    boost::asio::any_io_executor executor_;
};

}  // namespace redlock::detail

#endif
