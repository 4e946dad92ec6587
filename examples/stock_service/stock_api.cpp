#include "stock_service/stock_api.hpp"

#include "fencing/mariadb_stock.hpp"
#include "fencing/stale_token.hpp"

#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/json.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace json = boost::json;

namespace stock_service {

namespace {

constexpr std::int64_t quantity_max = 1000;
constexpr std::size_t id_digits_max = 18;  // Fits a BIGINT, whatever the digits are.

/// Thrown: what is wrong with a request, and the status that says so.
struct refusal
{
    http::status status;
    std::string message;
    const char* allow = nullptr;  ///< The method that is allowed, for 405.
};

response reply_with(http::status status, const json::object& body)
{
    response reply(status, 11);
    reply.set(http::field::content_type, "application/json");
    reply.body() = json::serialize(body) + "\n";
    return reply;
}

response reply_with(http::status status, const char* error, const std::string& message)
{
    return reply_with(status, json::object{{"error", error}, {"message", message}});
}

json::object left(std::int64_t amount)
{
    return json::object{{"left", amount}};
}

json::object sold_out(std::int64_t amount)
{
    return json::object{{"error", "sold_out"}, {"left", amount}};
}

response come_back_later(response reply)
{
    reply.set(http::field::retry_after, "1");
    return reply;
}

/// Fit for a message: not too long, and only printable characters.
std::string in_quotes(std::string_view given)
{
    std::string shown(given.substr(0, 40));
    std::ranges::replace_if(shown, [](char c) { return c < ' ' || c > '~'; }, '?');
    return "'" + shown + (given.size() > 40 ? "...'" : "'");
}

std::int64_t parse_id(std::string_view given)
{
    std::int64_t id = 0;
    const auto [end, ec] = std::from_chars(given.data(), given.data() + given.size(), id);
    const bool whole = ec == std::errc() && end == given.data() + given.size();
    if (!whole || id <= 0 || given.front() == '0' || given.size() > id_digits_max)
        throw refusal{
            http::status::bad_request,
            "an item id is a number of at most 18 digits, not " + in_quotes(given),
        };
    return id;
}

[[noreturn]] void refuse_body(const std::string& message)
{
    throw refusal{http::status::bad_request, message + ", expected {\"quantity\": 1}"};
}

std::int64_t parse_quantity(std::string_view body)
{
    boost::system::error_code ec;
    const json::value given = json::parse(body, ec);
    if (ec)
        refuse_body("the body isn't JSON: " + ec.message());
    if (!given.is_object())
        refuse_body("the body isn't a JSON object");
    for (const auto& member : given.get_object())
        if (member.key() != "quantity")
            refuse_body("unknown member " + in_quotes(member.key()));
    const json::value* const quantity = given.get_object().if_contains("quantity");
    if (quantity == nullptr)
        refuse_body("no quantity");
    const auto number = quantity->try_to_number<std::int64_t>();
    if (!number || *number < 1 || *number > quantity_max)
        refuse_body(
            "quantity is a whole number from 1 to " + std::to_string(quantity_max) + ", not " +
            in_quotes(json::serialize(*quantity))
        );
    return *number;
}

void expect_method(const request& question, http::verb method, const char* name)
{
    if (question.method() != method)
        throw refusal{
            http::status::method_not_allowed,
            in_quotes(question.method_string()) + " isn't allowed here, use " + name,
            name,
        };
}

/// The id in `/items/<id><suffix>`. Empty: the target looks different.
std::optional<std::string_view> id_in(std::string_view target, std::string_view suffix)
{
    constexpr std::string_view prefix = "/items/";
    if (!target.starts_with(prefix) || !target.ends_with(suffix) ||
        target.size() <= prefix.size() + suffix.size())
        return std::nullopt;
    target.remove_prefix(prefix.size());
    target.remove_suffix(suffix.size());
    if (target.find('/') != target.npos)
        return std::nullopt;
    return target;
}

}  // namespace

response stock_api::refuse(http::status status, const char* message)
{
    return reply_with(status, "bad_request", message);
}

asio::awaitable<response> stock_api::handle(request question)
{
    try
    {
        const auto executor = co_await asio::this_coro::executor;
        auto work = route(question);
        co_return co_await asio::co_spawn(executor, std::move(work), asio::cancel_after(limit_));
    }
    catch (...)
    {
        co_return explain(std::current_exception());
    }
}

asio::awaitable<response> stock_api::route(const request& question)
{
    const std::string_view target = question.target();
    if (target == "/healthz")
    {
        expect_method(question, http::verb::get, "GET");
        co_return health();
    }
    if (const auto id = id_in(target, "/sell"))
    {
        expect_method(question, http::verb::post, "POST");
        co_return co_await sell(parse_id(*id), parse_quantity(question.body()));
    }
    if (const auto id = id_in(target, ""))
    {
        expect_method(question, http::verb::get, "GET");
        co_return co_await show(parse_id(*id));
    }
    throw refusal{http::status::not_found, "there is nothing at " + in_quotes(target)};
}

asio::awaitable<response> stock_api::sell(std::int64_t item, std::int64_t quantity)
{
    const sale result = co_await sales_.sell(item, quantity);
    if (!result.sold)
    {
        ++counted_.sold_out;
        co_return reply_with(http::status::conflict, sold_out(result.left));
    }
    counted_.sold_units += quantity;
    co_return reply_with(http::status::ok, left(result.left));
}

asio::awaitable<response> stock_api::show(std::int64_t item)
{
    co_return reply_with(http::status::ok, left(co_await sales_.left(item)));
}

response stock_api::health() const
{
    const auto nodes = locks_.nodes();
    const auto ready =
        std::ranges::count(nodes, redlock::node_state::ready, &redlock::node_status::state);
    const bool quorum = 2 * static_cast<std::size_t>(ready) > nodes.size();
    const json::object body{
        {"nodes_ready", ready},
        {"nodes", nodes.size()},
        {"sold_units", counted_.sold_units},
        {"sold_out", counted_.sold_out},
        {"refused_stale", counted_.refused_stale},
        {"not_locked", counted_.not_locked},
    };
    return reply_with(quorum ? http::status::ok : http::status::service_unavailable, body);
}

response stock_api::explain(const std::exception_ptr& failure)
{
    try
    {
        std::rethrow_exception(failure);
    }
    catch (const refusal& no)
    {
        response reply = refuse(no.status, no.message.c_str());
        if (no.allow != nullptr)
            reply.set(http::field::allow, no.allow);
        return reply;
    }
    catch (const recipes::no_such_item& no)
    {
        return reply_with(http::status::not_found, "no_such_item", no.what());
    }
    catch (const recipes::stale_token& late)
    {
        ++counted_.refused_stale;
        return reply_with(http::status::conflict, "stale", late.what());
    }
    catch (const not_locked& no)
    {
        ++counted_.not_locked;
        const json::object body{
            {"error", "not_locked"}, {"message", no.what()}, {"nodes", no.nodes()}
        };
        return come_back_later(reply_with(http::status::service_unavailable, body));
    }
    catch (const unconfirmed& unknown)
    {
        return reply_with(http::status::internal_server_error, "unconfirmed", unknown.what());
    }
    catch (const boost::system::system_error& down)
    {
        const auto status = http::status::service_unavailable;
        return come_back_later(reply_with(status, "unavailable", down.code().message()));
    }
    catch (const std::exception& bug)
    {
        return reply_with(http::status::internal_server_error, "internal", bug.what());
    }
}

}  // namespace stock_service
