#include <redlock/watcher.hpp>

#include "client/client_impl.hpp"
#include "client/observation.hpp"

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

detail::lease_executor watcher::runs_on() const
{
    return detail::lease_executor(watched_->client()->executor);
}

}  // namespace redlock
