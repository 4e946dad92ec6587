#ifndef REDLOCK_INITIALIZE_HPP
#define REDLOCK_INITIALIZE_HPP

#include <redlock/config.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/detail/initiate.hpp>
#include <redlock/detail/lease_executor.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/deferred.hpp>

#include <concepts>
#include <memory>
#include <utility>

namespace redlock {

namespace detail {

class initializer;

REDLOCK_EXPORT std::shared_ptr<initializer> make_initializer(
    boost::asio::any_io_executor executor,
    client_config config,
    diagnostics* report
);

REDLOCK_EXPORT void start_initialize(handler_of<> handler, std::shared_ptr<initializer> what);

inline boost::asio::any_io_executor to_executor(boost::asio::any_io_executor executor)
{
    return executor;
}

template <class ExecutionContext>
    requires requires(ExecutionContext& context) { context.get_executor(); }
boost::asio::any_io_executor to_executor(ExecutionContext& context)
{
    return context.get_executor();
}

}  // namespace detail

/** Admits a fresh set of nodes to guarded mode, so that they can vote at once.

    A node without a marker may have forgotten locks, so it goes through a quarantine of more than
    `client_config::ttl_max`. Nodes that were never used have nothing to forget, but only you know
    that they are new. Call this once, when the nodes are new, from a tool or by hand.

    Don't call it each time a service starts: after a power cut it would admit nodes that have just
    forgotten their grants.

    Checks all nodes first, and marks them only if each one answers and none carries a marker.
    Doesn't mark a node that changes between check and mark, or that has waited for 10 s.

    @par Completion signature
    `void(boost::system::error_code)`

    @param where An executor, or an execution context such as `boost::asio::io_context`.
    @param config The configuration of the clients: nodes, `ttl_max`, `clock_window`; `key_prefix`
    with `accept_cluster`.
    @param report Receives the answer of each node; null: none. Must live until the operation has
    completed.
    @param token Completion token.

    @par Errors
    @li `error::already_initialized`: a node carries a marker.
    @li `error::quorum_unreachable`: a node didn't answer. All must answer, not just a quorum.
    @li `error::node_rejected`: a node failed the checks or couldn't be marked. Others may be
    marked.
    @li `error::invalid_argument`: plain mode, which has no quarantine.

    @par Cancellation
    Terminal and partial. Some nodes may be marked.

    @par Thread safety
    May be called from any thread.

    @throws std::invalid_argument as the constructor of `client` does.
*/
template <class ExecutorOrContext, class Token = boost::asio::deferred_t>
[[nodiscard]] auto async_initialize_nodes(
    ExecutorOrContext&& where,
    client_config config,
    diagnostics* report,
    Token&& token = Token()
)
{
    const boost::asio::any_io_executor executor = detail::to_executor(where);
    return detail::initiate(
        std::forward<Token>(token),
        detail::lease_executor(executor),
        detail::start_initialize,
        detail::make_initializer(executor, std::move(config), report)
    );
}

/// The same without a report.
template <class ExecutorOrContext, class Token = boost::asio::deferred_t>
    requires(!std::convertible_to<Token, diagnostics*>)
[[nodiscard]] auto async_initialize_nodes(
    ExecutorOrContext&& where,
    client_config config,
    Token&& token = Token()
)
{
    diagnostics* const none = nullptr;
    return async_initialize_nodes(where, std::move(config), none, std::forward<Token>(token));
}

}  // namespace redlock

#endif
