#include <redlock/detail/deliver.hpp>

#include "node/recycling_post.hpp"
#include "node/run_queue.hpp"

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/require.hpp>

#include <utility>

namespace redlock::detail {

void post(const boost::asio::any_io_executor& executor, std::unique_ptr<posted> what)
{
    if (run_queue::follow(executor, what))
        return;
    auto call = [what = std::move(what)]() mutable { what.release()->call(); };
    // Through a type-erased executor it would take two allocations.
    if (const auto* loop = executor.target<boost::asio::io_context::executor_type>())
        recycling_post(*loop).execute(std::move(call));
    else
        asio::require(executor, asio::execution::blocking.never).execute(std::move(call));
}

}  // namespace redlock::detail
