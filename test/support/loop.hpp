#ifndef REDLOCK_TEST_SUPPORT_LOOP_HPP
#define REDLOCK_TEST_SUPPORT_LOOP_HPP

#include <boost/asio/config.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace redlock::test {

/** The event loop of a suite that is run several times.

    REDLOCK_TEST_LOOP in the environment says how it is made. `one_thread` promises Asio that one
    thread runs it: a client then has no strand, and its connections run in a run queue. `fast` is,
    besides, configured as docs/threading.md tells: Asio looks neither for more bytes nor for the
    end of a connection after a read that did not fill its buffer.
*/
class loop : public boost::asio::io_context
{
public:
    loop() : io_context(boost::asio::config_from_string(configuration())) {}

private:
    static const char* configuration()
    {
        const char* const set = std::getenv("REDLOCK_TEST_LOOP");
        const std::string_view chosen = set ? set : "";
        if (chosen.empty())
            return "";
        if (chosen == "one_thread")
            return "scheduler.concurrency_hint=1";
        if (chosen == "fast")
            return "scheduler.concurrency_hint=1\nreactor.reset_edge_on_partial_read=1";
        throw std::invalid_argument("REDLOCK_TEST_LOOP: no such loop: " + std::string(chosen));
    }
};

}  // namespace redlock::test

#endif
