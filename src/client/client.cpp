#include <redlock/client.hpp>

#include "client/client_impl.hpp"
#include "client/observation.hpp"
#include "client/validate.hpp"
#include "loop/platform.hpp"
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

watcher client::watch(std::string_view resource)
{
    return watcher(
        std::make_shared<detail::observation>(impl_, impl_->keep_addressed(about(resource)))
    );
}

}  // namespace redlock
