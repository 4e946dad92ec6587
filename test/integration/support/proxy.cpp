// The proxy of the integration tests, proven before anything is proven with it.

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

#include "support/contains.hpp"
#include "support/eventually.hpp"
#include "support/needs.hpp"
#include "support/posix.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"
#include "support/tcp_proxy.hpp"

BOOST_AUTO_TEST_SUITE(
    test_support_proxy,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

const std::string ping = "*1\r\n$4\r\nPING\r\n";
const std::string pong = "+PONG\r\n";

/// A connection on which a test sees bytes and not commands.
class raw_client
{
public:
    explicit raw_client(std::uint16_t port) : socket_(connect_tcp(port))
    {
        wait_ready(socket_.get(), POLLOUT, deadline_clock::now() + 5s);
    }

    void send(const std::string& bytes)
    {
        const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        BOOST_TEST_REQUIRE(sent == static_cast<ssize_t>(bytes.size()));
    }

    /// Reads `count` bytes, or fewer if the stream ends. A reset throws.
    std::string receive(std::size_t count)
    {
        std::string bytes;
        while (bytes.size() < count)
        {
            wait_ready(socket_.get(), POLLIN, deadline_clock::now() + 5s);
            std::string part(count - bytes.size(), '\0');
            const ssize_t got = ::recv(socket_.get(), part.data(), part.size(), 0);
            if (got < 0)
                throw_errno("recv");
            if (got == 0)
                break;
            bytes.append(part, 0, static_cast<std::size_t>(got));
        }
        return bytes;
    }

    /// Returns whether bytes, an end or an error can be read now.
    [[nodiscard]] bool is_readable() const
    {
        pollfd entry{socket_.get(), POLLIN, 0};
        return ::poll(&entry, 1, 0) > 0;
    }

    [[nodiscard]] bool was_reset()
    {
        try
        {
            receive(1);
            return false;
        }
        catch (const std::system_error& failure)
        {
            return failure.code() == std::errc::connection_reset;
        }
    }

    void finish() { ::shutdown(socket_.get(), SHUT_WR); }

private:
    descriptor socket_;
};

struct proxied_server
{
    redis_server server{};
    tcp_proxy proxy{server.port()};
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_proxy_passes_bytes_and_counts_them)
{
    proxied_server at;
    raw_client client(at.proxy.port());

    client.send(ping);

    BOOST_TEST(client.receive(pong.size()) == pong);
    BOOST_TEST(at.proxy.connections() == 1u);
    BOOST_TEST(at.proxy.request_bytes().received == ping.size());
    BOOST_TEST(at.proxy.request_bytes().forwarded == ping.size());
    BOOST_TEST(at.proxy.reply_bytes().received == pong.size());
    BOOST_TEST(at.proxy.reply_bytes().forwarded == pong.size());
}

BOOST_AUTO_TEST_CASE(a_proxy_passes_more_than_its_queues_hold)
{
    proxied_server at;
    resp_client client(at.proxy.port(), 20s);
    const std::string value(5'000'000, 'v');

    BOOST_TEST(client.command({"SET", "k", value}) == "OK");
    BOOST_TEST((client.get("k") == value));
}

BOOST_AUTO_TEST_CASE(a_proxy_waits_for_a_slow_reader)
{
    constexpr std::size_t size = 30'000'000;
    proxied_server at;
    at.server.command({"SETRANGE", "k", std::to_string(size - 1), "x"});
    raw_client client(at.proxy.port());

    client.send("GET k\r\n");
    const auto stalled = [&at, last = std::size_t{0}]() mutable {
        const std::size_t now = at.proxy.reply_bytes().received;
        return std::exchange(last, now) == now && now > 0;
    };
    BOOST_TEST(eventually(stalled));
    BOOST_TEST(at.proxy.reply_bytes().received < size);

    const std::string header = "$" + std::to_string(size) + "\r\n";
    BOOST_TEST(client.receive(header.size()) == header);
    BOOST_TEST(client.receive(size + 2).ends_with("x\r\n"));
}

BOOST_AUTO_TEST_CASE(a_proxy_passes_the_end_of_a_stream_after_its_bytes)
{
    proxied_server at;
    raw_client client(at.proxy.port());

    client.send(ping);
    client.finish();

    BOOST_TEST(client.receive(100) == pong);
    BOOST_TEST(eventually([&at] { return at.proxy.open_connections() == 0; }));
}

BOOST_AUTO_TEST_CASE(held_replies_arrive_when_passed)
{
    proxied_server at;
    raw_client client(at.proxy.port());

    at.proxy.hold_replies();
    client.send(ping);
    BOOST_TEST(eventually([&at] { return at.proxy.reply_bytes().received == pong.size(); }));
    BOOST_TEST(at.proxy.reply_bytes().forwarded == 0u);
    BOOST_TEST(!client.is_readable());

    at.proxy.pass();
    BOOST_TEST(client.receive(pong.size()) == pong);
}

BOOST_AUTO_TEST_CASE(a_held_end_arrives_when_passed)
{
    proxied_server at;
    raw_client client(at.proxy.port());
    client.send(ping);
    client.receive(pong.size());

    at.proxy.hold_replies();
    at.server.kill();
    BOOST_TEST(!eventually([&client] { return client.is_readable(); }, 50ms));

    at.proxy.pass();
    BOOST_TEST(client.receive(1) == "");
}

BOOST_AUTO_TEST_CASE(held_requests_reach_the_server_when_passed)
{
    proxied_server at;
    resp_client direct = at.server.client();
    raw_client client(at.proxy.port());

    at.proxy.hold_requests();
    client.send("SET k v\r\n");
    BOOST_TEST(eventually([&at] { return at.proxy.request_bytes().received == 9; }));
    BOOST_TEST(at.proxy.request_bytes().forwarded == 0u);
    BOOST_TEST(!direct.exists("k"));

    at.proxy.pass();
    BOOST_TEST(client.receive(5) == "+OK\r\n");
    BOOST_TEST(direct.exists("k"));
}

BOOST_AUTO_TEST_CASE(dropped_replies_are_lost_though_the_server_acted)
{
    proxied_server at;
    resp_client direct = at.server.client();
    raw_client client(at.proxy.port());

    at.proxy.drop_replies();
    client.send("SET k v\r\n");
    BOOST_TEST(eventually([&at] { return at.proxy.reply_bytes().received == 5; }));
    BOOST_TEST(direct.exists("k"));

    at.proxy.pass();
    client.send(ping);
    BOOST_TEST(client.receive(pong.size()) == pong);
    BOOST_TEST(at.proxy.reply_bytes().forwarded == pong.size());
}

BOOST_AUTO_TEST_CASE(a_black_hole_swallows_both_directions_and_keeps_the_connection)
{
    proxied_server at;
    raw_client client(at.proxy.port());

    at.proxy.blackhole();
    client.send("SET k v\r\n");
    BOOST_TEST(eventually([&at] { return at.proxy.request_bytes().received == 9; }));
    BOOST_TEST(at.proxy.request_bytes().forwarded == 0u);
    BOOST_TEST(at.proxy.open_connections() == 1u);

    at.proxy.pass();
    client.send(ping);
    BOOST_TEST(client.receive(pong.size()) == pong);
    BOOST_TEST(!at.server.client().exists("k"));
}

BOOST_AUTO_TEST_CASE(delayed_replies_come_later_and_in_order)
{
    proxied_server at;
    raw_client client(at.proxy.port());
    at.proxy.delay_replies(30ms);
    const auto start = deadline_clock::now();

    client.send("ECHO 1\r\nECHO 2\r\n");

    BOOST_TEST(client.receive(14) == "$1\r\n1\r\n$1\r\n2\r\n");
    BOOST_TEST((deadline_clock::now() - start >= 30ms));
}

BOOST_AUTO_TEST_CASE(delayed_replies_come_at_once_when_passed)
{
    proxied_server at;
    raw_client client(at.proxy.port());
    at.proxy.delay_replies(1h);
    client.send(ping);
    BOOST_TEST(eventually([&at] { return at.proxy.reply_bytes().received == pong.size(); }));

    at.proxy.pass();

    BOOST_TEST(client.receive(pong.size()) == pong);
}

BOOST_AUTO_TEST_CASE(a_reset_comes_after_exactly_the_given_number_of_reply_bytes)
{
    for (const std::size_t count : {1u, 6u, 7u, 10u, 14u})
    {
        BOOST_TEST_CONTEXT("after " << count << " bytes")
        {
            proxied_server at;
            raw_client client(at.proxy.port());
            raw_client other(at.proxy.port());
            at.proxy.reset_after_reply_bytes(count);

            client.send(ping + ping + ping);

            BOOST_TEST(client.receive(count) == (pong + pong + pong).substr(0, count));
            BOOST_TEST(client.was_reset());
            BOOST_TEST(other.was_reset());
            BOOST_TEST(at.proxy.reply_bytes().forwarded == count);
            BOOST_TEST(at.proxy.open_connections() == 0u);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_reset_after_no_bytes_comes_with_the_next_reply)
{
    proxied_server at;
    raw_client client(at.proxy.port());

    at.proxy.reset_after_reply_bytes(0);
    BOOST_TEST(at.proxy.open_connections() == 1u);

    client.send("SET k v\r\n");
    BOOST_TEST(client.was_reset());
    BOOST_TEST(at.proxy.reply_bytes().forwarded == 0u);
    BOOST_TEST(at.server.client().exists("k"));
}

BOOST_AUTO_TEST_CASE(a_reset_comes_after_exactly_the_given_number_of_request_bytes)
{
    proxied_server at;
    raw_client client(at.proxy.port());

    at.proxy.reset_after_request_bytes(ping.size() + 3);
    client.send(ping + ping);

    BOOST_TEST(eventually([&at] { return at.proxy.open_connections() == 0; }));
    BOOST_TEST(at.proxy.request_bytes().forwarded == ping.size() + 3);
}

BOOST_AUTO_TEST_CASE(a_stalled_command_goes_on_when_passed)
{
    proxied_server at;
    raw_client client(at.proxy.port());
    at.proxy.stall_after_request_bytes(3);
    client.send(ping);
    BOOST_TEST(eventually([&at] { return at.proxy.request_bytes().forwarded == 3; }));

    at.proxy.pass();

    BOOST_TEST(client.receive(pong.size()) == pong);
}

BOOST_AUTO_TEST_CASE(a_stalled_reply_goes_on_when_passed)
{
    proxied_server at;
    raw_client client(at.proxy.port());
    at.proxy.stall_after_reply_bytes(3);

    client.send(ping);
    BOOST_TEST(client.receive(3) == pong.substr(0, 3));
    BOOST_TEST(at.proxy.reply_bytes().forwarded == 3u);

    at.proxy.pass();
    BOOST_TEST(client.receive(pong.size() - 3) == pong.substr(3));
}

BOOST_AUTO_TEST_CASE(dropped_requests_never_reach_the_server)
{
    proxied_server at;
    raw_client client(at.proxy.port());

    at.proxy.drop_requests();
    client.send("SET k v\r\n");
    BOOST_TEST(eventually([&at] { return at.proxy.request_bytes().received == 9; }));
    at.proxy.pass();
    client.send(ping);

    BOOST_TEST(client.receive(pong.size()) == pong);
    BOOST_TEST(!at.server.client().exists("k"));
}

BOOST_AUTO_TEST_CASE(random_delays_keep_the_order_and_differ)
{
    proxied_server at;
    raw_client client(at.proxy.port());
    at.proxy.delay_at_random(5ms, 50ms, 1);

    const auto start = deadline_clock::now();
    for (int count = 0; count < 20; ++count)
    {
        client.send("ECHO " + std::to_string(count % 10) + "\r\n");
        BOOST_TEST(client.receive(7) == "$1\r\n" + std::to_string(count % 10) + "\r\n");
    }

    BOOST_TEST((deadline_clock::now() - start >= 20ms));
}

BOOST_AUTO_TEST_CASE(a_replayed_request_is_executed_again_and_its_reply_is_not_seen)
{
    proxied_server at;
    raw_client client(at.proxy.port());
    at.proxy.replay_last_request();  // There is none.
    client.send("INCR k\r\n");
    BOOST_TEST(client.receive(4) == ":1\r\n");

    at.proxy.replay_last_request();

    BOOST_TEST(eventually([&at] { return at.server.client().get("k") == "2"; }));
    client.send(ping);
    BOOST_TEST(client.receive(pong.size()) == pong);
}

BOOST_AUTO_TEST_CASE(a_proxy_that_does_not_record_has_no_requests)
{
    redis_server server;
    tcp_proxy proxy(server.port(), tcp_proxy::recording::off);
    raw_client client(proxy.port());

    client.send(ping);

    BOOST_TEST(client.receive(pong.size()) == pong);
    BOOST_TEST(proxy.requests() == std::vector<std::string>{""}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(connections_after_a_reset_are_not_reset)
{
    proxied_server at;
    raw_client first(at.proxy.port());
    at.proxy.reset_after_reply_bytes(pong.size());
    first.send(ping);
    first.receive(pong.size());
    BOOST_TEST(first.was_reset());

    raw_client second(at.proxy.port());
    second.send(ping + ping);

    BOOST_TEST(second.receive(2 * pong.size()) == pong + pong);
}

BOOST_AUTO_TEST_CASE(all_connections_are_reset_on_demand_on_both_sides)
{
    proxied_server at;
    raw_client client(at.proxy.port());
    client.send(ping);
    client.receive(pong.size());

    at.proxy.reset_all();

    BOOST_TEST(client.was_reset());
    BOOST_TEST(eventually([&at] {
        return contains(at.server.command({"INFO", "clients"}), "connected_clients:1\r\n");
    }));
}

BOOST_AUTO_TEST_CASE(a_proxy_refuses_new_connections_until_it_accepts_again)
{
    proxied_server at;
    raw_client before(at.proxy.port());

    at.proxy.refuse();
    BOOST_TEST(is_refused(at.proxy.port()));
    before.send(ping);
    BOOST_TEST(before.receive(pong.size()) == pong);

    at.proxy.accept();
    BOOST_TEST(resp_client(at.proxy.port()).command({"PING"}) == "PONG");
    BOOST_TEST(at.proxy.connections() == 2u);
}

BOOST_AUTO_TEST_CASE(a_connection_to_a_dead_server_is_reset)
{
    proxied_server at;
    at.server.kill();

    raw_client client(at.proxy.port());
    BOOST_TEST(client.was_reset());

    at.server.start();
    BOOST_TEST(resp_client(at.proxy.port()).command({"PING"}) == "PONG");
}

BOOST_AUTO_TEST_CASE(requests_are_recorded_by_connection)
{
    proxied_server at;
    raw_client first(at.proxy.port());
    raw_client second(at.proxy.port());

    second.send("ECHO 2\r\n");
    first.send(ping);
    const std::vector<std::string> sent{ping, "ECHO 2\r\n"};
    BOOST_TEST(eventually([&] { return at.proxy.requests() == sent; }));
    at.proxy.reset_all();
    raw_client third(at.proxy.port());

    BOOST_TEST(
        at.proxy.requests() == (std::vector<std::string>{ping, "ECHO 2\r\n", ""}),
        boost::test_tools::per_element()
    );
}

BOOST_AUTO_TEST_CASE(a_proxy_that_goes_away_resets_its_connections)
{
    const redis_server server;
    std::optional<tcp_proxy> proxy(std::in_place, server.port());
    const auto port = proxy->port();
    raw_client client(port);
    client.send(ping);
    client.receive(pong.size());

    proxy.reset();

    BOOST_TEST(client.was_reset());
    BOOST_TEST(is_refused(port));
}

BOOST_AUTO_TEST_CASE(an_idle_proxy_does_not_spin)
{
    proxied_server at;
    raw_client client(at.proxy.port());
    client.send(ping);
    at.proxy.hold_replies();
    client.finish();
    BOOST_TEST(eventually([&at] { return at.proxy.reply_bytes().received > 0; }));

    const std::clock_t before = std::clock();
    ::poll(nullptr, 0, 200);

    BOOST_TEST((std::clock() - before) * 1000 / CLOCKS_PER_SEC < 100);
}

BOOST_AUTO_TEST_SUITE_END()
