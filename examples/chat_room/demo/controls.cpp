#include "chat_room/demo/controls.hpp"

#include "chat_room/demo/show.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <utility>

namespace chat {

namespace beast = boost::beast;
namespace http = beast::http;
namespace json = boost::json;
namespace websocket = beast::websocket;
using namespace std::chrono_literals;
using tcp = asio::ip::tcp;
using request = http::request<http::string_body>;
using socket = websocket::stream<beast::tcp_stream>;

namespace {

constexpr std::size_t most_guests = 32;
constexpr std::size_t most_waiting = 300;
constexpr std::size_t longest_frame = 256;
constexpr std::size_t longest_head = 4096;
constexpr auto patience = 5s;

std::string random_secret()
{
    std::random_device source;
    std::string secret;
    for (int part = 0; part < 4; ++part)
    {
        char digits[9];
        std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(source()));
        secret += digits;
    }
    return secret;
}

/// Whether it comes from a page of the show, with the secret.
bool is_allowed(const request& asked, const std::string& secret, show& of)
{
    const std::string origin(asked[http::field::origin]);
    const bool ours = std::ranges::any_of(of.on, [&origin](const server_process& each) {
        return each.url() == origin;
    });
    return ours && websocket::is_upgrade(asked) && asked.target() == "/" + secret;
}

asio::awaitable<request> read_request(beast::tcp_stream& from)
{
    beast::flat_buffer buffer;
    http::request_parser<http::string_body> parser;
    parser.header_limit(longest_head);
    parser.body_limit(longest_frame);
    from.expires_after(patience);
    co_await http::async_read(from, buffer, parser, asio::use_awaitable);
    from.expires_never();
    co_return parser.release();
}

asio::awaitable<void> forbid(beast::tcp_stream& to)
{
    http::response<http::string_body> answer(http::status::forbidden, 11);
    answer.keep_alive(false);
    answer.prepare_payload();
    to.expires_after(patience);
    co_await http::async_write(to, answer, asio::use_awaitable);
}

std::string error(const std::string& text)
{
    return json::serialize(json::object{{"type", "error"}, {"text", text}});
}

}  // namespace

controls::controls(const asio::any_io_executor& executor)
    : executor_(executor),
      acceptor_(executor, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
      secret_(random_secret())
{
}

std::string controls::url() const
{
    return "ws://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
}

void controls::start(show& of)
{
    of_ = &of;
    of.on_news = [this](const std::string& news) {
        for (guest& each : guests_)
            send(each, news);
    };
    asio::co_spawn(executor_, accept(), [](const std::exception_ptr&) {});
}

void controls::stop()
{
    stopped_ = true;
    acceptor_.close();
    for (guest& each : guests_)
        each.cancel.emit(asio::cancellation_type::terminal);
}

asio::awaitable<void> controls::accept()
{
    event pause(executor_);
    while (!stopped_)
    {
        auto outcome = co_await acceptor_.async_accept(asio::as_tuple(asio::use_awaitable));
        auto& [failure, accepted] = outcome;
        if (failure)
            co_await pause.wait(100ms);  // Too many open files, mostly.
        if (failure || guests_.size() >= most_guests)
            continue;  // The socket closes.
        const auto with = guests_.emplace(guests_.end(), executor_);
        asio::co_spawn(
            executor_,
            talk(std::move(accepted), with),
            asio::bind_cancellation_slot(
                with->cancel.slot(), [this, with](std::exception_ptr) { guests_.erase(with); }
            )
        );
    }
}

asio::awaitable<void> controls::talk(tcp::socket accepted, guests::iterator with)
{
    beast::tcp_stream stream(std::move(accepted));
    const request asked = co_await read_request(stream);
    if (!is_allowed(asked, secret_, *of_))
        co_return co_await forbid(stream);
    socket link(std::move(stream));
    link.set_option(websocket::stream_base::timeout::suggested(beast::role_type::server));
    link.read_message_max(longest_frame);
    co_await link.async_accept(asked, asio::use_awaitable);

    send(*with, of_->state());
    for (const std::string& line : of_->lines())
        send(*with, line);
    const auto read = [&]() -> asio::awaitable<void> {
        for (;;)
        {
            beast::flat_buffer buffer;
            co_await link.async_read(buffer, asio::use_awaitable);
            take(*with, beast::buffers_to_string(buffer.data()));
        }
    };
    const auto write = [&]() -> asio::awaitable<void> {
        for (;;)
        {
            while (with->waiting.empty())
                co_await with->wake.wait();
            const std::string next = std::move(with->waiting.front());
            with->waiting.pop_front();
            co_await link.async_write(asio::buffer(next), asio::use_awaitable);
        }
    };
    co_await asio::experimental::make_parallel_group(
        asio::co_spawn(executor_, read(), asio::deferred),
        asio::co_spawn(executor_, write(), asio::deferred)
    )
        .async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
}

void controls::take(guest& from, const std::string& frame)
{
    boost::system::error_code failure;
    const json::value asked = json::parse(frame, failure);
    const json::value* const name =
        !failure && asked.is_object() ? asked.get_object().if_contains("do") : nullptr;
    if (name == nullptr || !name->is_string())
        return send(from, error("'do' must be a string"));
    if (const std::string why = of_->perform(name->get_string()); !why.empty())
        send(from, error(why));
}

void controls::send(guest& to, std::string frame)
{
    if (to.waiting.size() >= most_waiting)  // It reads nothing.
        return to.cancel.emit(asio::cancellation_type::terminal);
    to.waiting.push_back(std::move(frame));
    to.wake.set();
}

}  // namespace chat
