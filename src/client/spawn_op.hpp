#ifndef REDLOCK_SRC_CLIENT_SPAWN_OP_HPP
#define REDLOCK_SRC_CLIENT_SPAWN_OP_HPP

#include <redlock/error.hpp>
#include <redlock/lease.hpp>

#include "client/client_impl.hpp"
#include "loop/task.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/system/system_error.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace redlock::detail {

/// Calls a completion handler with an outcome.
inline void complete(asio::any_completion_handler<void(error_code)> handler, error_code outcome)
{
    std::move(handler)(outcome);
}

/// What a handler gets along with an error.
template <class T>
[[nodiscard]] T beside_error()
{
    return T();
}

template <>
[[nodiscard]] inline release_outcome beside_error()
{
    return release_outcome::unconfirmed;
}

template <class T>
void complete(asio::any_completion_handler<void(error_code, T)> handler, result<T> outcome)
{
    if (outcome)
        std::move(handler)(error_code(), std::move(*outcome));
    else
        std::move(handler)(outcome.error(), beside_error<T>());
}

/// The outermost coroutine of every operation.
template <class Outcome, class Handler>
operation carry_out(task<Outcome> body, Handler handler, std::shared_ptr<canceller> cancelled_by)
{
    co_await use_canceller{cancelled_by.get()};
    std::optional<Outcome> outcome;
    try
    {
        outcome.emplace(co_await body);
    }
    catch (const boost::system::system_error& no_entropy)
    {
        outcome.emplace(no_entropy.code());
    }
    complete(std::move(handler), std::move(*outcome));
}

/// Runs `body` on the client's strand and completes `handler` with its outcome.
template <class Outcome, class Handler>
void spawn_op(const client_impl& client, task<Outcome> body, Handler handler)
{
    const strand_type& strand = client.loop.strand;
    std::shared_ptr<canceller> cancelled_by;
    if (const auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
    {
        cancelled_by = std::make_shared<canceller>();
        const std::shared_ptr<const strand_type> alive(client.shared_from_this(), &strand);
        connect(slot, alive, [cancelled_by]() { cancelled_by->cancel(); });
    }
    auto work = carry_out(std::move(body), std::move(handler), std::move(cancelled_by));
    enter(strand, [work = std::move(work)]() mutable { work.start(); });
}

}  // namespace redlock::detail

#endif
