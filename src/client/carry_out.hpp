#ifndef REDLOCK_SRC_CLIENT_CARRY_OUT_HPP
#define REDLOCK_SRC_CLIENT_CARRY_OUT_HPP

#include <redlock/error.hpp>
#include <redlock/release_outcome.hpp>

#include "loop/task.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/system/result.hpp>
#include <boost/system/system_error.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace redlock::detail {

namespace asio = boost::asio;

template <class T>
using result = boost::system::result<T>;

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

}  // namespace redlock::detail

#endif
