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
    // Dropping a coroutine may destroy its client, and that removes itself here: so each is kept
    // alive for as long as it is worked on, and no lock is held.
    std::vector<std::shared_ptr<client_impl>> alive;
    {
        const std::lock_guard lock(mutex_);
        for (client_impl* client : clients_)
        {
            if (auto kept = client->weak_from_this().lock())
                alive.push_back(std::move(kept));
        }
    }
    for (const auto& client : alive)
        client->shut_down();
}

}  // namespace redlock::detail
