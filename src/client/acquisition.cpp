#include "client/acquisition.hpp"

#include <utility>

namespace redlock::detail {

acquisition::acquisition(
    std::shared_ptr<client_impl> of,
    std::shared_ptr<const demand> asked_for,
    core::instant now
)
    : client(std::move(of)),
      wanted(std::move(asked_for)),
      started(now),
      give_up(core::shifted(now, options().wait).steady),
      in_line(*wanted, *client->loop.end_of_turn),
      queue(client->rounds, client->life, client->events, in_line)
{
}

void acquisition::explain(std::string problem, log_level level) const
{
    client->events.problem(level, "acquire", wanted->resource(), problem);
    if (report())
        report()->problem = std::move(problem);
}

void acquisition::wait_from(core::instant now) noexcept
{
    give_up = core::shifted(now, options().wait).steady;
}

bool acquisition::is_held_here() const
{
    const auto held = client->holds.find(wanted->resource());
    return held && !held->over_at(client->now());
}

void acquisition::tell_waiting()
{
    if (wanted->once() || std::exchange(waits, true))
        return;
    client->events.waiting(in_line);
    if (wanted->by_its_holder && is_held_here())
    {
        const std::string problem =
            "the function that asks already holds it through with_lock, so it waits for itself; "
            "give both the same acquire_options::owner";
        explain(problem, log_level::warning);
    }
}

time_point acquisition::end_of_places() const noexcept
{
    if (!wanted->once())
        return give_up;
    return core::shifted(client->now(), client->config.node_timeout).steady;
}

}  // namespace redlock::detail
