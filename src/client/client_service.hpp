#ifndef REDLOCK_SRC_CLIENT_CLIENT_SERVICE_HPP
#define REDLOCK_SRC_CLIENT_CLIENT_SERVICE_HPP

#include "loop/strand.hpp"

#include <boost/asio/execution_context.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace redlock::detail {

class client_impl;

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

}  // namespace redlock::detail

#endif
