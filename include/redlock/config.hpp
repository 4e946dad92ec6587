#ifndef REDLOCK_CONFIG_HPP
#define REDLOCK_CONFIG_HPP

#include <redlock/detail/birthplace.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/detail/printing.hpp>
#include <redlock/error.hpp>
#include <redlock/time.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Declared, not included, so that users of the blocking client don't need Asio.
namespace boost::asio {

template <class... Signatures>
class any_completion_handler;

}  // namespace boost::asio

namespace redlock {

class observer;

/// TLS settings of a node.
struct tls_config
{
    std::string ca_file{};    ///< PEM file of trusted authorities. Empty: the system's.
    std::string cert_file{};  ///< PEM file of our certificate chain. Empty: we present none.
    std::string key_file{};   ///< PEM file of our private key. Needed with `cert_file`.

    /// Password of an encrypted `key_file`. Empty: none. The library never prompts for it.
    std::string key_password{};

    /// Whether the certificate must be valid and name `node_config::host`. Leave it on: without it,
    /// anyone on the network path can grant locks.
    bool verify = true;

    detail::birthplace born{};  ///< Internal: see `detail::birthplace`.
#if REDLOCK_COPIES_BITS
    ~tls_config() { born.start_anew_if_left(*this); }
#endif
};

/// The login at a node.
struct credentials
{
    std::string username{};  ///< Empty: the server's default user.
    std::string password{};  ///< Empty: no login, unless a username is given.
};

/** Gives the credentials for one connection, now or later.

    Called on the client's strand with a handler that it must call once, from any thread. Must not
    block. An exception it throws rejects the node and is shown as the reason.

    To set one, include <boost/asio/any_completion_handler.hpp>.
*/
using credentials_source =
    std::function<void(boost::asio::any_completion_handler<void(error_code, credentials)>)>;

/// Where a Sentinel is.
struct sentinel_address
{
    std::string host{};          ///< Name or address.
    std::uint16_t port = 26379;  ///< 1 to 65535.
};

/// The Sentinels that know which server of a group is the master.
struct sentinel_config
{
    std::string master{};                       ///< The name that they know it by.
    std::vector<sentinel_address> addresses{};  ///< 1 to 15. They are asked in turn.
    std::string username{};           ///< Login at the Sentinels. Empty: their default user.
    std::string password{};           ///< The same. Empty: no login, unless a username is given.
    std::optional<tls_config> tls{};  ///< For connections to the Sentinels. Empty: no TLS.

    detail::birthplace born{};  ///< Internal: see `detail::birthplace`.
#if REDLOCK_COPIES_BITS
    ~sentinel_config() { born.start_anew_if_left(*this); }
#endif
};

/** The address of a node and its login.

    Set the fields, or make one from a URL with `parse_node`.
*/
struct node_config
{
    std::string host = "127.0.0.1";   ///< Name or address. Ignored with `unix_socket`.
    std::uint16_t port = 6379;        ///< 1 to 65535.
    std::string unix_socket{};        ///< Path. Empty: TCP.
    std::string username{};           ///< Empty: the server's default user.
    std::string password{};           ///< Empty: no login, unless a username is given.
    unsigned database = 0;            ///< Index for SELECT.
    std::optional<tls_config> tls{};  ///< Empty: no TLS.

    /// Supplies user and password for each connection in place of `username` and `password`, for
    /// passwords that change while the program runs. This call and connecting may take 2 s
    /// together. An error rejects the node and is shown as the reason. Empty: `username` and
    /// `password` are used. Not used for Sentinels.
    credentials_source ask_credentials{};

    /// Whether the server never loses anything it has confirmed, so it needs no quarantine after a
    /// restart. Has no effect unless the server's settings confirm it: `appendonly yes`,
    /// `appendfsync always`, `no-appendfsync-on-rewrite no`.
    bool durable = false;

    /// Believe `durable` without checking, where CONFIG GET is forbidden. If it isn't true, a crash
    /// can lead to two holders.
    bool trust_durable = false;

    /// Accept a server that may evict keys when its memory is full. An eviction ends a lock early,
    /// so it can lead to two holders.
    bool accept_eviction = false;

    /// Accept a node of a Redis Cluster. It must serve all slots itself, or it refuses keys. A
    /// failover to its replica makes it forget locks. All clients must accept it, or none.
    bool accept_cluster = false;

    /** How long an old master can keep granting after a failover has moved the address to a new
        one, 0 to 10 min.

        You promise this: if it's too short, two clients can hold a resource at once. It's added to
        the node's quarantine. Guarded mode only, not with `durable` or `accept_cluster`. Must be
        the same in all clients. Empty: the address always leads to the same server. Empty with
        `sentinel`: derived from the master's settings, and the master must wait for all replicas.
    */
    std::optional<milliseconds> overlap{};

    /// Sentinels that know the master, in place of `host` and `port`. Guarded mode only. Empty:
    /// none.
    std::optional<sentinel_config> sentinel{};

    /// Address without credentials, as shown in diagnostics and logs.
    [[nodiscard]] REDLOCK_EXPORT std::string name() const;

    detail::birthplace born{};  ///< Internal: see `detail::birthplace`.
#if REDLOCK_COPIES_BITS
    ~node_config() { born.start_anew_if_left(*this); }
#endif
};

/** Reads one node from a URL.

    @li `redis://[[user]:password@]host[:port][/database]`
    @li `rediss://...[?ca=/path/ca.pem]`, the same over TLS, verified against the authorities in a
        file, or else the system's
    @li `unix://[[user]:password@]/path/to/socket`
    @li `redis+sentinel://[[user]:password@]host[:port][,host[:port]...]/master[/database]`, the
        master that these Sentinels know by this name; the login at the Sentinels is
        `?sentinel_user=name&sentinel_password=secret`
    @li `rediss+sentinel://...`, the same over TLS, to the Sentinels and to the master
    @li `valkey` for `redis` in any of these

    `?overlap=15s` sets `node_config::overlap`, in ms, s or min. Join parameters with `&`.

    User, password, host and path may be percent-encoded.

    @throws std::invalid_argument naming the mistake, without the password.
*/
[[nodiscard]] REDLOCK_EXPORT node_config parse_node(std::string_view url);

/** Reads a list of nodes from URLs separated by commas. Blanks around them are ignored. Commas
    between Sentinels don't separate URLs.

    @throws std::invalid_argument as `parse_node` does, and for an empty entry.
*/
[[nodiscard]] REDLOCK_EXPORT std::vector<node_config> parse_nodes(std::string_view urls);

/// The guarantees of a lock. All clients of one set of nodes should use the same mode.
enum class mode : std::uint8_t
{
    /// Leases have fencing tokens. A node that may have forgotten keys, or whose clock is off by
    /// more than `client_config::clock_window`, does not vote. Needs as many round trips as
    /// `plain`.
    guarded,

    /// Redlock as published, with one key for each resource. Has no tokens. A node that restarts
    /// empty may grant a held resource again.
    plain,
};

/// Lower-case name, for logs.
[[nodiscard]] REDLOCK_EXPORT const char* to_string(mode value) noexcept;

/// The random waits between two rounds. The defaults suit almost all programs.
struct retry_config
{
    /// Upper bound of the first wait. Zero: four times the measured duration of a round.
    milliseconds first_delay{0};

    /// Upper bound of every wait, 1 ms to 1 min.
    milliseconds max_delay{200};
};

/** How acquisitions wait for a held resource, in guarded mode.

    The acquisitions of one client always form a line, and only the first of them asks the nodes.
*/
struct waiting_config
{
    /// Wait in queues on the nodes, in the order of arrival: a release wakes the next client.
    /// Orders only the clients that have it set. False: ask again after random delays, as in plain
    /// mode, without an order.
    bool queue = true;

    /// A queued waiter asks again after this time if no node wakes it. 10 ms to 10 s.
    milliseconds poll{500};
};

/// How much a log line matters.
enum class log_level : std::uint8_t
{
    info,     ///< A node became ready, or an acquisition began after the client had ended.
    warning,  ///< A node was lost or not reached, or is in quarantine; or the client is overloaded.
    error,    ///< A node refuses the client, or a call is invalid. Someone must fix it.
};

/// Lower-case name, for logs.
[[nodiscard]] REDLOCK_EXPORT const char* to_string(log_level value) noexcept;

/// Writes warnings and errors to stderr, one line each.
REDLOCK_EXPORT void log_to_stderr(log_level level, std::string_view line);

/** The settings of a client.

    The client's constructor checks them. docs/configuration.md explains them.
*/
struct client_config
{
    /// The independent masters, 1 to 15, each listed once. All clients must use the same list.
    std::vector<node_config> nodes{};

    /// How long a round waits for each node's answer, 1 ms to 1 min. Acquisitions with a `wait` and
    /// automatic extensions also take later answers. Should be much shorter than the ttl.
    milliseconds node_timeout{50};

    /// Largest difference between the rates of two clocks, 0 to 0.5. This fraction of the ttl, plus
    /// 2 ms, is subtracted from the validity of a lease.
    double clock_drift = 0.01;

    /// The waits between rounds.
    retry_config retry{};

    /// The wait for other holders.
    waiting_config waiting{};

    /// Guarded, unless the published algorithm is enough.
    redlock::mode mode = redlock::mode::guarded;

    /// The longest ttl of a lease in guarded mode, 10 ms to 24 h. A node that lost its memory
    /// doesn't vote for at least this long. All clients must use the same value.
    milliseconds ttl_max{30'000};

    /// The other `ttl_max` while you raise it without stopping clients. Nodes marked for either
    /// value are accepted; new marks and quarantines use the larger one. docs/operations.md has the
    /// steps. 0: none.
    milliseconds other_ttl_max{0};

    /// Largest distance between the clocks of clients and nodes in guarded mode, 1 ms to 1 min. A
    /// node refuses time stamps that are farther from its clock. A client whose clock is off learns
    /// the nodes' time. All clients must use the same value.
    milliseconds clock_window{500};

    /// How long a node remembers the highest token of an unused resource, 1 min to 1000 days. Must
    /// exceed twice `clock_window` plus the larger of `ttl_max` and 1 s. Each extension restarts
    /// it.
    milliseconds fence_ttl{86'400'000};

    /// Prefix of each resource's key, 0 to 128 bytes. Guarded: must not begin with `redlock:`, and
    /// needs a hash tag, such as `{locks}:`, if a node has `accept_cluster`. Clients exclude each
    /// other if prefix and resource form the same key.
    std::string key_prefix{};

    /// What operators see of this client: the note of each of its holds without one, and its name
    /// in CLIENT LIST on each node, with `_` for bytes outside `!` to `~`. At most 120 bytes.
    /// Empty: the host name, a colon and the process id.
    std::string name{};

    /// Receives a line when a node changes its state, when a call is invalid, when a wait for ready
    /// nodes is cut off, and when an acquisition fails with `error::overloaded`. Called on the
    /// client's strand; must not block or throw. Contention is never logged. By default warnings
    /// and errors go to stderr. Empty: no log.
    std::function<void(log_level, std::string_view)> log = log_to_stderr;

    /// Receives events of rounds, leases and nodes. Null: none.
    std::shared_ptr<redlock::observer> observer{};

    detail::birthplace born{};  ///< Internal: see `detail::birthplace`.
#if REDLOCK_COPIES_BITS
    ~client_config() { born.start_anew_if_left(*this); }
#endif
};

namespace detail {

[[nodiscard]] inline client_config with_nodes(std::string_view urls)
{
    client_config config;
    config.nodes = parse_nodes(urls);
    return config;
}

}  // namespace detail

}  // namespace redlock

#endif
