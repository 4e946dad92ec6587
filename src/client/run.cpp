#include "client/operations.hpp"
#include "core/quorum.hpp"
#include "loop/pause.hpp"

#include <algorithm>

namespace redlock::detail {

namespace {

using namespace std::chrono_literals;

/// When a client ends, what it was asked to do is cancelled. So much time has that to begin to
/// release what it held.
constexpr milliseconds time_to_release = 1ms;

/// How often a client that closes looks whether the nodes have answered its releases.
constexpr milliseconds time_to_answer = 2ms;

bool owes_a_release(const std::shared_ptr<node>& asked)
{
    return asked->owed_releases() > 0;
}

}  // namespace

task<error_code> client_impl::until_running(time_point limit)
{
    pause start(*turn_);
    if (state_ == state::idle && now().steady < limit)
    {
        deadlines_->add(start, limit);
        const error_code ec = co_await start.wait(waiting_.list());
        if (ec)
            co_return ec;
    }
    co_return running() ? error_code() : error::not_running;
}

task<error_code> client_impl::sleep_until(pause& sleep, time_point at)
{
    return sleep_until(sleep, at, waiting_.list());
}

task<error_code> client_impl::sleep_until(pause& sleep, time_point at, suspension::list& among)
{
    // Whoever was about to go on when the client was stopped has not been told.
    if (state_ == state::stopping || state_ == state::stopped)
        co_return asio::error::operation_aborted;
    deadlines_->add(sleep, at);
    const error_code ec = co_await sleep.wait(among);
    sleep.forget();
    co_return ec;
}

task<error_code> client_impl::until_settled()
{
    // A client that was stopped meanwhile wakes nobody any more.
    while (!settled() && state_ != state::stopping && state_ != state::stopped)
    {
        pause change(*turn_);
        const error_code ec = co_await change.wait(settling_.list());
        if (ec)
            co_return ec;
    }
    co_return settled() ? error_code() : error_code(asio::error::operation_aborted);
}

task<error_code> client_impl::until_released(time_point limit)
{
    while (std::ranges::any_of(nodes_, owes_a_release) && now().steady < limit)
    {
        // Nodes answer soon, or are found out to be silent.
        pause later(*turn_);
        const auto at = core::shifted(now(), time_to_answer).steady;
        if (const error_code ec = co_await sleep_until(later, at))
            co_return ec;
    }
    co_return error_code();
}

task<error_code> client_impl::let_others_run()
{
    pause next(*turn_);
    co_return co_await next.wait_for_next_turn(waiting_.list());
}

void client_impl::note_end()
{
    if (state_ == state::closing && settled())
        settling_.wake_all({});
}

task<error_code> client_impl::wait_ready()
{
    while (at_home() && (state_ == state::idle || state_ == state::running))
    {
        if (ready_nodes() >= core::quorum_size(nodes_.size()))
            co_return error_code();

        pause change(*turn_);
        const error_code ec = co_await change.wait(ready_waiting_.list());
        if (ec)
        {
            log_not_ready();
            co_return ec;
        }
    }
    co_return error::not_running;
}

task<error_code> client_impl::run()
{
    if (!at_home())
        co_return error::not_running;
    if (state_ != state::idle)
        co_return state_ == state::stopped ? error::not_running : error::already_running;

    state_ = state::running;
    turn_->begin_with([self = weak_from_this()]() {
        if (const auto client = self.lock())
            client->held_.catch_up();
    });
    running_nodes_ = nodes_.size();
    for (const auto& each : nodes_)
        each->start(weak_from_this());
    waiting_.wake_all({});

    pause stop(*turn_);
    const error_code outcome = co_await stop.wait(run_waiting_.list());
    begin_stop();
    while (held_.size() > 0)  // Some of it is forgotten in each turn.
        co_await stop.wait_for_next_turn(run_waiting_.list());
    co_await let_releases_out();
    co_await stop_nodes();
    state_ = state::stopped;
    for (waiting_list* waiting : {&waiting_, &watching_, &releasing_})
        waiting->wake_all(asio::error::operation_aborted);
    ready_waiting_.wake_all({});
    co_return outcome;
}

void client_impl::on_node_stopped()
{
    if (--running_nodes_ == 0)
        run_waiting_.wake_all({});
}

task<error_code> client_impl::let_releases_out()
{
    const core::instant begun = now();
    pause start(*turn_);
    deadlines_->add(start, core::shifted(begun, time_to_release).steady);
    co_await start.wait(run_waiting_.list());

    const time_point limit = core::shifted(begun, config_.node_timeout).steady;
    while (!releases_.empty() && now().steady < limit)
    {
        pause answered(*turn_);
        deadlines_->add(answered, limit);
        co_await answered.wait(releases_.waiting);
    }
    co_return error_code();
}

task<error_code> client_impl::stop_nodes()
{
    for (const auto& node : nodes_)
        node->stop();
    while (running_nodes_ > 0)
    {
        pause stopped(*turn_);
        co_await stopped.wait(run_waiting_.list());
    }
    deadlines_->stop();
    co_return error_code();
}

task<error_code> run(std::shared_ptr<client_impl> self)
{
    co_return co_await self->run();
}

task<error_code> wait_ready(std::shared_ptr<client_impl> self)
{
    co_return co_await self->wait_ready();
}

}  // namespace redlock::detail
