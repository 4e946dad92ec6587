#ifndef REDLOCK_TEST_SPELLINGS_SPELLINGS_HPP
#define REDLOCK_TEST_SPELLINGS_SPELLINGS_HPP

#include <redlock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>

#include <stdexcept>
#include <string>

// Every public function, called as its users write it: with temporaries inside a `co_await`
// expression. GCC 12 copies the bits of some and destroys both copies, which
// <redlock/detail/birthplace.hpp> makes harmless. The program is compiled at several levels of
// optimisation, with the address sanitizer, and needs no checks but that it ends well.

namespace spellings {

boost::asio::awaitable<void> clients(std::string url);
boost::asio::awaitable<void> configurations(std::string url);
boost::asio::awaitable<void> initializations(std::string url);
boost::asio::awaitable<void> leases(redlock::client& locks);
boost::asio::awaitable<void> bodies(redlock::client& locks);
boost::asio::awaitable<void> leaders(redlock::client& locks);

inline void require(bool holds, const char* what)
{
    if (!holds)
        throw std::runtime_error(what);
}

inline boost::asio::awaitable<int> after_a_step(int value)
{
    co_await boost::asio::post(boost::asio::deferred);
    co_return value;
}

}  // namespace spellings

#endif
