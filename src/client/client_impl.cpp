#include "client/client_impl.hpp"

#include "core/limits.hpp"
#include "loop/recycling.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace redlock::detail {

/** Notifies the clients of an execution context that the context is ending or was forked.

    A coroutine that waits in a client is owned by the client, and owns the client. When the context
    is destroyed first, something must break this cycle: Asio destroys what waits in its own
    services, and this service does the same for ours.
*/
class client_service : public asio::execution_context::service
{
public:
    using key_type = client_service;
    static asio::execution_context::id id;

    explicit client_service(asio::execution_context& context) : service(context) {}

    /// The service of the context behind `executor`.
    [[nodiscard]] static client_service& of(const asio::any_io_executor& executor);

    void add(client_impl& client);
    void remove(client_impl& client) noexcept;

private:
    void shutdown() override;
    void notify_fork(asio::execution_context::fork_event event) override;

    /// Those that aren't being destroyed.
    [[nodiscard]] std::vector<std::shared_ptr<client_impl>> alive();

    std::mutex mutex_;
    std::vector<client_impl*> clients_;
};

asio::execution_context::id client_service::id;

client_service& client_service::of(const asio::any_io_executor& executor)
{
    return asio::use_service<client_service>(asio::query(executor, asio::execution::context));
}

void client_service::add(client_impl& client)
{
    const std::lock_guard lock(mutex_);
    clients_.push_back(&client);
}

void client_service::remove(client_impl& client) noexcept
{
    const std::lock_guard lock(mutex_);
    std::erase(clients_, &client);
}

void client_service::shutdown()
{
    for (const auto& client : alive())
        client->shut_down();
}

void client_service::notify_fork(asio::execution_context::fork_event event)
{
    if (event != asio::execution_context::fork_child)
        return;
    for (const auto& client : alive())
        client->disown();
}

std::vector<std::shared_ptr<client_impl>> client_service::alive()
{
    // The calls below may destroy a client, which then removes itself here. So each is kept alive
    // while it's worked on, and no lock is held.
    std::vector<std::shared_ptr<client_impl>> result;
    const std::lock_guard lock(mutex_);
    for (client_impl* client : clients_)
    {
        if (auto kept = client->weak_from_this().lock())
            result.push_back(std::move(kept));
    }
    return result;
}

namespace {

/// How long rounds may queue up at the nodes: an answer must come in time, and a token must not be
/// too old when its turn comes.
core::nanoseconds patience_of(const client_config& config) noexcept
{
    const milliseconds longest = config.mode == mode::guarded ? config.clock_window : forever;
    return core::to_nanoseconds(std::min(config.node_timeout, longest));
}

}  // namespace

client_impl::client_impl(
    asio::any_io_executor runs_on,
    client_config how,
    ground on,
    node_list asked
)
    : executor(std::move(runs_on)),
      config(std::move(how)),
      loop(std::move(on)),
      nodes(std::move(asked)),
      life(loop),
      events(config, loop),
      acquisitions(*loop.end_of_turn, patience_of(config)),
      extensions(*loop.end_of_turn, patience_of(config)),
      inquiries(*loop.end_of_turn, patience_of(config)),
      rounds(config, loop, nodes),
      holds(loop, life, rounds, extensions, lines, watchers, events),
      service_(client_service::of(executor))
{
    service_.add(*this);
}

// Any thread, although the nodes and the questions they keep belong to the strand: `run()`, which
// keeps us, ends after the last link, and a link has answered all its questions by then.
client_impl::~client_impl()
{
    service_.remove(*this);
}

metrics client_impl::read_metrics() const noexcept
{
    metrics result = events.read();
    result.waiting = lines.size();
    for (const window* each : {&acquisitions, &extensions, &inquiries})
    {
        result.rounds_under_way += each->under_way();
        result.waiting_for_place += each->waiting();
    }
    result.window = acquisitions.capacity();
    return result;
}

void client_impl::cancel() noexcept
{
    enter_later(loop.strand, [self = shared_from_this()]() {
        self->loop.end_of_turn->work([&self]() { self->stop(); });
    });
}

void client_impl::stop()
{
    life.begin_stop();
    holds.clear();
}

std::shared_ptr<const demand> client_impl::keep_addressed(demand about) const
{
    about.put_in_front(config.key_prefix);
    return make_recycled<demand>(std::move(about));
}

void client_impl::on_node_change()
{
    const roster::changes changed = nodes.take_changes();
    if (changed.ready.any())
        life.for_connections().wake_all({});
    for (const node_status& each : changed.all)
        events.node_changed(each);
    const bool closed = !nodes.has_quorum();
    acquisitions.set_closed(closed);
    extensions.set_closed(closed);
    inquiries.set_closed(closed);
    if (changed.ready.any())
        holds.on_return(changed.ready);
    life.for_nodes().wake_all({});
}

void client_impl::on_node_stopped()
{
    if (nodes.on_stopped())
        life.for_run().wake_all({});
}

/// Empty if it isn't a key of this client.
std::string_view client_impl::resource_of(std::string_view key) const noexcept
{
    if (!key.starts_with(config.key_prefix))
        return {};
    const std::string_view resource = key.substr(config.key_prefix.size());
    return resource.size() <= core::max_resource_size ? resource : std::string_view();
}

void client_impl::on_news(std::size_t node, const news& told)
{
    const std::string_view resource = resource_of(told.key);
    if (resource.empty())
        return;
    waiter* const head = lines.head_of(resource);
    switch (told.what)
    {
    case news::kind::free:
        if (head)
            head->on_wake(node, nodes.voters().quorum());
        else if (rounds.queues())
            leave_queue(node, resource);
        break;
    case news::kind::changed:
        if (head)
            head->on_wake(node, nodes.voters().quorum());
        watchers.on_change(resource);
        break;
    case news::kind::next:
        if (head)
            await_turn(node, *head, told.number);
        break;
    case news::kind::revoked: holds.revoke(resource, fencing_token::from_value(told.number)); break;
    }
}

/// The node has woken this client needlessly. The next one should not wait for the reservation to
/// end.
void client_impl::leave_queue(std::size_t node, std::string_view resource)
{
    auto about = keep_addressed(demand(resource, acquire_options()));
    auto by = rounds.new_attempt(std::move(about), fencing_token());
    rounds.put(node, rounds.make<round>({.what = verb::leave, .attempt = std::move(by)}));
}

/// The resource is free in so many milliseconds.
void client_impl::await_turn(std::size_t node, waiter& head, std::uint64_t reserved)
{
    constexpr auto longest = static_cast<std::uint64_t>(core::longest_reservation.count());
    // A node's own count may be a millisecond behind ours.
    const milliseconds until(static_cast<std::int64_t>(std::min(reserved, longest)) + 2);
    const auto end = core::shifted(now(), until).steady;
    if (!head.on_next(node, nodes.voters().quorum(), end))
        return;
    pause& sleep = head.sleep();
    if (!sleep.deadline::is_linked() || sleep.due() <= end)
        return;
    sleep.forget();
    loop.timer->add(sleep, end);
}

void client_impl::shut_down() noexcept
{
    lines.clear();
    holds.shut_down();
    life.shut_down();
    rounds.releases().shut_down();
}

void client_impl::disown()
{
    stop();
    nodes.stop();
}

}  // namespace redlock::detail
