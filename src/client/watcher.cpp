#include <redlock/watcher.hpp>

#include "client/client_impl.hpp"
#include "client/observation.hpp"
#include "client/operations.hpp"
#include "client/spawn_op.hpp"

#include <utility>

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

detail::lease_executor watcher::executor_of(const detail::observation& watched)
{
    return detail::lease_executor(watched.client()->executor);
}

void watcher::start_next(
    std::shared_ptr<detail::observation> watched,
    boost::asio::any_completion_handler<void(error_code, holding)> handler
)
{
    const detail::client_impl& client = *watched->client();  // Kept by the initiation.
    detail::spawn_op(client, detail::watch(std::move(watched)), std::move(handler));
}

}  // namespace redlock
