#include "client/operations.hpp"

#include <boost/asio/this_coro.hpp>

namespace redlock::detail {

asio::awaitable<result<release_outcome>> release(std::shared_ptr<hold> held, bool first)
{
    co_await asio::this_coro::throw_if_cancelled(false);
    co_await asio::this_coro::reset_cancellation_state(asio::enable_partial_cancellation());

    client_impl& client = *held->client();
    if (!first)
        co_return release_outcome::already_gone;
    if (!client.connected())
        co_return error::not_running;

    const auto asked = client.release(held->granted_by());
    if (const error_code ec = co_await client.decided(asked))
        co_return ec;

    const core::release_count& count = asked->releases();
    if (!count.confirmed())
        co_return release_outcome::unconfirmed;
    co_return count.any_deleted() ? release_outcome::released : release_outcome::already_gone;
}

}  // namespace redlock::detail
