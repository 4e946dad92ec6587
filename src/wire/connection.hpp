#ifndef REDLOCK_SRC_WIRE_CONNECTION_HPP
#define REDLOCK_SRC_WIRE_CONNECTION_HPP

#include <redlock/config.hpp>
#include <redlock/error.hpp>

#include "loop/ground.hpp"
#include "wire/name_lookup.hpp"
#include "wire/tls_context.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace redlock::detail {

/// A connection that isn't in use after this time is given up. A name's addresses share the time.
inline constexpr std::chrono::milliseconds open_timeout{2000};

/** The byte stream to one server, from connecting to its loss. Opened once, never reused.

    Knows neither commands nor replies. Used on the strand only. Tests replace it to play a server.
*/
class connection
{
public:
    /// Called on the strand, never from within a call that the owner makes.
    class owner
    {
    public:
        virtual void on_open() = 0;

        /** Bytes have arrived.

            @param input Everything that was received and not used yet.
            @return How many bytes were used. The others come again, followed by new ones.
        */
        [[nodiscard]] virtual std::size_t on_input(std::string_view input) = 0;

        /// The connection is over. This is the last call, and comes exactly once.
        virtual void on_closed(error_code why) = 0;

    protected:
        ~owner() = default;
    };

    virtual ~connection() = default;

    /// Connects. Keeps `of` until it is over; `of` must keep this.
    virtual void open(const std::shared_ptr<owner>& of) = 0;

    /// Writes after what was written before: as much as fits at once, the rest when there is room.
    /// Only when open. Does nothing once closed.
    virtual void write(std::string_view bytes) = 0;

    /// What is wrong with the server's certificate, as far as is known. Empty: nothing.
    [[nodiscard]] virtual std::string objection() const { return {}; }

    /// Whether another connection may find another server, by a way that wasn't tried yet.
    [[nodiscard]] virtual bool may_lead_elsewhere() const { return false; }

    /// Ends it, even while it connects. `on_closed` follows, unless it came before.
    virtual void close() noexcept = 0;
};

/** A connection over TCP or a Unix socket, or over TLS.

    What it reads is handled as one turn, and the turn's end follows at once.
    @param tls A context without a failure. Null without TLS.
    @param names The look-ups of this node's name, shared by all its connections.
*/
[[nodiscard]] std::unique_ptr<connection> make_connection(
    const ground& on,
    std::shared_ptr<tls_context> tls,
    const node_config& config,
    std::shared_ptr<name_lookup> names
);

/// What else may explain the loss of a connection without a reply: one side speaks TLS, and the
/// other doesn't. Empty if it isn't that.
[[nodiscard]] std::string guess_about_tls(const node_config& config, const error_code& why);

}  // namespace redlock::detail

#endif
