#include "client/client_impl.hpp"

#include "client/client_service.hpp"
#include "core/one_line.hpp"
#include "core/quorum.hpp"

#include <algorithm>
#include <utility>

namespace redlock::detail {

namespace {

/// Between two lines of the log that say the same of many acquisitions.
constexpr std::chrono::seconds time_between_lines{10};

/// For how long rounds may queue up at the nodes: an answer must come in time, and a token must
/// not be too old when its turn comes.
core::nanoseconds patience_of(const client_config& config) noexcept
{
    const milliseconds longest = config.mode == mode::guarded ? config.clock_window : forever;
    return core::to_nanoseconds(std::min(config.node_timeout, longest));
}

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
      acquisitions_(*turn_, patience_of(config_)),
      extensions_(*turn_, patience_of(config_)),
      held_(*this, deadlines_),
      waiting_(*turn_),
      watching_(*turn_),
      releasing_(*turn_),
      ready_waiting_(*turn_),
      run_waiting_(*turn_),
      settling_(*turn_),
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
    enter_later(strand_, [self = shared_from_this()]() {
        self->turn_->work([&self]() { self->begin_stop(); });
    });
}

void client_impl::begin_stop()
{
    if (state_ == state::idle)
        state_ = state::stopped;
    if (state_ == state::running || state_ == state::closing)
        state_ = state::stopping;
    waiting_.wake_all(asio::error::operation_aborted);
    watching_.wake_all(asio::error::operation_aborted);
    releasing_.wake_all(asio::error::operation_aborted);
    settling_.wake_all(asio::error::operation_aborted);
    ready_waiting_.wake_all(asio::error::operation_aborted);
    run_waiting_.wake_all({});
    held_.clear();
}

bool client_impl::begin_close()
{
    if (!running())
        return false;
    state_ = state::closing;
    waiting_.wake_all(asio::error::operation_aborted);
    watching_.wake_all(asio::error::operation_aborted);
    ready_waiting_.wake_all(asio::error::operation_aborted);
    return true;
}

void client_impl::on_node_change()
{
    for (std::size_t node = 0; node < nodes_.size(); ++node)
    {
        const node_status now = nodes_[node]->status();
        node_status& known = status_[node];  // Written here only.
        if (known.state == now.state && known.reason == now.reason &&
            known.because == now.because && known.refuses == now.refuses)
            continue;
        const bool is_ready_again = now.state == node_state::ready && known.state != now.state;
        {
            const std::lock_guard lock(status_mutex_);
            known = now;
        }
        if (is_ready_again)
        {
            ++connections_;
            watching_.wake_all({});
        }
        events_.node_changed(now);
    }
    const bool closed = ready_nodes() < core::quorum_size(nodes_.size());
    acquisitions_.set_closed(closed);
    extensions_.set_closed(closed);
    ready_waiting_.wake_all({});
}

std::size_t client_impl::ready_nodes() const
{
    return static_cast<std::size_t>(std::ranges::count_if(nodes_, [](const auto& node) {
        return node->status().state == node_state::ready;
    }));
}

std::string client_impl::why_not_running() const
{
    if (!at_home())
        return "the client belongs to the parent of this process";
    return state_ == state::idle ? "async_run was not called in time" : "the client has ended";
}

void client_impl::log_problem(
    log_level level,
    std::string_view operation,
    std::string_view resource,
    std::string_view problem
) const
{
    if (!config_.log)
        return;
    std::string line(operation);
    line.append(" of '").append(resource).append("': ").append(problem);
    config_.log(level, core::on_one_line(std::move(line)));
}

void client_impl::log_overload(std::string_view resource, std::string_view problem)
{
    const time_point now = time_->now().steady;
    if (now < next_overload_line_)
        return;
    next_overload_line_ = now + time_between_lines;
    log_problem(log_level::warning, "acquire", resource, problem);
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

void client_impl::shut_down() noexcept
{
    lines_.clear();
    held_.shut_down();
    for (waiting_list* waiting :
         {&waiting_, &watching_, &releasing_, &settling_, &ready_waiting_, &run_waiting_})
        waiting->drop_all();
    while (!releases_.waiting.empty())
        releases_.waiting.front().drop();
}

void client_impl::disown()
{
    begin_stop();
    for (const auto& node : nodes_)
        node->stop();
}

}  // namespace redlock::detail
