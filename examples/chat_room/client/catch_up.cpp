#include "chat_room/client/catch_up.hpp"

#include <boost/asio/this_coro.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <stdexcept>
#include <string_view>

namespace chat {

namespace json = boost::json;

namespace {

using namespace std::chrono_literals;

/// A server sends its status every 500 ms, but this machine may be busy.
constexpr auto longest_gap = 10s;

asio::awaitable<json::object> next_of(connection& from, std::string_view type)
{
    for (;;)
    {
        const std::string frame = co_await from.receive(longest_gap);
        json::object told = json::parse(frame).as_object();
        if (told.at("type").as_string() == type)
            co_return told;
        if (told.at("type").as_string() == "error")
            throw std::runtime_error(frame);
    }
}

}  // namespace

asio::awaitable<std::size_t> catch_up(std::uint16_t port, std::string room, std::size_t tail)
{
    connection link(co_await asio::this_coro::executor);
    co_await link.open(port);
    const json::object join{{"type", "join"}, {"room", room}, {"name", "late"}, {"tail", tail}};
    co_await link.send(json::serialize(join));
    const json::object welcome = co_await next_of(link, "welcome");
    const auto last = welcome.at("last").to_number<std::uint64_t>();

    std::size_t count = 0;
    for (std::uint64_t heard = 0; heard < last; ++count)
    {
        const json::object told = co_await next_of(link, "message");
        const auto seq = told.at("seq").to_number<std::uint64_t>();
        if (heard != 0 && seq != heard + 1)
            throw std::runtime_error("no message " + std::to_string(heard + 1));
        heard = seq;
    }
    co_return count;
}

}  // namespace chat
