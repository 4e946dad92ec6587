// Every public function, called as its users write it: with temporaries inside a `co_await`
// expression. GCC 12 copies the bits of some and destroys both copies, which
// <redlock/detail/birthplace.hpp> makes harmless. The program is compiled at each level of
// optimisation, with the address sanitizer, and needs no checks but that it ends well.

#include <redlock.hpp>

#include <boost/asio.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/redis_server.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;
using redlock::mode;

namespace {

/// Too long for the buffer that a string has inside, unlike `short_prefix`.
constexpr std::string_view long_prefix = "spellings-of-a-user-with-a-long-prefix:";
constexpr std::string_view short_prefix = "s:";

void require(bool holds, const char* what)
{
    if (!holds)
        throw std::runtime_error(what);
}

asio::awaitable<void> use(redlock::client& locks)
{
    auto held = co_await locks.async_try_acquire("used", 1s);
    require(static_cast<bool>(held), "a new client acquires");
    co_await held.async_release();
}

/// Runs the client for as long as `use` takes.
asio::awaitable<void> run_and_use(redlock::client locks)
{
    locks.async_run(asio::detached);
    co_await locks.async_wait_ready();
    co_await use(locks);
    co_await locks.async_close();
}

asio::awaitable<int> after_a_step(int value)
{
    co_await asio::post(asio::deferred);
    co_return value;
}

asio::awaitable<void> clients(std::string url)
{
    const auto executor = co_await asio::this_coro::executor;
    {
        redlock::client locks(
            co_await asio::this_coro::executor,
            {.nodes = redlock::parse_nodes(url), .mode = mode::plain}
        );
        co_await run_and_use(std::move(locks));
    }
    {
        int lines = 0;
        redlock::client locks(
            co_await asio::this_coro::executor,
            {.nodes = redlock::parse_nodes(url),
             .node_timeout = 100ms,
             .retry = {.max_delay = 10ms},
             .mode = mode::plain,
             .key_prefix = std::string(long_prefix),
             .log = [&lines](redlock::log_level, std::string_view) { ++lines; },
             .observer = std::make_shared<redlock::observer>()}
        );
        co_await run_and_use(std::move(locks));
        require(lines > 0, "the log of the configuration is called");
    }
    co_await run_and_use(redlock::client(
        executor, {.nodes = {1, redlock::parse_node(url)}, .mode = mode::plain, .key_prefix = "s:"}
    ));
    co_await run_and_use({executor, {.nodes = redlock::parse_nodes(url), .mode = mode::plain}});

    const auto made = std::make_unique<redlock::client>(
        co_await asio::this_coro::executor,
        redlock::client_config{.nodes = redlock::parse_nodes(url), .mode = mode::plain}
    );
    co_await run_and_use(std::move(*made));
}

asio::awaitable<void> configurations(std::string url)
{
    redlock::client_config config;
    config = {
        .nodes = redlock::parse_nodes(url),
        .node_timeout = redlock::milliseconds(co_await after_a_step(70)),
        .mode = mode::plain,
        .key_prefix = "s:",
    };
    require(config.nodes.size() == 1 && config.key_prefix == short_prefix, "config assigned");
    config.nodes.push_back({
        .host = "localhost",
        .port = static_cast<std::uint16_t>(co_await after_a_step(7)),
        .username = "someone whose name is too long for a small string",
        .tls = redlock::tls_config{.ca_file = "ca"},
    });
    config.nodes.pop_back();
    auto node = redlock::parse_node(url);
    node.tls = redlock::tls_config{.ca_file = "ca", .verify = co_await after_a_step(0) == 1};
    require(node.tls->ca_file == "ca", "tls assigned");
    node.tls.reset();
    config.nodes.assign(1, node);
    co_await run_and_use(redlock::client(co_await asio::this_coro::executor, config));
    co_await run_and_use({co_await asio::this_coro::executor, std::move(config)});
}

asio::awaitable<void> initializations(std::string url)
{
    const auto executor = co_await asio::this_coro::executor;
    redlock::diagnostics report;
    const auto is_refused = [&report](redlock::error_code ec) {
        require(ec == redlock::error::invalid_argument, "plain mode is not initialized");
        require(report.votes.size() <= 1, "the report is whole");
    };
    {
        auto [ec] = co_await redlock::async_initialize_nodes(
            executor,
            {.nodes = redlock::parse_nodes(url), .mode = mode::plain},
            &report,
            asio::as_tuple
        );
        is_refused(ec);
    }
    {
        auto [ec] = co_await redlock::async_initialize_nodes(
            co_await asio::this_coro::executor,
            {.nodes = redlock::parse_nodes(url), .mode = mode::plain, .key_prefix = "s:"},
            asio::as_tuple(asio::use_awaitable)
        );
        is_refused(ec);
    }
    redlock::error_code ec;
    co_await redlock::async_initialize_nodes(
        executor,
        {.nodes = {1, redlock::node_config{.host = "a name that is too long for a small string"}},
         .mode = mode::plain},
        &report,
        asio::redirect_error(ec)
    );
    is_refused(ec);
    co_await redlock::async_initialize_nodes(
        executor, {.nodes = redlock::parse_nodes(url), .key_prefix = "s:"}, &report
    );
    require(report.votes.size() == 1, "a fresh node is initialized");
}

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

asio::awaitable<int> forty_two(redlock::lease&)
{
    co_return co_await after_a_step(42);
}

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

asio::awaitable<void> all(std::string url)
{
    co_await clients(url);
    co_await configurations(url);
    co_await initializations(url);

    redlock::client locks(
        co_await asio::this_coro::executor, {.nodes = redlock::parse_nodes(url), .key_prefix = "s:"}
    );
    locks.async_run(asio::detached);
    co_await locks.async_wait_ready(asio::cancel_after(10s));
    co_await leases(locks);
    co_await bodies(locks);
    co_await leaders(locks);
    co_await locks.async_close(asio::cancel_after(10s));
}

}  // namespace

int main()
{
    try
    {
        redlock::test::redis_server server;
        asio::io_context context{1};
        asio::co_spawn(context, all(server.url()), [](std::exception_ptr failure) {
            if (failure)
                std::rethrow_exception(failure);
        });
        context.run();
        return EXIT_SUCCESS;
    }
    catch (const std::exception& failure)
    {
        std::fprintf(stderr, "%s\n", failure.what());
        return EXIT_FAILURE;
    }
}
