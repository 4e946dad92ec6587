#ifndef REDLOCK_TEST_SUPPORT_LOOP_HPP
#define REDLOCK_TEST_SUPPORT_LOOP_HPP

#include <boost/asio/io_context.hpp>

#include <cstdlib>

namespace redlock::test {

/** The event loop of a suite that is run twice.

    With REDLOCK_TEST_ONE_THREAD in the environment it promises Asio that one thread runs it. A
    client then has no strand, and its connections run in a run queue.
*/
class loop : public boost::asio::io_context
{
public:
    loop() : io_context(promises_one_thread() ? 1 : BOOST_ASIO_CONCURRENCY_HINT_DEFAULT) {}

private:
    static bool promises_one_thread() { return std::getenv("REDLOCK_TEST_ONE_THREAD") != nullptr; }
};

}  // namespace redlock::test

#endif
