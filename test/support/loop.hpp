#ifndef REDLOCK_TEST_SUPPORT_LOOP_HPP
#define REDLOCK_TEST_SUPPORT_LOOP_HPP

#include <boost/asio/config.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdlib>

namespace redlock::test {

/** The event loop of a suite that is run twice.

    With REDLOCK_TEST_ONE_THREAD in the environment it is configured as docs/threading.md tells for
    one thread. A client then has no strand, its connections run in a run queue, and Asio does not
    look for more, nor for the end of a connection, after a read that did not fill its buffer.
*/
class loop : public boost::asio::io_context
{
public:
    loop() : io_context(boost::asio::config_from_string(configuration())) {}

private:
    static const char* configuration()
    {
        if (std::getenv("REDLOCK_TEST_ONE_THREAD") == nullptr)
            return "";
        return "scheduler.concurrency_hint=1\nreactor.reset_edge_on_partial_read=1";
    }
};

}  // namespace redlock::test

#endif
