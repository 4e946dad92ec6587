#include "client/hold.hpp"

#include "loop/recycling.hpp"

#include <algorithm>
#include <utility>

namespace redlock::detail {

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
    const core::lifetime& lives
)
    : client_(std::move(client)),
      granted_by_(std::static_pointer_cast<round>(granted_by.shared())),
      queued_(queued),
      lives_(lives),
      limit_(core::shifted(granted_by.started(), wanted().options.hold_max)),
      state_(lives.end(granted_by.started()), lives.grace)
{
    name = wanted().name();
    longest_ttl = lives.of_keys();
    if (wanted().options.auto_extend)
        extended_by = wanted().options.ttl;
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
    longest_ttl = std::max(longest_ttl, lives(ttl).of_keys());
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

}  // namespace redlock::detail
