#ifndef REDLOCK_DETAIL_INITIATE_HPP
#define REDLOCK_DETAIL_INITIATE_HPP

#include <redlock/detail/lease_executor.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <type_traits>
#include <utility>

namespace redlock::detail {

/// The completion handler of an operation, whatever its type was.
template <class... Results>
using handler_of = boost::asio::any_completion_handler<void(boost::system::error_code, Results...)>;

/// What an operation is to the headers: a function of the library.
template <class Signature, class... Args>
using operation_start = void (*)(boost::asio::any_completion_handler<Signature>, Args...);

/// Starts an operation. Has the executor of the client, because tokens such as `cancel_after` take
/// the executor of their timer from here.
template <class Signature, class... Args>
class initiation
{
public:
    using executor_type = boost::asio::any_io_executor;

    initiation(lease_executor by, operation_start<Signature, Args...> start)
        : by_(std::move(by)), start_(start)
    {
    }

    executor_type get_executor() const noexcept { return by_.get_executor(); }

    template <class Handler>
    void operator()(Handler&& handler, Args... args)
    {
        using own = std::decay_t<Handler>;
        auto erased = by_.template deliver<Signature, own>(std::forward<Handler>(handler));
        start_(std::move(erased), std::move(args)...);
    }

private:
    lease_executor by_;
    operation_start<Signature, Args...> start_;
};

/// Starts an operation with a completion token. Reports a wrong token in one sentence, where Asio
/// would take a hundred lines.
template <class Token, class Signature, class... Args>
auto initiate(
    Token&& token,
    lease_executor by,
    operation_start<Signature, Args...> start,
    std::type_identity_t<Args>... args
)
{
    constexpr bool fits = boost::asio::completion_token_for<Token, Signature>;
    static_assert(
        fits,
        "This isn't a completion token for the operation. A callback must take the arguments of "
        "the completion signature, for example (boost::system::error_code, redlock::lease)."
    );
    if constexpr (fits)
    {
        return boost::asio::async_initiate<Token, Signature>(
            initiation<Signature, Args...>(std::move(by), start), token, std::move(args)...
        );
    }
}

}  // namespace redlock::detail

#endif
