#ifndef REDLOCK_SRC_LOOP_STRAND_HPP
#define REDLOCK_SRC_LOOP_STRAND_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <utility>

namespace redlock::detail {

namespace asio = boost::asio;

/** An executor that runs one function at a time. Everything that belongs to one client runs there.

    No exception leaves it. What is thrown there can only be that memory is short, and it ends the
    program with a message: what runs there is `noexcept`.
*/
using strand_type = asio::strand<asio::any_io_executor>;

/// Runs a function on the strand, in place if possible.
template <class Function>
void enter(const strand_type& strand, Function function)
{
    asio::dispatch(strand, [function = std::move(function)]() mutable noexcept { function(); });
}

/// Runs a function on the strand, and never in place.
template <class Function>
void enter_later(const strand_type& strand, Function function)
{
    asio::post(strand, [function = std::move(function)]() mutable noexcept { function(); });
}

}  // namespace redlock::detail

#endif
