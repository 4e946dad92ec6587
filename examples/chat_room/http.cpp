#include "chat_room/http.hpp"

#include "chat_room/limits.hpp"
#include "chat_room/pages.hpp"
#include "chat_room/socket.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace chat {

namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;

namespace {

using namespace std::chrono_literals;
using request = http::request<http::string_body>;
using response = http::response<http::string_body>;

tcp::acceptor listen_on(const asio::any_io_executor& executor, const options& how)
{
    const std::string where = how.address + " port " + std::to_string(how.port);
    try
    {
        return tcp::acceptor(executor, {asio::ip::make_address(how.address), how.port});
    }
    catch (const std::exception& failure)
    {
        throw std::runtime_error("cannot listen on " + where + ": " + failure.what());
    }
}

/// HOST[:PORT] without the port, and without the brackets of an IPv6 address.
std::string_view name_of(std::string_view host)
{
    if (host.starts_with('['))
        return host.substr(1, std::min(host.find(']'), host.size()) - 1);
    return host.substr(0, host.find(':'));
}

/** Whether a browser meant this server.

    A site can point its own name at this machine, and then use this server as if it were its own.
    It can't do that with an address.
*/
bool is_host(std::string_view host, const options& how)
{
    const std::string name(name_of(host));
    boost::system::error_code is_name;
    (void)asio::ip::make_address(name, is_name);
    if (!is_name || beast::iequals(name, "localhost"))
        return true;
    return std::ranges::any_of(how.allowed_hosts, [&name](const std::string& each) {
        return beast::iequals(name, each);
    });
}

/// Browsers say which site a script comes from. Other clients may say nothing, or anything.
bool is_allowed(const request& asked, const options& how)
{
    const std::string origin(asked[http::field::origin]);
    const std::string host(asked[http::field::host]);
    if (origin.empty() || beast::iequals(origin, "http://" + host) ||
        beast::iequals(origin, "https://" + host))
        return true;
    const auto names = [&origin](const std::vector<std::string>& all) {
        return std::ranges::find(all, origin) != all.end();
    };
    return names(how.allowed_origins) || names(how.peers);
}

/// What a page of this server may load, and connect to.
std::string content_policy(const options& how)
{
    std::string policy =
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "object-src 'none'; connect-src 'self'";
    for (const std::string& peer : how.peers)
        policy += " ws" + peer.substr(4);  // ws or wss, as it is http or https.
    if (!how.controls.empty())
        policy += " " + how.controls;
    return policy;
}

response make_response(const request& asked, page_answer answer, const options& how)
{
    response result(static_cast<http::status>(answer.status), asked.version());
    result.set(http::field::content_type, answer.content_type);
    result.set(http::field::cache_control, "no-cache");
    result.set("X-Content-Type-Options", "nosniff");
    result.set("Referrer-Policy", "no-referrer");
    result.set("Content-Security-Policy", content_policy(how));
    if (result.result() == http::status::method_not_allowed)
        result.set(http::field::allow, "GET, HEAD");
    result.keep_alive(asked.keep_alive());
    const std::size_t size = answer.body.size();
    if (asked.method() != http::verb::head)
        result.body() = std::move(answer.body);
    result.content_length(size);
    return result;
}

page_answer answer_to(const request& asked, const surroundings& with)
{
    if (!is_host(asked[http::field::host], with.how))
        return {421, plain_text, "this server has a different name, see --allow-host\n"};
    const bool reads = asked.method() == http::verb::get || asked.method() == http::verb::head;
    if (!reads)
        return {405, plain_text, "only GET and HEAD\n"};
    const std::string_view target = asked.target();
    const std::string_view path = target.substr(0, target.find('?'));
    if (path == "/ws")
        return {426, plain_text, "this is for WebSockets\n"};
    if (path == "/healthz")
        return health(with);
    if (path == "/metrics")
        return {200, "text/plain; version=0.0.4; charset=utf-8", measurements(with)};
    return page_file(with.how.page, path);
}

asio::awaitable<request> read_request(beast::tcp_stream& from, beast::flat_buffer& buffer)
{
    http::request_parser<http::string_body> parser;
    parser.header_limit(limits::http_head);
    parser.body_limit(limits::http_body);
    from.expires_after(limits::patience);
    co_await http::async_read(from, buffer, parser, asio::use_awaitable);
    co_return parser.release();
}

asio::awaitable<void> write_response(beast::tcp_stream& to, response answer)
{
    to.expires_after(limits::patience);
    co_await http::async_write(to, answer, asio::use_awaitable);
}

}  // namespace

http_server::http_server(surroundings with, rooms& all, asio::any_io_executor executor)
    : with_(with),
      rooms_(all),
      executor_(executor),
      acceptor_(listen_on(executor, with.how)),
      pause_(executor)
{
}

void http_server::start()
{
    asio::co_spawn(executor_, accept(), [](const std::exception_ptr&) {});
}

void http_server::stop()
{
    constexpr unsigned going_away = 1001;
    stopped_ = true;
    acceptor_.close();
    pause_.cancel();
    for (connection& each : open_)
    {
        if (each.behind)
            each.behind->close(going_away, "the server is stopping");
        else
            each.cancel.emit(asio::cancellation_type::terminal);
    }
}

void http_server::end()
{
    for (connection& each : open_)
        each.cancel.emit(asio::cancellation_type::terminal);
}

asio::awaitable<void> http_server::accept()
{
    while (!stopped_)
    {
        auto outcome = co_await acceptor_.async_accept(asio::as_tuple(asio::use_awaitable));
        auto& [failure, accepted] = outcome;
        if (!failure)
        {
            serve(std::move(accepted));
            continue;
        }
        // Usually too many open files. Some of them will close soon.
        pause_.expires_after(100ms);
        co_await pause_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

/// Peers that only connect must not keep others out, because open files are limited.
void http_server::make_room()
{
    const auto waits = [](const connection& each) { return each.waits(); };
    const auto count = std::ranges::count_if(open_, waits);
    if (static_cast<std::size_t>(count) < limits::waiting_connections)
        return;
    connection& oldest = *std::ranges::find_if(open_, waits);
    oldest.ending = true;
    with_.counts.dismissed.Increment();
    oldest.cancel.emit(asio::cancellation_type::terminal);
}

void http_server::serve(tcp::socket accepted)
{
    make_room();
    const auto entry = open_.emplace(open_.end());
    asio::co_spawn(
        executor_,
        talk(std::move(accepted), entry),
        asio::bind_cancellation_slot(
            entry->cancel.slot(), [this, entry](const std::exception_ptr&) { open_.erase(entry); }
        )
    );
}

asio::awaitable<void> http_server::talk(tcp::socket accepted, connections::iterator entry)
{
    boost::system::error_code ignored;
    accepted.set_option(tcp::no_delay(true), ignored);
    beast::tcp_stream stream(std::move(accepted));
    beast::flat_buffer buffer;
    for (bool open = true; open && !stopped_;)
    {
        request asked = co_await read_request(stream, buffer);
        const bool upgrade = beast::websocket::is_upgrade(asked) && asked.target() == "/ws";
        const bool ours = is_host(asked[http::field::host], with_.how);
        if (upgrade && ours && is_allowed(asked, with_.how))
        {
            stream.expires_never();
            entry->behind = std::make_shared<session>(with_, rooms_, executor_);
            co_await serve_socket(std::move(stream), std::move(asked), entry->behind, with_);
            co_return;
        }
        page_answer answer = upgrade && ours
                                 ? page_answer{403, plain_text, "other sites may not use this\n"}
                                 : answer_to(asked, with_);
        open = asked.keep_alive();
        co_await write_response(stream, make_response(asked, std::move(answer), with_.how));
    }
}

}  // namespace chat
