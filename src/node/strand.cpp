#include "node/strand.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

namespace redlock::detail {

strand_type make_strand(const asio::any_io_executor& executor)
{
    using loop = asio::io_context::executor_type;
    using pool = asio::thread_pool::executor_type;

    if (executor.target<asio::strand<loop>>() || executor.target<asio::strand<pool>>() ||
        executor.target<asio::strand<asio::any_io_executor>>())
        return executor;
    if (const auto* known = executor.target<loop>())
        return asio::make_strand(*known);
    if (const auto* known = executor.target<pool>())
        return asio::make_strand(*known);
    return asio::make_strand(executor);
}

}  // namespace redlock::detail
