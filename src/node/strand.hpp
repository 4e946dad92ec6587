#ifndef REDLOCK_SRC_NODE_STRAND_HPP
#define REDLOCK_SRC_NODE_STRAND_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/strand.hpp>

namespace redlock::detail {

namespace asio = boost::asio;

/// Everything that belongs to one client runs here, one handler at a time.
using strand_type = asio::strand<asio::any_io_executor>;

}  // namespace redlock::detail

#endif
