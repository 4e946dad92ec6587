#include "fencing/redis_stock.hpp"

#include "fenced_lua.hpp"
#include "fencing/stale_token.hpp"

#include <boost/asio/consign.hpp>
#include <boost/asio/detached.hpp>
#include <boost/redis/connection.hpp>

#include <charconv>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace asio = boost::asio;
namespace redis = boost::redis;

namespace recipes {

struct redis_stock::connection
{
    redis::connection redis;
};

namespace {

template <class Number>
Number number(std::string_view text)
{
    Number result = 0;
    std::from_chars(text.data(), text.data() + text.size(), result);
    return result;
}

[[noreturn]] void throw_refusal(std::string_view reply)
{
    constexpr std::string_view refused = "FENCED ";
    if (!reply.starts_with(refused))
        throw std::runtime_error("the store said: " + std::string(reply));
    reply.remove_prefix(refused.size());
    throw stale_token(redlock::fencing_token::from_value(number<std::uint64_t>(reply)));
}

}  // namespace

redis_stock::redis_stock(asio::any_io_executor executor, std::uint16_t port, std::string key)
    : connection_(std::make_shared<connection>(
          redis::connection(std::move(executor), redis::logger(redis::logger::level::disabled))
      )),
      key_(std::move(key))
{
    redis::config config;
    config.addr = {"127.0.0.1", std::to_string(port)};
    connection_->redis.async_run(config, asio::consign(asio::detached, connection_));
}

redis_stock::~redis_stock()
{
    connection_->redis.cancel();
}

asio::awaitable<std::int64_t> redis_stock::read(redlock::fencing_token token)
{
    const std::optional<std::string> value = co_await run(token, std::nullopt);
    co_return number<std::int64_t>(value.value_or("0"));
}

asio::awaitable<void> redis_stock::write(redlock::fencing_token token, std::int64_t amount)
{
    co_await run(token, std::to_string(amount));
}

// snippet: redis_stock
asio::awaitable<std::optional<std::string>> redis_stock::run(
    redlock::fencing_token token,
    std::optional<std::string> value
)
{
    std::vector<std::string> arguments{fenced_lua, "1", key_, std::to_string(token.value())};
    if (value)
        arguments.push_back(*value);
    redis::request request;
    request.push_range("EVAL", arguments);
    redis::response<std::optional<std::string>> response;

    co_await connection_->redis.async_exec(request, response);

    const auto& reply = std::get<0>(response);
    if (reply.has_error())
        throw_refusal(reply.error().diagnostic);
    co_return reply.value();
}
// end snippet

}  // namespace recipes
