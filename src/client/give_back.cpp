#include "client/client_impl.hpp"

#include <utility>

namespace redlock::detail {

namespace {

/// Ends `left` at once, and lets `then` finish that on the strand of its client: in place if this
/// is there, or what the program starts next would overtake it.
template <class Then>
void end_in_background(std::shared_ptr<share> left, Then then) noexcept
{
    client_impl& client = *left->held()->client();
    // In a child process this is a copy, and what it stands for belongs to the parent.
    if (!client.at_home())
        return;
    const auto ended = left->end();
    if (ended == share::end_of::nothing)
        return;
    enter(client.strand(), [left = std::move(left), ended, then]() {
        hold& held = *left->held();
        if (ended == share::end_of::hold)
            then(held);
        else
            client_impl::wake_waiters(held);
    });
}

}  // namespace

void client_impl::release_in_background(std::shared_ptr<share> left) noexcept
{
    end_in_background(std::move(left), [](hold& held) { held.client()->give_back(held); });
}

void client_impl::abandon(std::shared_ptr<share> left) noexcept
{
    end_in_background(std::move(left), [](hold& held) {
        held.granted_by().abandon();
        held.client()->held().remove(held);
    });
}

void client_impl::lose(hold& held, error_code why)
{
    // Whoever keeps the hold may drop it in here.
    const auto kept = held.kept;
    const bool first = held.end(why);
    if (first)
        events_.lost(held);
    // A node that was not reached yet need not hear of it any more.
    held.granted_by().abandon();
    // Keys expire soon after the deadline, unless an extension has reached some nodes.
    if (first && held.extension_tried() && connected() && held.begin_release())
        release(held);
    held_.remove(held);
}

release_round_ptr client_impl::give_back(hold& held)
{
    const auto kept = held_.remove(held);
    if (!connected() || !held.begin_release())
        return nullptr;
    events_.given_back();
    return release(held);
}

void client_impl::wake_waiters(hold& held)
{
    for (suspension& each : held.lost_waiting)
        each.wake({});
}

}  // namespace redlock::detail
