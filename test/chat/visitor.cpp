#include "chat/visitor.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "support/client_runner.hpp"

namespace redlock::test {

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace json = boost::json;

namespace {

constexpr auto patience = 15s;

}  // namespace

visitor::visitor(chat_fixture& f, std::size_t server) : f_(f), link_(f.context.get_executor())
{
    auto opened = link_.open(f.on[server].port());
    run(f_.context, asio::co_spawn(f_.context, std::move(opened), asio::deferred));
    BOOST_TEST(next("hello").at("limits").at("text").as_int64() == 2000);
}

void visitor::send(std::string text)
{
    run(f_.context, asio::co_spawn(f_.context, link_.send(std::move(text)), asio::deferred));
}

void visitor::send_binary(std::string bytes)
{
    auto sent = link_.send_binary(std::move(bytes));
    run(f_.context, asio::co_spawn(f_.context, std::move(sent), asio::deferred));
}

json::object visitor::join(const std::string& more)
{
    const std::string end = more.empty() ? "}" : "," + more + "}";
    send(R"({"type":"join","room":"lobby","name":"Visitor")" + end);
    json::object welcome = next("welcome");
    BOOST_TEST(welcome.at("room").as_string() == "lobby");
    return welcome;
}

void visitor::say(const std::string& text)
{
    static std::size_t visitors = 0;
    if (said_ == 0)
        said_ = 1'000'000 * ++visitors;
    const std::string id = std::to_string(++said_);
    send(R"({"type":"say","id":")" + id + R"(","text":")" + text + R"("})");
}

json::object visitor::next_of(const std::vector<std::string>& types)
{
    for (;;)
    {
        auto received = link_.receive(patience);
        const std::string frame =
            run(f_.context, asio::co_spawn(f_.context, std::move(received), asio::deferred));
        const json::object told = json::parse(frame).as_object();
        const std::string found(told.at("type").as_string());
        if (std::ranges::find(types, found) != types.end())
            return told;
        if (found != "status" && found != "coordinator")
            throw std::runtime_error("not a " + types.front() + " but " + frame);
    }
}

unsigned visitor::closed()
{
    try
    {
        for (;;)
            (void)next("status");
    }
    catch (const chat::connection_closed& end)
    {
        return end.code();
    }
}

}  // namespace redlock::test
