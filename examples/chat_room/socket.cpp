#include "chat_room/socket.hpp"

#include "chat_room/limits.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <utility>

namespace chat {

namespace beast = boost::beast;
namespace websocket = beast::websocket;

namespace {

using namespace std::chrono_literals;
using socket = websocket::stream<beast::tcp_stream>;

/// A client that says good-bye has this long to hear ours.
constexpr auto closing_time = 2s;

void set_up(socket& on)
{
    websocket::stream_base::timeout times{};
    times.handshake_timeout = limits::patience;
    times.idle_timeout = 3 * limits::patience;  // After half of it in silence: a ping.
    times.keep_alive_pings = true;
    on.set_option(times);
    on.read_message_max(limits::frame);
    on.auto_fragment(false);  // A frame is complete, so one write is enough.
}

asio::awaitable<void> read_frames(socket& from, session& to)
{
    for (;;)
    {
        beast::flat_buffer buffer;
        co_await from.async_read(buffer, asio::use_awaitable);
        if (from.got_text())
            co_await to.on_text(beast::buffers_to_string(buffer.data()));
        else
            co_await to.on_binary();
    }
}

asio::awaitable<void> write_frames(socket& to, session& from, metrics& counts)
{
    to.text(true);
    while (const frame next = co_await from.next())
    {
        auto outcome = co_await to.async_write(
            asio::buffer(*next),
            asio::cancel_after(
                std::chrono::milliseconds(limits::patience), asio::as_tuple(asio::use_awaitable)
            )
        );
        if (std::get<0>(outcome))
        {
            if (std::get<0>(outcome) == asio::error::operation_aborted)
                counts.too_slow.Increment();
            co_return;  // It can't learn why: its connection takes nothing.
        }
    }
    websocket::close_reason reason;
    reason.code = static_cast<websocket::close_code>(from.close_code());
    reason.reason = from.close_reason();
    co_await to.async_close(
        reason,
        asio::cancel_after(
            std::chrono::milliseconds(closing_time), asio::as_tuple(asio::use_awaitable)
        )
    );
}

}  // namespace

asio::awaitable<void> serve_socket(
    beast::tcp_stream stream,
    beast::http::request<beast::http::string_body> upgrade,
    std::shared_ptr<session> behind,
    surroundings with
)
{
    socket accepted(std::move(stream));
    set_up(accepted);
    co_await accepted.async_accept(upgrade, asio::use_awaitable);

    // Whichever ends first ends the other one too, because the stream is useless then.
    const auto executor = co_await asio::this_coro::executor;
    co_await asio::experimental::make_parallel_group(
        asio::co_spawn(executor, read_frames(accepted, *behind), asio::deferred),
        asio::co_spawn(executor, write_frames(accepted, *behind, with.counts), asio::deferred)
    )
        .async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
}

}  // namespace chat
