#include <redlock/client.hpp>

#include "client/observation.hpp"
#include "client/operations.hpp"
#include "client/spawn_op.hpp"
#include "client/validate.hpp"
#include "loop/platform.hpp"
#include "loop/recycling.hpp"
#include "node/redis_node.hpp"

#include <boost/asio/ip/host_name.hpp>

#include <string>
#include <utility>

namespace redlock {

namespace {

/// The name of a client that was given none: host and process.
std::string default_name()
{
    boost::system::error_code ignored;
    std::string name =
        boost::asio::ip::host_name(ignored) + ':' + std::to_string(detail::platform::process_id());
    return name.substr(0, note::max_size);
}

/// A client of this machine's clocks and of real nodes.
std::shared_ptr<detail::client_impl> make_impl(
    boost::asio::any_io_executor executor,
    client_config config
)
{
    detail::validate(config);
    if (config.name.empty())
        config.name = default_name();

    const detail::ground on = detail::make_ground(executor);
    auto nodes = detail::make_redis_nodes(on, config);
    return std::make_shared<detail::client_impl>(
        std::move(executor), std::move(config), on, std::move(nodes)
    );
}

}  // namespace

client detail::make_client(std::shared_ptr<client_impl> impl)
{
    return client(std::move(impl));
}

client::client(executor_type executor, client_config config)
    : impl_(make_impl(std::move(executor), std::move(config)))
{
}

client::client(std::shared_ptr<detail::client_impl> impl) noexcept : impl_(std::move(impl)) {}

client& client::operator=(client&& other) noexcept
{
    auto ended = client(std::exchange(impl_, std::move(other.impl_)));
    return *this;
}

client::~client()
{
    if (impl_)
        impl_->cancel();
}

client::executor_type client::get_executor() const noexcept
{
    return impl_->executor;
}

const client::executor_type& client::executor_of(const detail::client_impl& impl) noexcept
{
    return impl.executor;
}

void client::cancel() noexcept
{
    impl_->cancel();
}

redlock::metrics client::metrics() const noexcept
{
    return impl_->read_metrics();
}

std::vector<node_status> client::nodes() const
{
    return impl_->nodes.status();
}

void client::start_run(
    std::shared_ptr<detail::client_impl> impl,
    boost::asio::any_completion_handler<void(error_code)> handler
)
{
    detail::spawn_op(*impl, detail::run(impl), std::move(handler));
}

void client::start_wait_ready(
    std::shared_ptr<detail::client_impl> impl,
    boost::asio::any_completion_handler<void(error_code)> handler
)
{
    detail::spawn_op(*impl, detail::wait_ready(impl), std::move(handler));
}

void client::start_close(
    std::shared_ptr<detail::client_impl> impl,
    boost::asio::any_completion_handler<void(error_code)> handler
)
{
    detail::spawn_op(*impl, detail::close(impl), std::move(handler));
}

void client::start_inspect(
    std::shared_ptr<detail::client_impl> impl,
    detail::demand about,
    boost::asio::any_completion_handler<void(error_code, holding)> handler
)
{
    const detail::client_impl& client = *impl;  // Kept by the initiation.
    about.put_in_front(client.config.key_prefix);
    auto kept = detail::make_recycled<detail::demand>(std::move(about));
    auto body = detail::inspect(std::move(impl), std::move(kept));
    detail::spawn_op(client, std::move(body), std::move(handler));
}

void client::start_revoke(
    std::shared_ptr<detail::client_impl> impl,
    detail::demand about,
    fencing_token hold,
    boost::asio::any_completion_handler<void(error_code, revocation)> handler
)
{
    const detail::client_impl& client = *impl;  // Kept by the initiation.
    about.put_in_front(client.config.key_prefix);
    auto kept = detail::make_recycled<detail::demand>(std::move(about));
    auto body = detail::revoke(std::move(impl), std::move(kept), hold);
    detail::spawn_op(client, std::move(body), std::move(handler));
}

void client::start_free(
    std::shared_ptr<detail::client_impl> impl,
    detail::demand about,
    boost::asio::any_completion_handler<void(error_code, release_outcome)> handler
)
{
    const detail::client_impl& client = *impl;  // Kept by the initiation.
    about.put_in_front(client.config.key_prefix);
    auto kept = detail::make_recycled<detail::demand>(std::move(about));
    auto body = detail::free_kept(std::move(impl), std::move(kept));
    detail::spawn_op(client, std::move(body), std::move(handler));
}

watcher client::watch(std::string_view resource)
{
    auto about = detail::make_recycled<detail::demand>(resource, acquire_options());
    about->put_in_front(impl_->config.key_prefix);
    return watcher(std::make_shared<detail::observation>(impl_, std::move(about)));
}

void client::start_acquire(
    std::shared_ptr<detail::client_impl> impl,
    detail::demand wanted,
    boost::asio::any_completion_handler<void(error_code, lease)> handler
)
{
    const detail::client_impl& client = *impl;  // Kept by the initiation.
    wanted.by_its_holder = impl->under_lock.is_caller(wanted.resource());
    wanted.put_in_front(client.config.key_prefix);
    if (client.config.mode == mode::guarded && wanted.options.note.empty())
        wanted.options.note = client.config.name;
    auto kept = detail::make_recycled<detail::demand>(std::move(wanted));
    auto body = detail::acquire(std::move(impl), std::move(kept));
    detail::spawn_op(client, std::move(body), std::move(handler));
}

}  // namespace redlock
