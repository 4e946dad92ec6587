#ifndef REDLOCK_SRC_NODE_RECYCLING_POST_HPP
#define REDLOCK_SRC_NODE_RECYCLING_POST_HPP

#include <redlock/detail/recycling.hpp>

#include <boost/asio/execution/allocator.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/require.hpp>

namespace redlock::detail {

/// An executor that posts to a loop, in recycled memory: hundreds of functions that one turn posts
/// are more than Asio and malloc keep at hand.
inline auto recycling_post(const boost::asio::io_context::executor_type& loop)
{
    return boost::asio::require(
        loop,
        boost::asio::execution::blocking.never,
        boost::asio::execution::allocator(recycling_allocator<void>())
    );
}

}  // namespace redlock::detail

#endif
