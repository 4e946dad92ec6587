#include <redlock.hpp>

#include "spellings/spellings.hpp"

#include <boost/asio.hpp>

#include <chrono>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace spellings {

asio::awaitable<void> leases(redlock::client& locks)
{
    redlock::diagnostics report;
    auto held = co_await locks.async_acquire(
        std::string("order ") + std::to_string(co_await after_a_step(42)),
        {.ttl = 1s, .wait = 100ms, .owner = redlock::owner(7), .report = &report}
    );
    require(held.resource() == "order 42", "the resource is copied");
    co_await held.async_extend(2s, asio::cancel_after(1s));
    co_await held.async_extend(asio::as_tuple);
    held = co_await locks.async_try_acquire("order 43", {.ttl = 1s}, asio::cancel_after(1s));
    const auto outcome = co_await held.async_release(asio::cancel_after(1s, asio::use_awaitable));
    require(outcome == redlock::release_outcome::released, "released");
    co_await held.async_wait_lost(asio::cancel_after(1s));
    auto [ec, none] = co_await redlock::lease().async_release(asio::as_tuple);
    require(ec == redlock::error::invalid_argument, "an empty lease has nothing to release");

    const std::string name = "a resource whose name is too long for a small string";
    auto by_default = co_await locks.async_acquire(std::string("of ") + name);
    require(by_default.remaining() > 5s, "the default ttl");
    require(!co_await locks.async_try_acquire(std::string("of ") + name), "a try is denied");
    auto [failure, another] = co_await locks.async_acquire(name, asio::as_tuple);
    require(!failure && another, "a token without options");
    another = co_await locks.async_try_acquire("order 44", asio::cancel_after(1s));
}

}  // namespace spellings
