#include <redlock/detail/deliver.hpp>
#include <redlock/detail/recycling.hpp>

#include <boost/asio/execution/allocator.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/require.hpp>

#include <utility>

namespace redlock::detail {

namespace asio = boost::asio;

void post(const asio::any_io_executor& executor, std::unique_ptr<posted> what)
{
    auto call = [what = std::move(what)]() mutable { what.release()->call(); };
    // A type-erased executor would take two allocations.
    if (const auto* loop = executor.target<asio::io_context::executor_type>())
        asio::require(
            *loop,
            asio::execution::blocking.never,
            asio::execution::allocator(recycling_allocator<void>())
        )
            .execute(std::move(call));
    else
        asio::require(executor, asio::execution::blocking.never).execute(std::move(call));
}

}  // namespace redlock::detail
