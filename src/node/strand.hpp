#ifndef REDLOCK_SRC_NODE_STRAND_HPP
#define REDLOCK_SRC_NODE_STRAND_HPP

#include <boost/asio/any_io_executor.hpp>

namespace redlock::detail {

namespace asio = boost::asio;

/// An executor that runs one function at a time. Everything that belongs to one client runs there.
using strand_type = asio::any_io_executor;

/** Makes a strand over `executor`.

    A strand over a type-erased executor, erased again, allocates and locks at every step of every
    read and write. So the usual executors are recognized, and a strand is used as it is.
*/
[[nodiscard]] strand_type make_strand(const asio::any_io_executor& executor);

}  // namespace redlock::detail

#endif
