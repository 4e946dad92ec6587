#include "client/operations.hpp"

namespace redlock::detail {

task<result<release_outcome>> release(std::shared_ptr<hold> held, bool first)
{
    client_impl& client = *held->client();
    if (!first)
        co_return release_outcome::already_gone;
    if (!client.connected())
        co_return error::not_running;

    const auto asked = client.release(held->granted_by(), held->longest_ttl());
    if (const error_code ec = co_await client.decided(*asked))
        co_return ec;

    const core::release_count& count = asked->releases();
    if (!count.confirmed())
        co_return release_outcome::unconfirmed;
    co_return count.any_deleted() ? release_outcome::released : release_outcome::already_gone;
}

}  // namespace redlock::detail
