#ifndef REDLOCK_SRC_LOOP_STRAND_HPP
#define REDLOCK_SRC_LOOP_STRAND_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <memory>
#include <utility>

namespace redlock::detail {

namespace asio = boost::asio;

/** An executor that runs one function at a time. Everything that belongs to one client runs there.

    No exception leaves it. Only `bad_alloc` can be thrown there, and it ends the program with a
    message, because everything that runs there is `noexcept`.
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

/// Makes a connected slot run `cancel` on the strand, from any thread.
/// @param strand Weak, because a signal may outlive a client and even its execution context, and
/// with that the strand.
template <class Function>
void connect(asio::cancellation_slot slot, std::weak_ptr<const strand_type> strand, Function cancel)
{
    slot.assign([strand = std::move(strand), cancel = std::move(cancel)](auto type) {
        using asio::cancellation_type;
        const auto wanted = cancellation_type::terminal | cancellation_type::partial;
        const auto alive = strand.lock();
        if (alive && (type & wanted) != cancellation_type::none)
            enter(*alive, cancel);
    });
}

}  // namespace redlock::detail

#endif
