#include "slow_line.hpp"

#include "posix.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <unistd.h>

namespace bench {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::minutes time_limit{5};
constexpr auto quietly = asio::as_tuple(asio::deferred);

/// Bytes on their way. None: the sender has closed.
struct parcel
{
    clock::time_point due;
    std::string bytes;
};

/// The two ends of a connection.
struct link
{
    tcp::socket client;
    tcp::socket node;
};

/// One direction of it.
struct lane
{
    lane(const std::shared_ptr<link>& owner, tcp::socket& sender, tcp::socket& receiver)
        : ends(owner), from(sender), to(receiver), arrival(sender.get_executor())
    {
    }

    std::shared_ptr<link> ends;
    tcp::socket& from;
    tcp::socket& to;
    std::deque<parcel> parcels{};
    asio::steady_timer arrival;
};

asio::awaitable<void> receive(std::shared_ptr<lane> on, clock::duration delay)
{
    std::array<char, 16384> buffer{};
    for (bool open = true; open;)
    {
        auto received = co_await on->from.async_read_some(asio::buffer(buffer), quietly);
        auto& [failure, size] = received;
        on->parcels.push_back({clock::now() + delay, std::string(buffer.data(), size)});
        if (on->parcels.size() == 1)
            on->arrival.cancel();
        open = !failure;
    }
}

asio::awaitable<void> deliver(std::shared_ptr<lane> on)
{
    boost::system::error_code failure;
    while (!failure)
    {
        on->arrival.expires_at(on->parcels.empty() ? clock::time_point::max() : on->parcels[0].due);
        co_await on->arrival.async_wait(quietly);
        if (on->parcels.empty() || on->parcels[0].due > clock::now())
            continue;  // Something has arrived.
        const parcel next = std::move(on->parcels.front());
        on->parcels.pop_front();
        if (next.bytes.empty())
            break;
        auto written = co_await asio::async_write(on->to, asio::buffer(next.bytes), quietly);
        failure = std::get<0>(written);
    }
    on->to.shutdown(tcp::socket::shutdown_send, failure);
}

void carry(
    const std::shared_ptr<link>& ends,
    tcp::socket& from,
    tcp::socket& to,
    clock::duration delay
)
{
    auto on = std::make_shared<lane>(ends, from, to);
    asio::co_spawn(from.get_executor(), receive(on, delay), asio::detached);
    asio::co_spawn(from.get_executor(), deliver(on), asio::detached);
}

asio::awaitable<void> serve(tcp::acceptor& door, std::uint16_t port, clock::duration delay)
{
    const tcp::endpoint node(asio::ip::address_v4::loopback(), port);
    for (;;)
    {
        auto accepted = co_await door.async_accept(quietly);
        auto& [failure, client] = accepted;
        if (failure)
            continue;
        auto ends = std::make_shared<link>(std::move(client), tcp::socket(door.get_executor()));
        auto connected = co_await ends->node.async_connect(node, quietly);
        if (std::get<0>(connected))
            continue;
        ends->client.set_option(tcp::no_delay(true));
        ends->node.set_option(tcp::no_delay(true));
        carry(ends, ends->client, ends->node, delay);
        carry(ends, ends->node, ends->client, delay);
    }
}

void run(
    const std::vector<redlock::test::descriptor>& listeners,
    std::span<const std::uint16_t> ports,
    clock::duration delay
)
{
    asio::io_context context{1};
    std::deque<tcp::acceptor> acceptors;
    for (std::size_t node = 0; node < ports.size(); ++node)
    {
        const int listener = checked(::dup(listeners[node].get()), "dup");
        acceptors.emplace_back(context).assign(tcp::v4(), listener);
        asio::co_spawn(context, serve(acceptors.back(), ports[node], delay), asio::detached);
    }
    context.run();
}

// The listeners are made before the process, so that nobody is refused.
child fork_proxy(
    const std::deque<redlock::test::loopback_port>& doors,
    std::span<const std::uint16_t> ports,
    clock::duration delay
)
{
    std::vector<redlock::test::descriptor> listeners;
    for (const redlock::test::loopback_port& door : doors)
        listeners.push_back(door.listen());
    return child(time_limit, [&] { run(listeners, ports, delay); });
}

}  // namespace

slow_line::slow_line(std::span<const std::uint16_t> ports, std::chrono::milliseconds delay)
    : ports_(ports.size()), proxy_(fork_proxy(ports_, ports, delay))
{
}

std::vector<std::uint16_t> slow_line::ports() const
{
    std::vector<std::uint16_t> numbers;
    for (const redlock::test::loopback_port& each : ports_)
        numbers.push_back(each.number());
    return numbers;
}

}  // namespace bench
