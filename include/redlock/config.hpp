#ifndef REDLOCK_CONFIG_HPP
#define REDLOCK_CONFIG_HPP

#include <redlock/detail/birthplace.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/detail/printing.hpp>
#include <redlock/time.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock {

class observer;

/// How to talk TLS to a node.
struct tls_config
{
    std::string ca_file{};    ///< PEM file of trusted authorities. Empty: the system's.
    std::string cert_file{};  ///< PEM file of our certificate chain. Empty: we present none.
    std::string key_file{};   ///< PEM file of our private key. Needed with `cert_file`.

    /// Whether the certificate must be valid and name `node_config::host`. Leave it on: without it
    /// anybody on the path can grant locks.
    bool verify = true;

    detail::birthplace born{};  ///< Not for you: see there.
#if REDLOCK_COPIES_BITS
    ~tls_config() { born.start_anew_if_left(*this); }
#endif
};

/** Where one node is and how to log in.

    Made by `parse_node` from a URL, or field by field.
*/
struct node_config
{
    std::string host = "127.0.0.1";  ///< Name or address. Ignored with `unix_socket`.
    std::uint16_t port = 6379;       ///< 1 to 65535.
    std::string unix_socket{};       ///< Path. Empty: TCP.
    std::string username{};          ///< Empty: the server's default user.
    std::string password{};          ///< Empty: no login, unless a username is given.
    unsigned database = 0;           ///< Index for SELECT.
    std::optional<tls_config> tls{};  ///< Empty: no TLS.

    /// Whether the server loses nothing it has confirmed, so that it need not sit out a quarantine
    /// after a restart. Confirmed by asking for its settings: `appendonly yes`,
    /// `appendfsync always`, `no-appendfsync-on-rewrite no`. Otherwise it has no effect.
    bool durable = false;

    /// Believe `durable` without asking, where CONFIG GET is forbidden. Gives up what the
    /// quarantine protects if it is not true: two holders after a crash.
    bool trust_durable = false;

    /// Accept a server that may evict keys when its memory is full. Gives up exclusion whenever it
    /// does, for a lock is then gone before its time.
    bool accept_eviction = false;

    /// Accept a node of a Redis Cluster. It has to serve all slots itself, or it refuses keys, and
    /// a failover to its replica makes it forget locks. All clients must accept it, or none.
    bool accept_cluster = false;

    /// Address without credentials, as shown in diagnostics and logs.
    [[nodiscard]] REDLOCK_EXPORT std::string name() const;

    detail::birthplace born{};  ///< Not for you: see there.
#if REDLOCK_COPIES_BITS
    ~node_config() { born.start_anew_if_left(*this); }
#endif
};

/** Reads one node from a URL.

    @li `redis://[[user]:password@]host[:port][/database]`
    @li `rediss://...`, the same over TLS, verified against the system's authorities
    @li `unix://[[user]:password@]/path/to/socket`
    @li `valkey://` and `valkeys://`, which mean `redis://` and `rediss://`

    User, password, host and path may be percent-encoded.

    @throws std::invalid_argument naming what is wrong; the password is left out.
*/
[[nodiscard]] REDLOCK_EXPORT node_config parse_node(std::string_view url);

/** Reads a list of nodes from URLs separated by commas. Blanks around them are ignored.

    @throws std::invalid_argument as `parse_node`, and for an empty entry.
*/
[[nodiscard]] REDLOCK_EXPORT std::vector<node_config> parse_nodes(std::string_view urls);

/// What a lock is worth. All clients of one set of nodes should use the same.
enum class mode : std::uint8_t
{
    /// Leases have fencing tokens. A node that may have forgotten keys, or whose clock is off by
    /// more than `client_config::clock_window`, does not vote. As many round trips as `plain`.
    guarded,

    /// Redlock as its text describes it, and one key for each resource. No tokens, and nothing that
    /// stops a node which restarted empty from granting what it granted before.
    plain,
};

/// Lower-case name, for logs.
[[nodiscard]] REDLOCK_EXPORT const char* to_string(mode value) noexcept;

/// How the wait between two rounds grows. The defaults suit almost everybody.
struct retry_config
{
    /// Upper bound of the first wait. Zero: four times the measured duration of a round.
    milliseconds first_delay{0};

    /// Upper bound of every wait, 1 ms to 1 min.
    milliseconds max_delay{200};
};

/** How acquisitions wait for a resource that somebody else holds, in guarded mode.

    The acquisitions of one client always stand in line, and only the first of them asks the nodes.
*/
struct waiting_config
{
    /// Wait in queues on the nodes, in the order of arrival: who gives back wakes the next one. It
    /// has an effect between clients that have it. False: ask again after random delays, as in
    /// plain mode; others who do the same may go first at any time.
    bool queue = true;

    /// Who waits in a queue asks again at least this often, should nobody wake it. 10 ms to 10 s.
    milliseconds poll{500};
};

/// How much a log line matters.
enum class log_level : std::uint8_t
{
    info,     ///< A node became ready.
    warning,  ///< A node was lost, could not be reached, or is in quarantine.
    error,    ///< A node refuses us, or a call is wrong, until somebody changes something.
};

/// Lower-case name, for logs.
[[nodiscard]] REDLOCK_EXPORT const char* to_string(log_level value) noexcept;

/** What a client is made of.

    Checked by the client's constructor; docs/configuration.md has all the limits.
*/
struct client_config
{
    /// The independent masters, 1 to 15, each one once. All clients must use the same list.
    std::vector<node_config> nodes{};

    /// How long to wait for one node's answer, 1 ms to 1 min. Much shorter than the ttl.
    milliseconds node_timeout{50};

    /// How far the rates of two clocks may differ, 0 to 0.5. This part of the ttl, and 2 ms more,
    /// is subtracted from the validity of a lease.
    double clock_drift = 0.01;

    /// How to wait between rounds.
    retry_config retry{};

    /// How to wait for others.
    waiting_config waiting{};

    /// Guarded, unless you need no more than the classical algorithm.
    redlock::mode mode = redlock::mode::guarded;

    /// The longest ttl that leases may have in guarded mode, 10 ms to 24 h. A node that lost its
    /// memory does not vote for at least as long. All clients must use the same.
    milliseconds ttl_max{30'000};

    /// How far the clocks of clients and nodes may be apart in guarded mode, 1 ms to 1 min. A node
    /// refuses stamps that are farther from its clock; a client whose own clock is off learns the
    /// time of the nodes. All clients must use the same.
    milliseconds clock_window{500};

    /// How long a node remembers the highest token of a resource that nobody asks for, 1 min to
    /// 1000 days, and longer than twice `clock_window` and `ttl_max`, or 1 s, together. Each
    /// extension starts it again.
    milliseconds fence_ttl{86'400'000};

    /// Put before each resource to make the key, 0 to 128 bytes. Guarded: must not begin with
    /// `redlock:`, and has a hash tag, such as `{locks}:`, if a node has `accept_cluster`. Clients
    /// exclude each other where prefix and resource make the same key.
    std::string key_prefix{};

    /// Receives a line when a node changes its state, when an operation ends for a mistake in its
    /// call, and when a wait for ready nodes is cut off. Called on the client's strand; must not
    /// block or throw. Contention is never logged. Empty: no log.
    std::function<void(log_level, std::string_view)> log{};

    /// Is told of rounds, leases and nodes. Null: nobody is.
    std::shared_ptr<redlock::observer> observer{};

    detail::birthplace born{};  ///< Not for you: see there.
#if REDLOCK_COPIES_BITS
    ~client_config() { born.start_anew_if_left(*this); }
#endif
};

}  // namespace redlock

#endif
