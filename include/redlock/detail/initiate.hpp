#ifndef REDLOCK_DETAIL_INITIATE_HPP
#define REDLOCK_DETAIL_INITIATE_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>

#include <utility>

namespace redlock::detail {

/// Starts an operation. Has the executor of the client, because tokens such as `cancel_after` take
/// the executor of their timer from here.
template <class Start>
class initiation
{
public:
    using executor_type = boost::asio::any_io_executor;

    initiation(executor_type executor, Start start)
        : executor_(std::move(executor)), start_(std::move(start))
    {
    }

    executor_type get_executor() const noexcept { return executor_; }

    template <class Handler, class... Args>
    void operator()(Handler&& handler, Args&&... args)
    {
        start_(std::forward<Handler>(handler), std::forward<Args>(args)...);
    }

private:
    executor_type executor_;
    Start start_;
};

/// Starts an operation with a completion token. Reports a wrong token in one sentence, where Asio
/// would take a hundred lines.
template <class Signature, class Token, class Start, class... Args>
auto initiate(
    Token&& token,
    const boost::asio::any_io_executor& executor,
    Start start,
    Args&&... args
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
            initiation(executor, std::move(start)), token, std::forward<Args>(args)...
        );
    }
}

}  // namespace redlock::detail

#endif
