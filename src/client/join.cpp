#include "client/acquisition.hpp"
#include "client/operations.hpp"
#include "client/validate.hpp"
#include "core/validity.hpp"

#include <string>
#include <utility>

/// An owner that already holds the resource gets another share in the hold.
namespace redlock::detail {

namespace {

std::string too_low_a_token(const hold& held, fencing_token wanted)
{
    return "fence_at_least is " + to_string(wanted) +
           ", must be below the token of the owner's hold, which is " + to_string(held.fence());
}

}  // namespace

task<error_code> join(acquisition& acquiring, std::shared_ptr<hold> held)
{
    client_impl& client = *acquiring.client;
    const acquire_options& options = acquiring.options();
    if (client.config.mode == mode::guarded && held->fence() <= options.fence_at_least)
    {
        acquiring.explain(too_low_a_token(*held, options.fence_at_least));
        co_return error::invalid_argument;
    }

    const auto problem = problem_of_ttl(client.config, options.ttl, held->grace());
    if (!problem.empty())
    {
        acquiring.explain(problem);
        co_return error::invalid_argument;
    }
    acquiring.corrected = false;  // That was about another round.
    const core::instant now = client.now();
    const auto joined = share::join(held, options.ttl, now);
    if (!joined)
        co_return error::lease_lost;

    // From here on the lease leaves again if it isn't handed out.
    lease mine = share::make_lease(joined);
    const auto wanted =
        core::valid_until(now, options.ttl, client.config.clock_drift, held->grace());
    if (core::remaining(now, held->valid_until()) < core::remaining(now, wanted))
    {
        const time_point limit = acquiring.end_of_places();
        if (const error_code ec = co_await client.holds.extend(held, options.ttl, {}, limit))
            co_return ec == error::revoked ? error_code(error::lease_lost) : ec;
    }
    if (options.auto_extend)
        client.holds.extend_by(*held, options.ttl);
    acquiring.granted = std::move(mine);
    acquiring.granted_at = client.now();
    co_return error_code();
}

}  // namespace redlock::detail
