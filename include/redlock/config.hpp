#ifndef REDLOCK_CONFIG_HPP
#define REDLOCK_CONFIG_HPP

#include <redlock/time.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock {

/// How to talk TLS to a node.
struct tls_config
{
    std::string ca_file{};    ///< PEM file of trusted authorities. Empty: the system's.
    std::string cert_file{};  ///< PEM file of our certificate chain. Empty: we present none.
    std::string key_file{};   ///< PEM file of our private key. Needed with `cert_file`.

    /// Whether the certificate must be valid and name `node_config::host`. Leave it on: without it
    /// anybody on the path can grant locks.
    bool verify = true;
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

    /// Address without credentials, as shown in diagnostics and logs.
    [[nodiscard]] std::string name() const;
};

/** Reads one node from a URL.

    @li `redis://[[user]:password@]host[:port][/database]`
    @li `rediss://...`, the same over TLS, verified against the system's authorities
    @li `unix://[[user]:password@]/path/to/socket`

    User, password and path may be percent-encoded.

    @throws std::invalid_argument naming what is wrong; the password is left out.
*/
[[nodiscard]] node_config parse_node(std::string_view url);

/** Reads a list of nodes from URLs separated by commas. Blanks around them are ignored.

    @throws std::invalid_argument as `parse_node`, and for an empty entry.
*/
[[nodiscard]] std::vector<node_config> parse_nodes(std::string_view urls);

/// How the wait between two rounds grows. The defaults suit almost everybody.
struct retry_config
{
    /// Upper bound of the first wait. Zero: four times the measured duration of a round.
    milliseconds first_delay{0};

    /// Upper bound of every wait, 1 ms to 1 min.
    milliseconds max_delay{200};
};

/// How much a log line matters.
enum class log_level : std::uint8_t
{
    info,     ///< A node became ready.
    warning,  ///< A node was lost or could not be reached.
    error,    ///< A node refuses us until somebody changes something.
};

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

    /// Put before each resource to make the key, 0 to 128 bytes. All clients must use the same.
    std::string key_prefix{};

    /// Receives a line when a node changes its state. Called on the client's strand; must not block
    /// or throw. Contention is never logged. Empty: no log.
    std::function<void(log_level, std::string_view)> log{};
};

}  // namespace redlock

#endif
