#include "node/strand.hpp"

#include <boost/asio/config.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

namespace redlock::detail {

namespace {

/// Whether the user promised Asio that one thread runs this context: `io_context context{1};`.
bool has_one_thread(asio::io_context& context)
{
    return asio::config(context).get("scheduler", "concurrency_hint", 0) == 1;
}

}  // namespace

strand_type make_strand(const asio::any_io_executor& executor)
{
    using loop = asio::io_context::executor_type;
    using pool = asio::thread_pool::executor_type;

    if (executor.target<asio::strand<loop>>() || executor.target<asio::strand<pool>>() ||
        executor.target<asio::strand<asio::any_io_executor>>())
        return executor;
    if (const auto* known = executor.target<loop>())
        return has_one_thread(known->context()) ? executor : asio::make_strand(*known);
    if (const auto* known = executor.target<pool>())
        return asio::make_strand(*known);
    return asio::make_strand(executor);
}

}  // namespace redlock::detail
