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
    error_code failure;  ///< Why there are none, or why they are older ones.
};

/** The look-ups of the name of one node, from one connection to the next.

    A look-up of the system cannot be cut short, and name servers that are down make it last for
    10 s and more. So each runs in a thread of its own, which delays neither other nodes nor other
    look-ups of the program, and nobody waits for its end: not a connection that is closed, nor a
    context, nor the process. A node has one thread at most: who asks while a look-up is under way
    waits for that one.

    Used on the strand only. The thread shares nothing with it but the awaited value.
*/
class name_lookup
{
public:
    explicit name_lookup(const node_config& node);

    /// Begins a look-up unless one is under way. Its end calls `on_end`, on any thread: it may only
    /// post.
    void begin(std::function<void()> on_end);

    /// Forgets `on_end`, uncalled. To be called before what it refers to is gone.
    void leave() noexcept { answer_->leave(); }

    /// Whether an earlier look-up has found addresses.
    [[nodiscard]] bool has_addresses() const noexcept { return !known_.empty(); }

    /** What to connect to now.

        While a look-up is under way, and after one that failed for the time being, these are the
        addresses that were found last. A name that does not exist has none.
    */
    [[nodiscard]] addresses result();

private:
    void take_answer() noexcept;

    std::string host_;
    std::string port_;
    std::shared_ptr<awaited_value<addresses>> answer_;
    bool under_way_ = false;
    std::vector<boost::asio::ip::tcp::endpoint> known_;
    error_code failure_;  ///< Of the last look-up.
};

}  // namespace redlock::detail

#endif
