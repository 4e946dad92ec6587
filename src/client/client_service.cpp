#include "client/client_service.hpp"

#include "client/client_impl.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/query.hpp>

#include <memory>

namespace redlock::detail {

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

}  // namespace redlock::detail
