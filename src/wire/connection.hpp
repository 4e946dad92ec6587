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

/// A connection that is not in use by then is given up. The addresses of a name share this time.
inline constexpr std::chrono::milliseconds open_timeout{2000};

/** The byte stream to one server, from connecting to its loss. Opened once, never reused.

    Knows neither commands nor replies. Used on the strand only. Tests replace it to play a server.
*/
class connection
{
public:
    /// What it tells its owner, on the strand and never from within a call of the owner.
    class owner
    {
    public:
        virtual void on_open() = 0;

        /** Bytes have come.

            @param input All that was received and not used yet.
            @return How many of them were used. The others come again, with more behind them.
        */
        [[nodiscard]] virtual std::size_t on_input(std::string_view input) = 0;

        /// It is over. The last call, and it comes exactly once.
        virtual void on_closed(error_code why) = 0;

    protected:
        ~owner() = default;
    };

    virtual ~connection() = default;

    /// Connects. Keeps `of` until it is over; `of` must keep this.
    virtual void open(const std::shared_ptr<owner>& of) = 0;

    /// Writes behind what was written before: as much as fits at once, the rest when there is room.
    /// Only when open. Does nothing once closed.
    virtual void write(std::string_view bytes) = 0;

    /// What is wrong with the server's certificate. Empty: nothing is known to be.
    [[nodiscard]] virtual std::string objection() const { return {}; }

    /// Ends it, also while it connects. `on_closed` follows, unless it came before.
    virtual void close() noexcept = 0;
};

/** A connection over TCP or a Unix socket, or over TLS.

    What it reads is worked off as one turn, and the turn's end follows at once.
    @param tls Without a failure. Null without TLS.
    @param names Of this node, the same for all its connections.
*/
[[nodiscard]] std::unique_ptr<connection> make_connection(
    const ground& on,
    std::shared_ptr<tls_context> tls,
    const node_config& config,
    std::shared_ptr<name_lookup> names
);

/// What else may be behind the loss of a connection that brought no reply: one side speaks TLS, and
/// the other does not. Empty: not that.
[[nodiscard]] std::string guess_about_tls(const node_config& config, const error_code& why);

}  // namespace redlock::detail

#endif
