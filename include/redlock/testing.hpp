#ifndef REDLOCK_TESTING_HPP
#define REDLOCK_TESTING_HPP

#include <redlock/client.hpp>
#include <redlock/config.hpp>
#include <redlock/time.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

/// For the unit tests of programs that use the library. Not part of redlock.hpp: link
/// `redlock::testing`.
namespace redlock::testing {

/** Nodes without servers, and a clock that the test moves.

    A test gives its program a client from `make_client`, and lets happen to it what it fears: a
    lease that expires, is lost, or is denied. Everything else is the library as it is shipped. No
    server, no socket and no sleep is involved, so a minute passes in no time, and always in the
    same way.

    Nothing happens but in `run_until_idle`, `advance` and `freeze`, which run the context. Only
    what the library waits for is moved: a timer of the program's own goes by the real clock.

    Used by one thread. Clients may outlive it; nothing becomes due for them then.
*/
class fake_nodes
{
public:
    /** @param context Where the clients run. Must live longer than they do.
        @param count Of the nodes, 1 to 15. They are up, and empty.

        Throws std::invalid_argument for another count.
    */
    explicit fake_nodes(boost::asio::io_context& context, std::size_t count = 3);

    /// Clients may outlive the nodes; nothing becomes due for them then.
    ~fake_nodes();

    fake_nodes(const fake_nodes&) = delete;
    fake_nodes& operator=(const fake_nodes&) = delete;

    /** A client of these nodes. It still needs its `async_run`.

        Clients compete with each other, as those of several processes do.

        @param config Its list of nodes is not used. Throws std::invalid_argument as the constructor
            of `client` does; also if `key_prefix` is not that of the clients before.
    */
    [[nodiscard]] client make_client(client_config config = {});

    /// Runs the handlers that are ready, and those that they make ready. No time passes. Throws
    /// std::runtime_error after a million of them.
    void run_until_idle();

    /// Lets time pass: everything that is due happens at its time. Not negative.
    void advance(std::chrono::nanoseconds by);

    /// Lets time pass in which the program stands still, as when its process is stopped or its
    /// machine swaps. What became due meanwhile happens behind it.
    void freeze(std::chrono::nanoseconds by);

    /** Another program takes the resource on all nodes, whoever holds it.

        @param resource As given to `client::async_acquire`.
        @param ttl For so long, unless `lose` takes it away again. `forever`: a key without a ttl.
    */
    void hold_elsewhere(std::string_view resource, milliseconds ttl);

    /// The key of the resource is gone from all nodes. Its holder learns that from the next
    /// extension, which fails with `error::lease_lost`, or from its deadline.
    void lose(std::string_view resource);

    /// The first `count` nodes cannot be reached from now on, the others can. Known to the clients
    /// after the next `run_until_idle`, `advance` or `freeze`.
    void take_down(std::size_t count);

    /// Whether a quorum of the nodes has a key for the resource, whoever's it is.
    [[nodiscard]] bool held(std::string_view resource) const;

    /// Time that has passed since the nodes were made.
    [[nodiscard]] std::chrono::nanoseconds elapsed() const;

private:
    struct parts;

    std::unique_ptr<parts> parts_;
};

}  // namespace redlock::testing

#endif
