#include "client/hold.hpp"

#include "client/client_impl.hpp"
#include "loop/recycling.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace redlock::detail {

namespace {

/// Ends `leaving` at once and lets `then` finish on the strand of its client: in place if already
/// there, or what the program starts next would overtake it.
template <class Then>
void end_in_background(std::shared_ptr<share> leaving, Then then) noexcept
{
    client_impl& client = *leaving->held()->client();
    // In a child process this is a copy, and what it represents belongs to the parent.
    if (!client.life.at_home())
        return;
    const auto ended = leaving->end();
    if (ended == core::lease_end::nothing)
        return;
    enter(client.loop.strand, [leaving = std::move(leaving), ended, then]() {
        hold& held = *leaving->held();
        if (ended == core::lease_end::hold)
            return then(held);
        held.stays_in_grace = held.stays_in_grace || leaving->is_in_grace();
        held.on_lease_end();
    });
}

}  // namespace

error_code to_error(core::hold_end how) noexcept
{
    switch (how)
    {
    case core::hold_end::lost: return error::lease_lost;
    case core::hold_end::at_limit: return error::hold_limit_reached;
    case core::hold_end::none:
    case core::hold_end::given_back: break;
    }
    return {};
}

hold::hold(
    std::shared_ptr<client_impl> client,
    const round& granted_by,
    core::queue_place queued,
    core::instant valid_until
)
    : client_(std::move(client)),
      granted_by_(std::static_pointer_cast<round>(granted_by.shared())),
      queued_(queued),
      limit_(core::shifted(granted_by.started(), wanted().options.hold_max)),
      state_(valid_until)
{
    longest_ttl = wanted().options.ttl + grace();
    if (wanted().options.auto_extend)
        extended_by = wanted().options.ttl;
}

void hold::on_admitted(place taken)
{
    client_->holds.start_extension(kept, std::move(taken));
}

void hold::interrupt()
{
    for (suspension::list* waiting : {&lost_waiting, &extending_waits})
    {
        for (suspension& each : *waiting)
            each.wake(asio::error::operation_aborted);
    }
}

void hold::on_lease_end()
{
    for (suspension& each : lost_waiting)
        each.wake({});
}

bool hold::beyond_limit(core::instant until) const noexcept
{
    return until.steady > limit_.steady || until.boot > limit_.boot;
}

void hold::announce(const note& text, std::uint64_t now)
{
    const std::uint64_t last = announced ? announced->stamp : fence().value();
    announced = std::make_shared<announcement>(announcement{text, std::max(now, last + 1)});
}

void hold::begin_extension(milliseconds ttl) noexcept
{
    longest_ttl = std::max(longest_ttl, ttl + grace());
    extension_tried = true;
}

std::shared_ptr<share> share::join(std::shared_ptr<hold> held, milliseconds ttl, core::instant now)
{
    hold& joined = *held;
    auto made = make_recycled<share>(std::move(held), ttl);
    return joined.state()->join(now) ? made : nullptr;
}

lease share::make_lease(std::shared_ptr<share> of) noexcept
{
    return lease(std::move(of));
}

core::lease_end share::end() noexcept
{
    const auto state = hold_->state();
    const bool stays = hold_->grace() > milliseconds(0) || state->at_least() > milliseconds(0);
    std::optional<core::instant> now;
    if (part_.attending > 0 || stays)
        now = hold_->client()->now();
    return state->leave(part_, now);
}

void share::release_in_background(std::shared_ptr<share> leaving) noexcept
{
    end_in_background(std::move(leaving), [](hold& held) {
        if (held.grace() > milliseconds(0) && !held.state()->was_given_back())
            held.client()->holds.remove(held);
        else
            held.client()->holds.give_back(held);
    });
}

void share::abandon(std::shared_ptr<share> leaving) noexcept
{
    end_in_background(std::move(leaving), [](hold& held) {
        held.granted_by().abandon();
        held.client()->holds.remove(held);
    });
}

}  // namespace redlock::detail
