#ifndef REDLOCK_SRC_CLIENT_SPAWN_OP_HPP
#define REDLOCK_SRC_CLIENT_SPAWN_OP_HPP

#include "client/carry_out.hpp"
#include "client/client_impl.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>

#include <memory>
#include <utility>

namespace redlock::detail {

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
