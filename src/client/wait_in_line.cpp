#include "client/acquisition.hpp"

#include <boost/asio/error.hpp>

#include <utility>

/// Of a client's acquisitions of one resource, only the first asks the nodes.
namespace redlock::detail {

namespace {

/// What the owner that acquires holds already, or null.
std::shared_ptr<hold> own_hold(const acquisition& acquiring)
{
    const owner who = acquiring.options().owner;
    if (who == owner::none)
        return nullptr;
    auto held = acquiring.client->holds.find(acquiring.wanted->resource());
    return held && held->wanted().options.owner == who ? held : nullptr;
}

/// How long an acquisition stands in line.
time_point end_of_line(const acquisition& acquiring, core::instant since)
{
    if (!acquiring.wanted->once())
        return acquiring.give_up;
    // A try waits only for a round of its own owner, which may be granted for both.
    if (!acquiring.in_line.follows_its_owner())
        return since.steady;
    return core::shifted(since, acquiring.client->config.node_timeout).steady;
}

/// Reports where in the line it stood, now that it no longer waits.
void report_place(const acquisition& acquiring)
{
    if (!acquiring.report())
        return;
    const waiting_place at = acquiring.in_line.place();
    acquiring.report()->position = at.position;
    acquiring.report()->waiters = at.length;
}

}  // namespace

task<error_code> wait_in_line(acquisition& acquiring)
{
    client_impl& client = *acquiring.client;
    const core::instant since = client.now();
    for (;;)
    {
        acquiring.in_line.pass_on();
        if (auto held = own_hold(acquiring))
        {
            const error_code ec = co_await join(acquiring, std::move(held));
            if (ec != error::lease_lost)
                co_return ec;
        }
        if (acquiring.in_line.may_ask())
            co_return error_code();
        if (!client.life.running())
            co_return boost::asio::error::operation_aborted;
        const time_point end = end_of_line(acquiring, since);
        if (client.now().steady >= end)
        {
            report_place(acquiring);
            co_return error::contended;
        }
        acquiring.tell_waiting();
        pause& sleep = acquiring.in_line.sleep();
        if (const error_code interrupted = co_await client.life.sleep_until(sleep, end))
            co_return interrupted;
    }
}

}  // namespace redlock::detail
