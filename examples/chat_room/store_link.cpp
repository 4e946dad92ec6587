#include "chat_room/store_link.hpp"

#include "chat_room/store_errors.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/redis/connection.hpp>

#include <cstddef>
#include <iostream>
#include <tuple>

namespace chat {

namespace redis = boost::redis;

namespace {

using namespace std::chrono_literals;

constexpr auto pause_before_reconnecting = 200ms;

/// Reads the nodes of a reply, which come in pre-order, from `next` on.
reply read_reply(const redis::resp3::tree& nodes, std::size_t& next)
{
    const auto& node = nodes[next++];
    reply result{node.value, {}};
    while (next < nodes.size() && nodes[next].depth > node.depth)
        result.parts.push_back(read_reply(nodes, next));
    return result;
}

std::vector<reply> read_replies(const redis::resp3::tree& nodes)
{
    std::vector<reply> all;
    for (std::size_t next = 0; next < nodes.size();)
        all.push_back(read_reply(nodes, next));
    return all;
}

[[noreturn]] void throw_error(const std::string& text)
{
    if (text.starts_with("FENCED "))
        throw stale_coordinator("the room has seen token " + text.substr(7));
    if (text.starts_with("FULL "))
        throw inbox_full("more than " + text.substr(5) + " messages wait for a coordinator");
    throw store_failure("the store said: " + text);
}

redis::config make_config(const redlock::node_config& where)
{
    redis::config result;
    result.addr = {where.host, std::to_string(where.port)};
    result.unix_socket = where.unix_socket;
    result.use_setup = true;
    result.setup = redis::request();
    if (where.username.empty() && where.password.empty())
        result.setup.hello();
    else
        result.setup.hello(where.username.empty() ? "default" : where.username, where.password);
    if (where.database != 0)
        result.setup.push("SELECT", where.database);
    result.resolve_timeout = 2s;
    result.connect_timeout = 2s;
    // That of Boost.Redis would give up a connection because our own process was paused.
    result.health_check_interval = 0s;
    result.reconnect_wait_interval = 0s;  // The loop below sees each end.
    return result;
}

redis::request make_request(const std::vector<command>& commands)
{
    redis::request result;
    result.get_config().cancel_if_not_connected = true;  // The caller wants to know.
    for (const command& words : commands)
    {
        if (words.size() == 1)  // An empty range isn't a command.
            result.push(words.front());
        else
            result.push_range(words.front(), words.begin() + 1, words.end());
    }
    return result;
}

}  // namespace

command eval(
    const std::string& script,
    const std::vector<std::string>& keys,
    const std::vector<std::string>& arguments
)
{
    command words{"EVAL", script, std::to_string(keys.size())};
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
}

struct store_link::connection
{
    connection(const asio::any_io_executor& executor, const redlock::node_config& where)
        : redis(executor, redis::logger(redis::logger::level::disabled)),
          pause(executor),
          config(make_config(where))
    {
    }

    /// Members don't get the details. Once in a while the log does.
    void complain(const char* why)
    {
        const auto now = std::chrono::steady_clock::now();
        if (now < complained + 1s)
            return;
        complained = now;
        std::cerr << "store: " << why << std::endl;
    }

    /// Two timeouts in a row: the first may be our own, if this process was paused.
    void give_up_when_silent(const boost::system::error_code& ec)
    {
        if (ec == asio::error::operation_aborted && ++failures >= 2)
            redis.cancel(redis::operation::run);
    }

    redis::connection redis;
    asio::steady_timer pause;
    redis::config config;
    std::chrono::steady_clock::time_point complained;
    int failures = 0;
    bool stopped = false;
};

store_link::store_link(const asio::any_io_executor& executor, const redlock::node_config& where)
    : connection_(std::make_unique<connection>(executor, where))
{
}

store_link::~store_link() = default;

asio::any_io_executor store_link::get_executor()
{
    return connection_->redis.get_executor();
}

asio::awaitable<void> store_link::run()
{
    connection& it = *connection_;
    while (!it.stopped)
    {
        co_await it.redis.async_run(it.config, asio::as_tuple(asio::use_awaitable));
        it.redis.cancel(redis::operation::exec);
        it.failures = 0;
        if (it.stopped)
            co_return;
        it.pause.expires_after(pause_before_reconnecting);
        co_await it.pause.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

void store_link::stop()
{
    connection_->stopped = true;
    connection_->pause.cancel();
    connection_->redis.cancel();
}

asio::awaitable<std::vector<reply>> store_link::ask(
    std::vector<command> commands,
    std::chrono::milliseconds limit
)
{
    connection& it = *connection_;
    const redis::request request = make_request(commands);
    redis::generic_response response;
    auto outcome = co_await it.redis.async_exec(
        request,
        response,
        asio::cancel_after(
            limit,
            asio::bind_cancellation_slot(
                asio::cancellation_slot(), asio::as_tuple(asio::use_awaitable)
            )
        )
    );
    const auto& ec = std::get<0>(outcome);
    try
    {
        if (response.has_error())
            throw_error(response.error().diagnostic);
        if (ec)
            throw store_failure("no answer from the store: " + ec.message());
    }
    catch (const store_failure& failure)
    {
        it.complain(failure.what());
        it.give_up_when_silent(ec);
        throw;
    }
    it.failures = 0;
    co_return read_replies(response.value());
}

}  // namespace chat
