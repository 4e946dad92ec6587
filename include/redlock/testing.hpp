#ifndef REDLOCK_TESTING_HPP
#define REDLOCK_TESTING_HPP

#include <redlock/client.hpp>
#include <redlock/config.hpp>
#include <redlock/note.hpp>
#include <redlock/time.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

/// Support for unit tests of programs that use the library. Not part of redlock.hpp: link
/// `redlock::testing`.
namespace redlock::testing {

/** Nodes without servers, and a clock that the test controls.

    A test gives its program a client from `make_client`, and makes leases expire, get lost or be
    denied. Everything else is the library as shipped. There are no servers, sockets or sleeps, so a
    minute passes at once and each run is the same.

    Only `run_until_idle`, `advance` and `freeze` run the context. They affect only the library's
    waits: the program's own timers follow the real clock.

    Use it from one thread. Clients may outlive it, but then nothing becomes due for them.
*/
class fake_nodes
{
public:
    /** @param context Where the clients run. Must outlive them.
        @param count Number of nodes, 1 to 15. They are up and empty.

        Throws std::invalid_argument for any other count.
    */
    explicit fake_nodes(boost::asio::io_context& context, std::size_t count = 3);

    /// Clients may outlive the nodes, but then nothing becomes due for them.
    ~fake_nodes();

    fake_nodes(const fake_nodes&) = delete;
    fake_nodes& operator=(const fake_nodes&) = delete;

    /** Makes a client of these nodes. Call its `async_run`.

        Clients compete with each other like clients of different processes.

        @param config Its list of nodes isn't used. Throws std::invalid_argument as the constructor
            of `client` does, and if `key_prefix` differs from that of earlier clients.
    */
    [[nodiscard]] client make_client(client_config config = {});

    /// Runs all ready handlers, and those that they make ready. No time passes. Throws
    /// std::runtime_error after a million of them.
    void run_until_idle();

    /// Lets time pass. Each due event happens at its time. Not negative.
    void advance(std::chrono::nanoseconds by);

    /// Lets time pass while the program is paused, as if its process were stopped or its machine
    /// swapped. Events due in that time happen afterwards.
    void freeze(std::chrono::nanoseconds by);

    /** Another program takes the resource on all nodes, even if it is held.

        @param resource As given to `client::async_acquire`.
        @param ttl Life of the key, unless `lose` deletes it. `forever`: a key without a ttl.
        @param says What an inspection shows about that program, in guarded mode.
    */
    void hold_elsewhere(std::string_view resource, milliseconds ttl, const note& says = {});

    /// Deletes the key of the resource from all nodes, as if others had held it since. Its holder
    /// notices at the next extension, which fails with `error::lease_lost`, or at its deadline.
    void lose(std::string_view resource);

    /// Another program revokes the hold of a resource on all nodes, as with `client::async_revoke`.
    /// Does nothing if nobody holds it or the holder has no token.
    void revoke(std::string_view resource);

    /// Takes the first `count` nodes down and the others up. Clients notice in the next
    /// `run_until_idle`, `advance` or `freeze`.
    void take_down(std::size_t count);

    /** The first `count` nodes fail over to replicas that know no lock. Nodes that are down stay
        down. Clients notice in the next `run_until_idle`, `advance` or `freeze`.

        In guarded mode the nodes then sit out a quarantine, like real nodes with an `overlap`. If a
        quorum failed over, leases end at their deadline, because no extension succeeds. In plain
        mode the nodes vote at once. Make the clients first: their settings give the quarantine.

        @param count More than there are: all nodes.
        @param overlap Lengthens the quarantine, as `node_config::overlap` does. Throws
            std::invalid_argument if it is negative.
    */
    void fail_over(std::size_t count, milliseconds overlap = milliseconds(0));

    /// Whether a quorum of the nodes has a key for the resource, of any holder.
    [[nodiscard]] bool held(std::string_view resource) const;

    /// Time since the nodes were made.
    [[nodiscard]] std::chrono::nanoseconds elapsed() const;

private:
    struct parts;

    std::unique_ptr<parts> parts_;
};

}  // namespace redlock::testing

#endif
