#include <redlock/watcher.hpp>

#include "client/inquiry.hpp"
#include "client/observation.hpp"
#include "client/operations.hpp"
#include "client/spawn_op.hpp"
#include "client/validate.hpp"
#include "core/instant.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

/// The holder of a resource, asked for once or watched.
namespace redlock::detail {

namespace {

using namespace std::chrono_literals;

/// From one look of a watcher to the next, no matter how often the key changes.
constexpr milliseconds least_pause = 5ms;

/// How long after its ttl a key gets to be gone when the node is asked.
constexpr milliseconds after_expiry = 1ms;

/// Asks the nodes once.
/// @param tracked Whether they must report when the key changes after that.
task<result<core::joint_view>> look(
    client_impl& client,
    std::shared_ptr<const demand> at,
    bool tracked,
    room taken
)
{
    const auto by = client.rounds.new_attempt(std::move(at), fencing_token());
    if (tracked)
        client.rounds.put_to_all(client.rounds.make<round>({.what = verb::track, .attempt = by}));
    const auto asked = ask_views(client, by, std::move(taken));
    if (const error_code ec = co_await until_told(client, *asked))
        co_return ec;
    asked->abandon();
    std::vector<core::node_view> told;
    asked->for_each_answer([&](const reply& answer) {
        if (answer.vote == vote::granted && answer.held_for)
            told.push_back({answer.text, *answer.held_for, answer.waiting, answer.node_time});
    });
    if (told.empty() && asked->was_too_much())
        co_return error_code(error::overloaded);
    core::joint_view made =
        core::join_views(std::move(told), asked->voters(), client.config.clock_window);
    made.shown.as_of = asked->started().steady;
    co_return made;
}

/// Says what is wrong with a resource. @return Whether anything is.
bool is_invalid(const client_impl& client, std::string_view operation, const demand& about)
{
    const std::string problem = problem_of_resource(client.config, about);
    if (!problem.empty())
        client.events.problem(log_level::error, operation, about.resource(), problem);
    return !problem.empty();
}

/// Sleeps until it is time for another look.
/// @param connections How often nodes had become ready before the last look: those since then don't
/// track the key.
/// @param latest If nothing changes.
task<error_code> until_next_look(
    client_impl& client,
    watching& here,
    std::size_t connections,
    time_point earliest,
    time_point latest
)
{
    for (;;)
    {
        const bool changed = here.changed() || client.nodes.connections() != connections;
        const time_point until = changed ? earliest : std::max(earliest, latest);
        if (client.now().steady >= until)
            co_return error_code();
        suspension::list& among = client.life.for_connections().list();
        if (const error_code ec = co_await client.life.sleep_until(here.sleep(), until, among))
            co_return ec;
    }
}

/// When to look again if nothing changes.
time_point next_look(
    const client_impl& client,
    observation& of,
    const core::joint_view& seen,
    bool doubted
)
{
    const core::instant asked{of.last_look(), {}};
    time_point next = core::shifted(asked, client.config.waiting.poll).steady;
    if (doubted)
        next = std::min(next, of.doubts().end());
    const time_point expires = core::shifted(asked, seen.next_expiry).steady;
    return expires < next ? expires + after_expiry : next;
}

/// Looks until something is new.
task<result<holding>> look_for_news(observation& of)
{
    client_impl& client = *of.client();
    watching here(client.watchers, of.about()->resource(), *client.loop.end_of_turn);
    time_point latest = of.last_look();
    std::size_t connections = 0;
    for (;;)
    {
        const time_point earliest = of.last_look() + least_pause;
        if (const error_code ec =
                co_await until_next_look(client, here, connections, earliest, latest))
            co_return ec;
        auto taken = co_await until_askable(client);
        if (!taken)
            co_return taken.error();
        here.forget_changes();
        connections = client.nodes.connections();
        of.begin_look(client.now().steady);
        auto seen = co_await look(client, of.about(), client.rounds.queues(), std::move(*taken));
        if (!seen)
            co_return seen.error();
        const bool doubted = of.doubts().goes_on(seen->shown, client.now().steady);
        if (!doubted && of.take(*seen))
            co_return seen->shown;
        latest = next_look(client, of, *seen, doubted);
    }
}

task<result<holding>> inspect(
    std::shared_ptr<client_impl> self,
    std::shared_ptr<const demand> about
)
{
    client_impl& client = *self;
    if (is_invalid(client, "inspect", *about))
        co_return error::invalid_argument;
    for (bool again = false;; again = true)
    {
        auto taken = co_await until_askable(client);
        if (!taken)
            co_return taken.error();
        const auto seen = co_await look(client, about, false, std::move(*taken));
        if (!seen)
            co_return seen.error();
        if (again || seen->shown.state != holding_state::undecided)
            co_return seen->shown;
        const auto worth = co_await is_worth_asking_again(client);
        if (!worth)
            co_return worth.error();
        if (!*worth)
            co_return seen->shown;
    }
}

task<result<holding>> watch(std::shared_ptr<observation> self)
{
    const client_impl& client = *self->client();
    const std::string_view resource = self->about()->resource();
    if (is_invalid(client, "watch", *self->about()))
        co_return error::invalid_argument;
    const observation::wait waits(*self);
    if (!waits.alone())
    {
        client.events.problem(
            log_level::error, "watch", resource, "another async_next of this watcher is under way"
        );
        co_return error::invalid_argument;
    }
    co_return co_await look_for_news(*self);
}

}  // namespace

bool observation::take(core::joint_view& seen)
{
    holding& shown = seen.shown;
    // Left over from an earlier holder.
    if (shown.token && shown.token < highest_)
        return false;
    if (told_ && told_->shown.state == shown.state && told_->holder == seen.holder)
    {
        // Nodes that missed an announcement have the previous note, or no mark.
        shown.revoked = shown.revoked || told_->shown.revoked;
        if (seen.stamp < told_->stamp)
        {
            shown.note = told_->shown.note;
            seen.stamp = told_->stamp;
        }
        if (shown.note == told_->shown.note && shown.revoked == told_->shown.revoked)
            return false;
    }
    told_ = seen;
    highest_ = std::max(highest_, shown.token);
    return true;
}

void start_inspect(handler_of<holding> handler, to_client self, demand about)
{
    spawn_op(*self, inspect(self, self->keep_addressed(std::move(about))), std::move(handler));
}

void start_next(handler_of<holding> handler, std::shared_ptr<observation> watched)
{
    const client_impl& client = *watched->client();
    spawn_op(client, watch(watched), std::move(handler));
}

}  // namespace redlock::detail

namespace redlock {

watcher::watcher(std::shared_ptr<detail::observation> watched) noexcept
    : watched_(std::move(watched))
{
}

watcher::~watcher() = default;

std::string_view watcher::resource() const noexcept
{
    return watched_->about()->resource();
}

detail::lease_executor watcher::runs_on() const
{
    return detail::lease_executor(watched_->client()->executor);
}

}  // namespace redlock
