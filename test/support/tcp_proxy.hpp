#ifndef REDLOCK_TEST_SUPPORT_TCP_PROXY_HPP
#define REDLOCK_TEST_SUPPORT_TCP_PROXY_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace redlock::test {

/** A TCP proxy between a client and a server on this machine that misbehaves on command.

    Requests are the bytes from the client to the server, replies those from the server. The end of
    a stream is treated like the bytes before it: it is passed on, held, or swallowed, in order.
    A connection that is reset on one side is reset on the other at once. So is a client whose
    connection the server refuses.

    Every function may be called on any thread. It has taken effect when it returns, for open
    connections as well as for later ones.
*/
class tcp_proxy
{
public:
    /// Whether `requests()` is kept. It grows with each connection.
    enum class recording : std::uint8_t
    {
        on,
        off,
    };

    /// Listens on a loopback port of its own and connects each client to 127.0.0.1:`target`.
    explicit tcp_proxy(std::uint16_t target, recording keep = recording::on);

    /// Resets every connection.
    ~tcp_proxy();

    [[nodiscard]] std::uint16_t port() const noexcept;

    /// Returns `redis://127.0.0.1:PORT`.
    [[nodiscard]] std::string url() const;

    /// Ends all that the functions below began, except `refuse()`. What was held is forwarded now,
    /// what was swallowed stays lost.
    void pass();

    /// Keeps what the client sends.
    void hold_requests();

    /// Swallows what the client sends, and what is held of it.
    void drop_requests();

    /// Keeps what the server sends.
    void hold_replies();

    /// Puts bytes of our own before what is held of the replies of each connection.
    void precede_replies(const std::string& bytes);

    /// Swallows what the server sends, and what is held of it.
    void drop_replies();

    /// Swallows both directions and keeps the connections. No network loses bytes from the middle
    /// of a stream: to go on as one would, call `reset_all()` before `pass()`.
    void blackhole();

    /// Forwards every reply this much later than it came. Adds to what else is done to replies.
    void delay_replies(std::chrono::milliseconds delay);

    /** Forwards the bytes of both directions later than they came, in order.

        One in ten is late by more than `typical`, one in a hundred by more than ten times as much
        and so on, but none by more than `most`. The same seed draws the same delays.
    */
    void delay_at_random(
        std::chrono::milliseconds typical,
        std::chrono::milliseconds most,
        std::uint64_t seed
    );

    /// Forwards `count` more bytes of requests or replies, counted over all connections, then holds
    /// the direction, within a command if the count says so.
    void stall_after_request_bytes(std::size_t count);
    void stall_after_reply_bytes(std::size_t count);

    /// As `reset_after_reply_bytes`.
    void reset_after_request_bytes(std::size_t count);

    /** Sends the last request once more, on a connection of its own.

        A request is what came from a client at once and has been forwarded. Nobody reads the
        replies. No effect if there was none.
    */
    void replay_last_request();

    /** Forwards `count` more bytes of replies, counted over all connections, then resets all
        connections, once.

        Zero resets them when the next byte of a reply would be forwarded.
    */
    void reset_after_reply_bytes(std::size_t count);

    /// Resets all connections, with RST on both sides.
    void reset_all();

    /// New connections lead to another server. Open ones stay.
    void connect_to(std::uint16_t target);

    /// Leads open connections to another server too: what comes next from their clients goes there.
    /// As a proxy does that knows where a request ends.
    void move_connections_to(std::uint16_t target);

    /// Stops to listen: connecting is refused. Open connections stay.
    void refuse();

    /// Listens again, on the same port.
    void accept();

    /// What went in one direction over all connections so far.
    struct traffic
    {
        std::size_t received{0};   ///< Came to the proxy.
        std::size_t forwarded{0};  ///< Went on to the other side.
        std::size_t ended{0};      ///< Streams whose end went on, after all their bytes.
    };

    [[nodiscard]] traffic request_bytes() const;
    [[nodiscard]] traffic reply_bytes() const;

    /// Returns the number of connections accepted so far.
    [[nodiscard]] std::size_t connections() const;

    /// Returns the number of connections that are open now.
    [[nodiscard]] std::size_t open_connections() const;

    /// Returns what the client sent on each connection, in the order in which they were accepted,
    /// forwarded or not, up to the first MiB of each.
    [[nodiscard]] std::vector<std::string> requests() const;

private:
    class relay;

    std::unique_ptr<relay> relay_;
};

}  // namespace redlock::test

#endif
