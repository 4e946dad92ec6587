#ifndef REDLOCK_SRC_CLIENT_CLIENT_IMPL_HPP
#define REDLOCK_SRC_CLIENT_CLIENT_IMPL_HPP

#include <redlock/config.hpp>
#include <redlock/metrics.hpp>

#include "client/bodies.hpp"
#include "client/client_loop.hpp"
#include "client/events.hpp"
#include "client/holds.hpp"
#include "client/life.hpp"
#include "client/lines.hpp"
#include "client/roster.hpp"
#include "client/rounds.hpp"
#include "client/watchers.hpp"
#include "client/window.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace redlock::detail {

class client_service;

/** One client: the parts that its operations work with, and how they relate to each other.

    The operations themselves are coroutines, see operations.hpp. Everything runs on the strand,
    except where noted.
*/
class client_impl final : public node::owner, public std::enable_shared_from_this<client_impl>
{
public:
    /// The caller makes what it runs on and what it asks, so tests can supply their own.
    client_impl(asio::any_io_executor runs_on, client_config how, ground on, node_list asked);
    ~client_impl();

    // Any thread.
    [[nodiscard]] core::instant now() const noexcept { return loop.now(); }
    [[nodiscard]] metrics read_metrics() const noexcept;
    void cancel() noexcept;

    /// Ends what operations wait for, and forgets what is held.
    void stop();

    /// Keeps what an operation is about, with its whole key.
    [[nodiscard]] std::shared_ptr<const demand> keep_addressed(demand about) const;

    // node::owner
    void on_node_change() override;
    void on_node_stopped() override;
    void on_news(std::size_t node, const news& told) override;

    /// The execution context is ending: destroys what waits in this client.
    void shut_down() noexcept;

    /// This is a copy in a child process: ends it, and closes its copies of the connections without
    /// sending anything, because they belong to the parent.
    void disown();

    const asio::any_io_executor executor;
    const client_config config;
    const client_loop loop;
    roster nodes;
    detail::life life;
    detail::events events;
    detail::lines lines;
    detail::watchers watchers;
    window acquisitions;
    window extensions;
    window inquiries;  ///< All other questions that users ask.
    detail::rounds rounds;
    detail::holds holds;
    bodies under_lock;

private:
    [[nodiscard]] std::string_view resource_of(std::string_view key) const noexcept;
    void leave_queue(std::size_t node, std::string_view resource);
    void await_turn(std::size_t node, waiter& head, std::uint64_t reserved);

    client_service& service_;
};

}  // namespace redlock::detail

#endif
