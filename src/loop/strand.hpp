#ifndef REDLOCK_SRC_LOOP_STRAND_HPP
#define REDLOCK_SRC_LOOP_STRAND_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/strand.hpp>

namespace redlock::detail {

namespace asio = boost::asio;

/// An executor that runs one function at a time. Everything that belongs to one client runs there.
using strand_type = asio::strand<asio::any_io_executor>;

}  // namespace redlock::detail

#endif
