#include "client/operations.hpp"
#include "client/spawn_op.hpp"

#include <optional>
#include <utility>

namespace redlock::detail {

namespace {

/// Extends the hold of one lease. Fails if that lease ends first.
task<error_code> extend_lease(std::shared_ptr<share> asked_by, milliseconds ttl)
{
    const error_code outcome = co_await asked_by->held()->kept_by->extend(asked_by->held(), ttl);
    // What others share may last without it.
    co_return !outcome && asked_by->ended() ? error_code(error::lease_lost) : outcome;
}

task<error_code> announce(std::shared_ptr<share> asked_by, note text)
{
    client_impl& client = *asked_by->held()->client();
    if (client.config.mode == mode::plain)
    {
        client.events.problem(
            log_level::error,
            "announce",
            asked_by->held()->resource(),
            "note needs guarded mode, but the client is in plain mode"
        );
        co_return error::invalid_argument;
    }
    asked_by->held()->announce(text, client.rounds.times().now());
    const milliseconds ttl = asked_by->ttl();
    co_return co_await extend_lease(std::move(asked_by), ttl);
}

/// Starts `body` for a lease that isn't over.
template <class Body>
void start_with(to_share asked_by, handler_of<> handler, Body body)
{
    if (!asked_by)
        return std::move(handler)(error::invalid_argument);
    if (asked_by->ended())
        return std::move(handler)(error::lease_lost);
    const auto client = asked_by->held()->client();
    spawn_op(*client, body(std::move(asked_by)), std::move(handler));
}

}  // namespace

void start_extend(handler_of<> handler, to_share asked_by, std::optional<milliseconds> ttl)
{
    start_with(std::move(asked_by), std::move(handler), [ttl](to_share of) {
        const milliseconds wanted = ttl.value_or(of->ttl());
        return extend_lease(std::move(of), wanted);
    });
}

void start_announce(handler_of<> handler, to_share asked_by, note text)
{
    start_with(std::move(asked_by), std::move(handler), [&text](to_share of) {
        return announce(std::move(of), std::move(text));
    });
}

}  // namespace redlock::detail
