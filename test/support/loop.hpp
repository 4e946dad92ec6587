#ifndef REDLOCK_TEST_SUPPORT_LOOP_HPP
#define REDLOCK_TEST_SUPPORT_LOOP_HPP

#include <boost/asio/io_context.hpp>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace redlock::test {

/** The event loop of a suite that is run several times.

    REDLOCK_TEST_LOOP in the environment says how it is made. `one_thread` promises Asio that one
    thread runs it.
*/
class loop : public boost::asio::io_context
{
public:
    loop() : io_context(concurrency_hint()) {}

private:
    static int concurrency_hint()
    {
        const char* const set = std::getenv("REDLOCK_TEST_LOOP");
        const std::string_view chosen = set ? set : "";
        if (chosen.empty())
            return BOOST_ASIO_CONCURRENCY_HINT_DEFAULT;
        if (chosen == "one_thread")
            return 1;
        throw std::invalid_argument("REDLOCK_TEST_LOOP: no such loop: " + std::string(chosen));
    }
};

}  // namespace redlock::test

#endif
