#ifndef REDLOCK_SRC_CLIENT_SPAWN_OP_HPP
#define REDLOCK_SRC_CLIENT_SPAWN_OP_HPP

#include <redlock/error.hpp>

#include "client/client_impl.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <new>
#include <utility>

namespace redlock::detail {

/// The code for what a coroutine threw. Operational errors do not travel as exceptions in here: this
/// is memory that ran out, or a random generator without entropy.
[[nodiscard]] inline error_code to_error_code(const std::exception_ptr& failure)
{
    try
    {
        std::rethrow_exception(failure);
    }
    catch (const boost::system::system_error& error)
    {
        return error.code();
    }
    catch (const std::bad_alloc&)
    {
        return make_error_code(boost::system::errc::not_enough_memory);
    }
}

/** Runs `body` on the strand and hands its outcome to `complete`, outside the strand.

    The completion handler of `co_spawn` is bound to an executor for two reasons. It then dispatches
    cancellation to the strand; without one the signal would run on whichever thread emits it and
    race with the body. And that executor posts: user code, which may block, never runs on the
    strand.
*/
template <class Outcome, class Slot, class Complete>
void spawn_on_strand(
    const client_impl& client,
    asio::awaitable<Outcome> body,
    Slot slot,
    Complete complete
)
{
    auto finish = [complete = std::move(complete)](
                      std::exception_ptr failure, Outcome outcome
                  ) mutable {
        if (failure)
            outcome = to_error_code(failure);
        complete(std::move(outcome));
    };
    asio::co_spawn(
        client.strand(),
        std::move(body),
        asio::bind_cancellation_slot(
            slot, asio::bind_executor(client.posting_executor(), std::move(finish))
        )
    );
}

/// An operation that has no result but its error code.
inline void spawn_op(
    const client_impl& client,
    asio::awaitable<error_code> body,
    asio::any_completion_handler<void(error_code)> handler
)
{
    const auto slot = asio::get_associated_cancellation_slot(handler);
    const auto executor = asio::get_associated_executor(handler, client.executor());
    spawn_on_strand(
        client, std::move(body), slot,
        [executor, handler = std::move(handler)](error_code outcome) mutable {
            asio::dispatch(executor, asio::append(std::move(handler), outcome));
        }
    );
}

/// An operation with a result.
template <class T>
void spawn_op(
    const client_impl& client,
    asio::awaitable<result<T>> body,
    asio::any_completion_handler<void(error_code, T)> handler
)
{
    const auto slot = asio::get_associated_cancellation_slot(handler);
    const auto executor = asio::get_associated_executor(handler, client.executor());
    spawn_on_strand(
        client, std::move(body), slot,
        [executor, handler = std::move(handler)](result<T> outcome) mutable {
            const error_code ec = outcome ? error_code() : outcome.error();
            T value = outcome ? std::move(*outcome) : T();
            asio::dispatch(executor, asio::append(std::move(handler), ec, std::move(value)));
        }
    );
}

}  // namespace redlock::detail

#endif
