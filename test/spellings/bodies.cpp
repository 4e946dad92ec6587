#include <redlock.hpp>

#include "spellings/spellings.hpp"

#include <boost/asio.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace spellings {

namespace {

asio::awaitable<int> forty_two(redlock::lease&)
{
    co_return co_await after_a_step(42);
}

}  // namespace

asio::awaitable<void> bodies(redlock::client& locks)
{
    const std::string name = "a resource whose name is too long for a small string";
    int runs = 0;
    require(co_await redlock::with_lock(locks, name, {.ttl = 1s}, forty_two) == 42, "a function");
    co_await redlock::with_lock(
        locks,
        std::string("of ") + name,
        {.ttl = 1s, .hold_max = 10s},
        [&](redlock::lease& held) -> asio::awaitable<void> {
            ++runs;
            co_await held.async_extend(2s);
        }
    );
    const auto named = [name, &runs](redlock::lease&) -> asio::awaitable<std::string> {
        ++runs;
        co_return name;
    };
    require(co_await redlock::with_lock(locks, "b", {.ttl = 1s}, named) == name, "captures live");
    require(co_await redlock::with_lock(locks, name, 1s, forty_two) == 42, "a ttl");
    require(co_await redlock::with_lock(locks, name, forty_two) == 42, "no options");
    auto by_reference = [name, &runs, calls = 0](redlock::lease&) mutable -> asio::awaitable<int> {
        ++runs;
        co_return ++calls;
    };
    co_await redlock::with_lock(locks, name, std::ref(by_reference));
    require(co_await redlock::with_lock(locks, name, std::ref(by_reference)) == 2, "a reference");
    co_await redlock::with_lock(locks, name, by_reference);
    require(co_await redlock::with_lock(locks, name, by_reference) == 3, "a name is copied");
    require(runs == 6, "each body runs once");
}

/// Leads until the body has run so often.
asio::awaitable<void> leaders(redlock::client& locks)
{
    const std::string name = "a resource whose name is too long for a small string, for a leader";
    redlock::lead_metrics counts;
    int terms = 0;
    const auto named = [name, &terms](redlock::term& now) -> asio::awaitable<void> {
        require(now.held().resource().ends_with(name), "captures live");
        if (++terms % 3 == 0)
            throw std::out_of_range("enough");
        co_return;
    };
    const auto enough = [](const std::exception_ptr& failure) {
        require(failure != nullptr, "lead ends with what the body throws");
    };
    const auto executor = co_await asio::this_coro::executor;
    const redlock::lead_options options{.ttl = 1s, .pause = 1ms, .metrics = &counts};
    auto of_name = redlock::lead(locks, std::string("of ") + name, options, named);
    enough(std::get<0>(
        co_await asio::co_spawn(executor, std::move(of_name), asio::as_tuple(asio::deferred))
    ));
    enough(std::get<0>(co_await asio::co_spawn(
        executor,
        redlock::lead(locks, name, {.ttl = 1s, .pause = 1ms}, std::ref(named)),
        asio::as_tuple(asio::deferred)
    )));
    try
    {
        co_await redlock::lead(
            locks,
            std::string("in place ") + name,
            {.ttl = 1s, .pause = 1ms, .metrics = &counts},
            [&](redlock::term&) -> asio::awaitable<void> {
                ++terms;
                throw std::out_of_range("enough");
                co_return;
            }
        );
    }
    catch (const std::out_of_range&)
    {
        require(terms == 7, "each body runs once in a term");
        require(counts.terms == 4, "terms are counted");
    }
}

}  // namespace spellings
