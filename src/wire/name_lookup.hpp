#ifndef REDLOCK_SRC_WIRE_NAME_LOOKUP_HPP
#define REDLOCK_SRC_WIRE_NAME_LOOKUP_HPP

#include <redlock/config.hpp>
#include <redlock/error.hpp>

#include "loop/awaited_value.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace redlock::detail {

/// What a name leads to.
struct addresses
{
    std::vector<boost::asio::ip::tcp::endpoint> found;
    error_code failure;  ///< Why there are none, or why they are from an earlier look-up.
};

/** The look-ups of one node's name, kept from one connection to the next.

    The system's look-up can't be interrupted, and takes 10 s or more if name servers are down. So
    each look-up runs in its own thread. It delays neither other nodes nor other look-ups of the
    program, and nothing waits for its end: not a closed connection, nor a context, nor the process.
    A node has at most one thread: a connection that asks while a look-up is under way waits for
    that one.

    Used on the strand only. The thread shares nothing with it but the awaited value.
*/
class name_lookup
{
public:
    explicit name_lookup(const node_config& node);

    /// Begins a look-up unless one is under way. Its end calls `on_end` on any thread, so it may
    /// only post.
    void begin(std::function<void()> on_end);

    /// Forgets `on_end`, uncalled. Must be called before what `on_end` refers to is gone.
    void leave() noexcept { answer_->leave(); }

    /// Whether an earlier look-up has found addresses.
    [[nodiscard]] bool has_addresses() const noexcept { return !known_.empty(); }

    /** What to connect to now.

        While a look-up is under way, and after a temporary failure, these are the addresses that
        were found last. A name that doesn't exist has none.
    */
    [[nodiscard]] addresses result();

private:
    void take_answer() noexcept;

    std::string host_;
    std::string port_;
    std::shared_ptr<awaited_value<addresses>> answer_;
    bool under_way_ = false;
    std::vector<boost::asio::ip::tcp::endpoint> known_;
    error_code failure_;  ///< From the last look-up.
};

}  // namespace redlock::detail

#endif
