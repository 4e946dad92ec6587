#ifndef REDLOCK_CLIENT_HPP
#define REDLOCK_CLIENT_HPP

#include <redlock/config.hpp>
#include <redlock/detail/demand.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/detail/initiate.hpp>
#include <redlock/detail/lease_executor.hpp>
#include <redlock/error.hpp>
#include <redlock/fencing.hpp>
#include <redlock/holding.hpp>
#include <redlock/lease.hpp>
#include <redlock/metrics.hpp>
#include <redlock/node_status.hpp>
#include <redlock/options.hpp>
#include <redlock/release_outcome.hpp>
#include <redlock/revocation.hpp>
#include <redlock/time.hpp>
#include <redlock/watcher.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/deferred.hpp>

#include <concepts>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace redlock {

class client;

namespace detail {

class client_impl;

/// Makes a client with the nodes and clocks of `impl`. For tests.
[[nodiscard]] REDLOCK_EXPORT client make_client(std::shared_ptr<client_impl> impl);

// The operations, each defined in the file of its name. `about`: an acquisition that is never made.
using to_client = std::shared_ptr<client_impl>;
REDLOCK_EXPORT void start_run(handler_of<> handler, to_client self);
REDLOCK_EXPORT void start_wait_ready(handler_of<> handler, to_client self);
REDLOCK_EXPORT void start_close(handler_of<> handler, to_client self);
REDLOCK_EXPORT void start_acquire(handler_of<lease> handler, to_client self, demand wanted);
REDLOCK_EXPORT void start_inspect(handler_of<holding> handler, to_client self, demand about);
REDLOCK_EXPORT void start_free_kept(
    handler_of<release_outcome> handler,
    to_client self,
    demand about
);
REDLOCK_EXPORT void start_revoke(
    handler_of<revocation> handler,
    to_client self,
    demand about,
    fencing_token hold
);

}  // namespace detail

/** Acquires leases on resources from a fixed set of independent Redis nodes.

    Implements Redlock: a client holds a resource once a majority of the nodes has granted it. With
    one node, this is the single-instance lock.

    @par Thread safety
    Distinct objects: safe. Shared objects: every function may be called from any thread, except
    moving, assigning and destroying.

    @par Executor
    The client works on its own strand over the given executor. It posts each handler to its
    associated executor, by default the given one. No handler runs on the strand, whatever the
    executor.

    @par Lifetime
    The execution context must outlive the client object. Destroying the client cancels its pending
    operations. Leases may outlive the client.

    @par First connections
    Operations of a new client first wait until a quorum is ready, or until each node has answered
    or couldn't be reached at any of its addresses or through any Sentinel: 5 s at most. Those that
    ask once wait for the other nodes too, if a quorum doesn't decide. An acquisition's `wait`
    starts after that.

    @par Example
    @code
    redlock::client locks(context, "redis://a,redis://b,redis://c");
    locks.async_run(asio::detached);

    auto held = co_await locks.async_acquire("orders:42", 10s);
    co_await ship(42);
    co_await held.async_release();
    @endcode
*/
class REDLOCK_EXPORT client
{
public:
    /// The type of the executor that the client runs on.
    using executor_type = boost::asio::any_io_executor;

    /** Makes a client that runs on `executor`. Does not connect yet.

        @throws std::invalid_argument naming the field and the value, if the configuration is
        outside its limits (docs/configuration.md).
    */
    client(executor_type executor, client_config config);

    /// Makes a client that runs on an execution context, such as `boost::asio::io_context`.
    template <class ExecutionContext>
        requires std::convertible_to<
            decltype(std::declval<ExecutionContext&>().get_executor()),
            executor_type>
    client(ExecutionContext& context, client_config config)
        : client(executor_type(context.get_executor()), std::move(config))
    {
    }

    /** Makes a client of the nodes in a list of URLs, with the defaults of `client_config`.
        @param executor As above.
        @param urls As for `parse_nodes`: "redis://a,redis://b,redis://c".
        @throws std::invalid_argument as `parse_nodes` and the constructor above do.
    */
    template <std::convertible_to<std::string_view> Urls>
    client(executor_type executor, const Urls& urls)
        : client(std::move(executor), detail::with_nodes(urls))
    {
    }

    /// The same on an execution context.
    template <class ExecutionContext, std::convertible_to<std::string_view> Urls>
        requires std::convertible_to<
            decltype(std::declval<ExecutionContext&>().get_executor()),
            executor_type>
    client(ExecutionContext& context, const Urls& urls)
        : client(executor_type(context.get_executor()), detail::with_nodes(urls))
    {
    }

    /// Takes over the client and its operations. `other` may then only be assigned or destroyed.
    client(client&& other) noexcept = default;

    /// Cancels the operations of the previous client.
    client& operator=(client&& other) noexcept;

    /// Cancels all operations, as `cancel()` does.
    ~client();

    /// The executor given to the constructor.
    [[nodiscard]] executor_type get_executor() const noexcept;

    /** Connects to the nodes and stays connected until `cancel()` or cancellation.

        Call it once. The other operations need it to run.

        @par Completion signature
        `void(boost::system::error_code)`

        @param token Completion token.

        @par Errors
        No error after `cancel()`. `error::already_running` if it's already running.
        `error::not_running` if the client was cancelled before, or has run.

        @par Cancellation
        Terminal and partial: like `cancel()`, but completes with `operation_aborted`.
    */
    template <class Token = boost::asio::deferred_t>
    [[nodiscard]] auto async_run(Token&& token = Token())
    {
        return detail::initiate(std::forward<Token>(token), runs_on(), detail::start_run, impl_);
    }

    /** Waits until a quorum of nodes is ready.

        @par Completion signature
        `void(boost::system::error_code)`

        @param token Completion token. There is no time limit: add one with `cancel_after`.

        @par Errors
        @li `error::not_running`: the client has stopped.
        @li `operation_aborted`: the operation or the client was cancelled, or the client was
        closed. A log line names the nodes that aren't ready and says why. `nodes()` reports the
        same at any time.

        @par Cancellation
        Terminal and partial.
    */
    template <class Token = boost::asio::deferred_t>
    [[nodiscard]] auto async_wait_ready(Token&& token = Token())
    {
        return detail::initiate(
            std::forward<Token>(token), runs_on(), detail::start_wait_ready, impl_
        );
    }

    /** Acquires a resource; waits while another owner holds it.

        Asks all nodes at once and completes as soon as a quorum grants. After a round without a
        quorum, releases the key on every node that may have it, and tries again after a random
        delay. A round that no node has denied may wait beyond `node_timeout` for late grants.

        A client has no more rounds under way than its nodes can answer in time, and none while
        fewer than a quorum of the nodes are ready. Other rounds wait for room and send nothing.
        That time counts against `wait`, but not against the validity of the lease.

        Acquisitions by one client of the same resource form a line in order of arrival. Only the
        first one asks the nodes. The next one asks once the first has given up or its hold is over.

        @par Completion signature
        `void(boost::system::error_code, redlock::lease)`

        @param resource The resource to protect, 1 to 512 bytes, any bytes. In guarded mode the key,
        `key_prefix` and resource, must not begin with `redlock:`. Copied.
        @param how `acquire_options`, copied except for the object that `report` points to; or a
        ttl, which leaves all other options at their defaults. A ttl doesn't limit the wait, which
        is 10 s by default.
        @param token Completion token.

        @par Errors
        @li `error::contended`: another owner held the resource until `wait` ran out.
        @li `error::quorum_unreachable`: too many nodes didn't answer, until `wait` ran out.
        @li `error::node_rejected`: too many nodes refused, until `wait` ran out.
        @li `error::quarantined`, `error::config_mismatch`: too many nodes refused for that reason,
        until `wait` ran out.
        @li `error::validity_exhausted`: a quorum granted too late, until `wait` ran out.
        @li `error::overloaded`: the client had too many rounds under way, until `wait` ran out.
        @li `error::hold_limit_reached`: the owner already holds the resource, and the `hold_max` of
        that hold doesn't allow another `ttl`.
        @li `error::not_running`: the client didn't start running within `wait`, or had already
        stopped.
        @li `error::invalid_argument`: the resource or an option is out of range. Nothing was sent.
        The report and the log name the field, its value and the limit.

        @par Cancellation
        Terminal and partial. Nothing is held afterwards: every node that may have the key gets a
        release, which follows the request on the same connection.
    */
    template <
        detail::says_how_to_acquire How = acquire_options,
        class Token = boost::asio::deferred_t>
    [[nodiscard]] auto async_acquire(
        std::string_view resource,
        const How& how = How(),
        Token&& token = Token()
    )
    {
        return detail::initiate(
            std::forward<Token>(token),
            runs_on(),
            detail::start_acquire,
            impl_,
            detail::demand(resource, detail::options_of(how))
        );
    }

    /// Acquires a resource with the defaults of `acquire_options`.
    template <class Token>
        requires(!detail::says_how_to_acquire<std::remove_cvref_t<Token>>)
    [[nodiscard]] auto async_acquire(std::string_view resource, Token&& token)
    {
        return async_acquire(resource, acquire_options(), std::forward<Token>(token));
    }

    /** Tries to acquire a resource with one round.

        Like `async_acquire`, but never waits for a holder. If another owner holds the resource, the
        operation succeeds with an empty lease. The same happens, without asking any node, if
        another operation of this client is acquiring or waiting for the resource.

        Takes no late grants. Waits at most one `node_timeout` for room, then fails with
        `error::overloaded`; doesn't wait for one while fewer than a quorum of the nodes are ready.
        `async_acquire` does the same if `wait` is zero.
    */
    template <
        detail::says_how_to_acquire How = acquire_options,
        class Token = boost::asio::deferred_t>
    [[nodiscard]] auto async_try_acquire(
        std::string_view resource,
        const How& how = How(),
        Token&& token = Token()
    )
    {
        return detail::initiate(
            std::forward<Token>(token),
            runs_on(),
            detail::start_acquire,
            impl_,
            detail::demand::to_try(resource, detail::options_of(how))
        );
    }

    /// Tries to acquire a resource with the defaults of `acquire_options`.
    template <class Token>
        requires(!detail::says_how_to_acquire<std::remove_cvref_t<Token>>)
    [[nodiscard]] auto async_try_acquire(std::string_view resource, Token&& token)
    {
        return async_try_acquire(resource, acquire_options(), std::forward<Token>(token));
    }

    /** Asks all nodes who holds a resource. Changes nothing.

        Waits for its turn among the client's other questions (docs/performance.md), then at most
        one `node_timeout` for every node to answer.

        @par Completion signature
        `void(boost::system::error_code, redlock::holding)`

        @param resource As for `async_acquire`. Copied.
        @param token Completion token.

        @par Errors
        @li `error::invalid_argument`: the resource is out of range. The log says why.
        @li `error::overloaded`: the nodes had too many unanswered commands of this client.
        @li `error::not_running`: the client didn't start running within 1 s, or has stopped.
        @li `operation_aborted`: the operation or the client was cancelled, or the client was
        closed.

        Nodes that don't answer aren't an error: see `holding::answered`.

        @par Cancellation
        Terminal and partial.
    */
    template <class Token = boost::asio::deferred_t>
    [[nodiscard]] auto async_inspect(std::string_view resource, Token&& token = Token())
    {
        return detail::initiate(
            std::forward<Token>(token), runs_on(), detail::start_inspect, impl_, about(resource)
        );
    }

    /** Asks the holder of a resource to stop: its hold is no longer extended.

        Marks the hold on a quorum of the nodes. Exclusion doesn't change: nobody is granted the
        resource before the holder has released it or its deadline has passed. There's no way to
        take a resource from its holder sooner, so choose a ttl you can wait for.

        The holder learns of it at once if its client uses queues. Otherwise, or if that message is
        lost, it learns of it from its next extension. Its `lease::async_wait_lost` completes with
        `error::revoked`; `with_lock` and `lead` cancel the body and release the resource once the
        body has ended. A holder that neither extends nor uses queues never learns of it.

        @par Completion signature
        `void(boost::system::error_code, redlock::revocation)`

        @param resource As for `async_acquire`. Copied.
        @param hold The token of the hold, from an inspection or from its holder. No other hold of
        the resource is touched.
        @param token Completion token.

        @par Errors
        On failure some nodes may have marked the hold, and one mark is enough to end it.
        @li `error::no_such_hold`: no node in a quorum had the hold. If that acquisition arrives
        late, it's refused.
        @li `error::quorum_unreachable`: too few nodes answered, or twice not soon enough: by
        default within 402 ms.
        @li `error::node_rejected`: too many nodes refused. Nodes refuse if they hold the resource
        for a client without tokens. They also refuse, and write nothing, if the token is more than
        `client_config::clock_window` ahead of their clocks.
        @li `error::config_mismatch`: too many nodes are marked for other settings.
        @li `error::invalid_argument`: the resource is out of range, the token is empty or 2^53 or
        more, or the client is in plain mode. Nothing was sent. The log says why.
        @li `error::overloaded`: the nodes had too many unanswered commands of this client.
        @li `error::not_running`: the client didn't start running within 1 s, or has stopped.
        @li `operation_aborted`: the operation or the client was cancelled, or the client was
        closed.

        @par Cancellation
        Terminal and partial.
    */
    template <class Token = boost::asio::deferred_t>
    [[nodiscard]] auto async_revoke(
        std::string_view resource,
        fencing_token hold,
        Token&& token = Token()
    )
    {
        return detail::initiate(
            std::forward<Token>(token),
            runs_on(),
            detail::start_revoke,
            impl_,
            about(resource),
            hold
        );
    }

    /** Frees a resource that nobody holds but a release keeps: see `acquire_options::at_least`.

        Asks the nodes what they keep and then asks them to free it. Doesn't touch a resource that
        is held; its release will still keep it. Wakes the first waiting client. A node that is away
        keeps the resource, so call this again when the node is back.

        @par Completion signature
        `void(boost::system::error_code, redlock::release_outcome)`: `released` if a quorum answered
        and one of its nodes kept the resource, `already_gone` if none did, `unconfirmed` if too few
        nodes answered.

        @param resource As for `async_acquire`. Copied.
        @param token Completion token.

        @par Errors
        @li `error::invalid_argument`: the resource is out of range, or the client is in plain mode.
        Nothing was sent. The log says why.
        @li `error::overloaded`: the nodes had too many unanswered commands of this client.
        @li `error::not_running`: the client didn't start running within 1 s, or has stopped.
        @li `operation_aborted`: the operation or the client was cancelled, or the client was
        closed.

        @par Cancellation
        Terminal and partial. A node that was asked may free the resource anyway.
    */
    template <class Token = boost::asio::deferred_t>
    [[nodiscard]] auto async_free(std::string_view resource, Token&& token = Token())
    {
        return detail::initiate(
            std::forward<Token>(token), runs_on(), detail::start_free_kept, impl_, about(resource)
        );
    }

    /// Watches who holds a resource. @param resource As for `async_acquire`. Copied. See `watcher`.
    [[nodiscard]] watcher watch(std::string_view resource);

    /** Ends the client: aborts its operations and lets `async_run` complete.

        Releases under way get one `node_timeout` to reach their nodes. Doesn't release leases:
        `async_close` does that.
    */
    void cancel() noexcept;

    /** Releases the leases and then ends the client.

        Aborts acquisitions under way. New operations fail with `error::not_running`, and leases are
        no longer extended. A pending `async_wait_lost`, including that of `with_lock`, completes
        with `operation_aborted`, and its lease can still be released until its deadline. All other
        leases end and are released at once. A release without a quorum is repeated until a quorum
        confirms it or the ttl runs out. Nodes that are connected or reconnecting get the same time
        to answer all releases. Then the client is cancelled, so that `async_run` completes.

        @par Completion signature
        `void(boost::system::error_code)`

        @param token Completion token. Closing takes at most the longest ttl in use. Add a shorter
        limit with `cancel_after`.

        @par Errors
        `error::not_running` if the client isn't running.

        @par Cancellation
        Terminal and partial: ends the client at once, as `cancel()` does.
    */
    template <class Token = boost::asio::deferred_t>
    [[nodiscard]] auto async_close(Token&& token = Token())
    {
        return detail::initiate(std::forward<Token>(token), runs_on(), detail::start_close, impl_);
    }

    /// Counters of what the client has done so far. Each is read separately.
    [[nodiscard]] redlock::metrics metrics() const noexcept;

    /// The current state of each node, in the order of the configuration.
    [[nodiscard]] std::vector<node_status> nodes() const;

private:
    friend client detail::make_client(std::shared_ptr<detail::client_impl> impl);

    explicit client(std::shared_ptr<detail::client_impl> impl) noexcept;

    /// For operations that acquire nothing.
    static detail::demand about(std::string_view resource) { return {resource, acquire_options()}; }

    [[nodiscard]] detail::lease_executor runs_on() const
    {
        return detail::lease_executor(get_executor());
    }

    std::shared_ptr<detail::client_impl> impl_;
};

}  // namespace redlock

#endif
