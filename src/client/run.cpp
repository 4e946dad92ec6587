#include "client/client_service.hpp"
#include "client/operations.hpp"
#include "client/pause.hpp"
#include "core/one_line.hpp"
#include "core/quorum.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace redlock::detail {

namespace {

using namespace std::chrono_literals;

/// When a client ends, what it was asked to do is cancelled. So much time has that to begin to
/// release what it held.
constexpr milliseconds time_to_release = 1ms;

}  // namespace

client_impl::client_impl(asio::any_io_executor executor, client_config config, client_parts parts)
    : executor_(std::move(executor)),
      strand_(std::move(parts.strand)),
      config_(std::move(config)),
      turn_(std::move(parts.end_of_turn)),
      time_(std::move(parts.time)),
      deadlines_(std::make_shared<deadlines>(time_)),
      nodes_(std::move(parts.nodes)),
      events_(config_.observer, time_),
      held_(*this, deadlines_),
      service_(client_service::of(executor_))
{
    for (const auto& node : nodes_)
        status_.push_back(node->status());
    service_.add(*this);
}

// On any thread, although the nodes and the questions they keep are the strand's: `run()`, which
// keeps us, ends after the last link has, and a link has answered all its questions by then.
client_impl::~client_impl()
{
    service_.remove(*this);
}

std::vector<node_status> client_impl::nodes() const
{
    std::vector<node_status> result;
    {
        const std::lock_guard lock(status_mutex_);
        result = status_;
    }
    for (std::size_t node = 0; node < nodes_.size(); ++node)
        result[node].round_trip = nodes_[node]->round_trip();
    return result;
}

void client_impl::cancel() noexcept
{
    try
    {
        // As a turn: waking needs no memory then.
        asio::post(strand_, [self = shared_from_this()]() {
            self->turn_->work([&self]() { self->begin_stop(); });
        });
    }
    catch (...)
    {
        // Out of memory. The client lives on, which is what a failed cancel() leaves.
    }
}

void client_impl::begin_stop()
{
    if (state_ == state::idle)
        state_ = state::stopped;
    if (state_ == state::running || state_ == state::closing)
        state_ = state::stopping;
    wake_all(waiting_, asio::error::operation_aborted);
    wake_all(releasing_, asio::error::operation_aborted);
    wake_all(settling_, asio::error::operation_aborted);
    wake_all(ready_waiting_, asio::error::operation_aborted);
    wake_all(run_waiting_, {});
    held_.clear();  // Last, for it may throw.
}

bool client_impl::begin_close()
{
    if (!running())
        return false;
    state_ = state::closing;
    wake_all(waiting_, asio::error::operation_aborted);
    wake_all(ready_waiting_, asio::error::operation_aborted);
    return true;
}

void client_impl::wake_all(suspension::list& waiting, error_code outcome)
{
    for (suspension& each : waiting)
        each.wake(outcome);
}

void client_impl::on_node_change()
{
    for (std::size_t node = 0; node < nodes_.size(); ++node)
    {
        const node_status now = nodes_[node]->status();
        node_status& known = status_[node];  // Written here only.
        if (known.state == now.state && known.because == now.because)
            continue;
        {
            const std::lock_guard lock(status_mutex_);
            known = now;
        }
        events_.node_changed(now);
    }
    wake_all(ready_waiting_, {});
}

std::size_t client_impl::ready_nodes() const
{
    return static_cast<std::size_t>(std::ranges::count_if(
        nodes_, [](const auto& node) { return node->status().state == node_state::ready; }
    ));
}

std::string client_impl::why_not_running() const
{
    if (!at_home())
        return "the client belongs to the parent of this process";
    return state_ == state::idle ? "async_run was not called in time" : "the client has ended";
}

void client_impl::log_problem(
    std::string_view operation,
    std::string_view resource,
    std::string_view problem
) const
{
    if (!config_.log)
        return;
    std::string line(operation);
    line.append(" of '").append(resource).append("': ").append(problem);
    config_.log(log_level::error, core::on_one_line(std::move(line)));
}

/// Who gives up waiting for ready nodes learns no more than that from the error.
void client_impl::log_not_ready() const
{
    if (!config_.log)
        return;
    const std::size_t quorum = core::quorum_size(nodes_.size());
    std::string line = "gave up waiting for ready nodes: " + std::to_string(ready_nodes()) +
                       " of " + std::to_string(quorum) + " needed";
    if (state_ == state::idle)
        line += ", async_run was not called";
    for (const auto& node : nodes_)
    {
        const node_status status = node->status();
        if (status.state == node_state::ready)
            continue;
        line += ", " + status.node + " " + to_string(status.state);
        if (!status.because.empty())
            line += " (" + status.because + ")";
    }
    config_.log(log_level::warning, core::on_one_line(std::move(line)));
}

task<error_code> client_impl::until_running(time_point limit)
{
    pause start(*turn_);
    if (state_ == state::idle && now().steady < limit)
    {
        deadlines_->add(start, limit);
        const error_code ec = co_await start.wait(waiting_);
        if (ec)
            co_return ec;
    }
    co_return running() ? error_code() : error::not_running;
}

task<error_code> client_impl::sleep_until(time_point at)
{
    // Whoever was about to go on when the client was stopped has not been told.
    if (state_ == state::stopping || state_ == state::stopped)
        co_return asio::error::operation_aborted;
    pause sleep(*turn_);
    deadlines_->add(sleep, at);
    const error_code ec = co_await sleep.wait(waiting_);
    co_return ec;
}

task<error_code> client_impl::until_settled()
{
    // A client that was stopped meanwhile wakes nobody any more.
    while (!settled() && state_ != state::stopping && state_ != state::stopped)
    {
        pause change(*turn_);
        const error_code ec = co_await change.wait(settling_);
        if (ec)
            co_return ec;
    }
    co_return settled() ? error_code() : error_code(asio::error::operation_aborted);
}

void client_impl::note_end()
{
    if (state_ == state::closing && settled())
        wake_all(settling_, {});
}

task<error_code> client_impl::wait_ready()
{
    while (at_home() && (state_ == state::idle || state_ == state::running))
    {
        if (ready_nodes() >= core::quorum_size(nodes_.size()))
            co_return error_code();

        pause change(*turn_);
        const error_code ec = co_await change.wait(ready_waiting_);
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

    // Their memory is there before the first node runs, which must not be left running.
    auto releases_out = let_releases_out();
    auto nodes_stopped = stop_nodes();
    state_ = state::running;
    turn_->begin_with([self = weak_from_this()]() {
        if (const auto client = self.lock())
            client->held_.catch_up();
    });
    running_nodes_ = nodes_.size();
    for (const auto& node : nodes_)
    {
        node->start(
            [self = weak_from_this()]() {
                if (const auto client = self.lock())
                    client->on_node_change();
            },
            [self = weak_from_this()]() {
                const auto client = self.lock();
                if (client && --client->running_nodes_ == 0)
                    client->wake_all(client->run_waiting_, {});
            }
        );
    }
    wake_all(waiting_, {});

    pause stop(*turn_);
    const error_code outcome = co_await stop.wait(run_waiting_);
    begin_stop();
    try
    {
        co_await releases_out;
    }
    catch (const std::bad_alloc&)
    {
        // They are cut short.
    }
    co_await nodes_stopped;
    state_ = state::stopped;
    for (suspension::list* waiting : {&waiting_, &releasing_})
        wake_all(*waiting, asio::error::operation_aborted);
    wake_all(ready_waiting_, {});
    co_return outcome;
}

task<error_code> client_impl::let_releases_out()
{
    const core::instant begun = now();
    pause start(*turn_);
    deadlines_->add(start, core::shifted(begun, time_to_release).steady);
    co_await start.wait(run_waiting_);

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
        co_await stopped.wait(run_waiting_);
    }
    time_->cancel();
    co_return error_code();
}

void client_impl::shut_down() noexcept
{
    held_.shut_down();
    for (suspension::list* waiting :
         {&waiting_, &releasing_, &settling_, &ready_waiting_, &run_waiting_, &releases_.waiting})
    {
        while (!waiting->empty())
            waiting->front().drop();
    }
}

void client_impl::disown()
{
    begin_stop();
    for (const auto& node : nodes_)
        node->stop();
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
