// The fixtures of the integration tests, proven before anything is proven with them.

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/eventually.hpp"
#include "support/needs.hpp"
#include "support/posix.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"
#include "support/tcp_proxy.hpp"
#include "support/tls_files.hpp"

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

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

descriptor listen_on(std::uint16_t port)
{
    descriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    BOOST_TEST_REQUIRE(::bind(fd.get(), generic, sizeof address) == 0);
    BOOST_TEST_REQUIRE(::listen(fd.get(), 1) == 0);
    return fd;
}

bool is_refused(std::uint16_t port)
{
    try
    {
        const resp_client client(port);
        return false;
    }
    catch (const std::system_error& failure)
    {
        return failure.code() == std::errc::connection_refused;
    }
}

bool times_out(resp_client client)
{
    try
    {
        client.command({"PING"});
        return false;
    }
    catch (const std::system_error& failure)
    {
        return failure.code() == std::errc::timed_out;
    }
}

bool is_alive(pid_t pid)
{
    const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    return !stat.empty() && stat.find(") Z ") == std::string::npos;
}

/// Runs a shell command and returns what it wrote.
std::string output_of(const std::string& command)
{
    FILE* const stream = ::popen((command + " 2>&1").c_str(), "r");
    std::string output;
    for (int c = ::fgetc(stream); c != EOF; c = ::fgetc(stream))
        output += static_cast<char>(c);
    ::pclose(stream);
    return output;
}

std::string message_of(const redis_server_options& options)
{
    try
    {
        const redis_server server(options);
        return "started";
    }
    catch (const std::runtime_error& failure)
    {
        return failure.what();
    }
}

/// What a process tells another one about its server.
struct started_server
{
    pid_t pid;
    char folder[200];
};

// Runs in a child process, which must not return into the tests.
[[noreturn]] void start_a_server_and_hang(int output)
{
    try
    {
        const redis_server server;
        started_server report{server.pid(), {}};
        server.unix_socket_path().parent_path().native().copy(report.folder, 199);
        if (::write(output, &report, sizeof report) > 0)
            ::poll(nullptr, 0, 60'000);
    }
    catch (...)
    {
    }
    ::_exit(1);
}

struct proxied_server
{
    redis_server server{};
    tcp_proxy proxy{server.port()};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(test_support, *boost::unit_test::precondition(needs("redis-server")))

BOOST_AUTO_TEST_CASE(a_condition_that_comes_true_is_noticed)
{
    int calls = 0;

    BOOST_TEST(eventually([&calls] { return ++calls == 3; }));
    BOOST_TEST(calls == 3);
}

BOOST_AUTO_TEST_CASE(a_condition_that_stays_false_is_given_up)
{
    const auto start = deadline_clock::now();

    BOOST_TEST(!eventually([] { return false; }, 20ms));
    BOOST_TEST((deadline_clock::now() - start >= 20ms));
}

BOOST_AUTO_TEST_CASE(a_reserved_port_refuses_connections_until_somebody_listens)
{
    const loopback_port port;
    BOOST_TEST(is_refused(port.number()));

    const descriptor listener = port.listen();
    BOOST_TEST(!is_refused(port.number()));
}

BOOST_AUTO_TEST_CASE(a_server_answers_on_its_port_and_on_its_socket)
{
    redis_server server;

    BOOST_TEST(resp_client(server.port()).command({"PING"}) == "PONG");
    BOOST_TEST(resp_client(server.unix_socket_path()).command({"PING"}) == "PONG");
    BOOST_TEST(server.command({"PING"}) == "PONG");
    BOOST_TEST(server.url() == "redis://127.0.0.1:" + std::to_string(server.port()));
    const std::string pid = "process_id:" + std::to_string(server.pid()) + "\r\n";
    BOOST_TEST(contains(server.command({"INFO", "server"}), pid));
}

BOOST_AUTO_TEST_CASE(a_killed_server_refuses_and_starts_again_empty_on_the_same_port)
{
    redis_server server;
    const auto port = server.port();
    server.command({"SET", "k", "v"});

    server.kill();
    BOOST_TEST(server.pid() == 0);
    BOOST_TEST(is_refused(port));

    server.start();
    BOOST_TEST(server.port() == port);
    BOOST_TEST(resp_client(port).command({"PING"}) == "PONG");
    BOOST_TEST(!server.client().exists("k"));
}

BOOST_AUTO_TEST_CASE(a_server_that_stores_every_write_finds_it_again)
{
    redis_server server({.storage = redis_storage::every_write});
    server.command({"SET", "k", "v"});

    server.restart();

    BOOST_TEST(server.client().get("k").value_or("") == "v");
    BOOST_TEST(contains(server.command({"CONFIG", "GET", "appendfsync"}), "always"));
}

BOOST_AUTO_TEST_CASE(a_restarted_server_is_another_process_on_the_same_port)
{
    redis_server server;
    const auto port = server.port();
    const pid_t before = server.pid();

    server.restart();

    BOOST_TEST(server.pid() != before);
    BOOST_TEST(resp_client(port).command({"PING"}) == "PONG");
}

BOOST_AUTO_TEST_CASE(a_server_that_ended_by_itself_starts_again)
{
    redis_server server;
    BOOST_CHECK_THROW(server.command({"SHUTDOWN", "NOSAVE"}), std::system_error);

    server.start();

    BOOST_TEST(server.command({"PING"}) == "PONG");
}

BOOST_AUTO_TEST_CASE(a_running_server_is_not_started_twice)
{
    redis_server server;

    BOOST_CHECK_THROW(server.start(), std::logic_error);
}

BOOST_AUTO_TEST_CASE(a_paused_server_accepts_but_answers_only_when_resumed)
{
    redis_server server;

    server.pause();
    BOOST_TEST(times_out(resp_client(server.port(), 50ms)));

    server.resume();
    BOOST_TEST(resp_client(server.port()).command({"PING"}) == "PONG");
}

BOOST_AUTO_TEST_CASE(a_paused_server_can_be_killed_and_started)
{
    redis_server server;

    server.pause();
    server.restart();

    BOOST_TEST(server.command({"PING"}) == "PONG");
}

BOOST_AUTO_TEST_CASE(nothing_is_left_of_a_server_after_its_end)
{
    std::optional<redis_server> server(std::in_place);
    const pid_t pid = server->pid();
    const auto folder = server->unix_socket_path().parent_path();
    server->pause();

    server.reset();

    BOOST_TEST(!is_alive(pid));
    BOOST_TEST(!std::filesystem::exists(folder));
}

BOOST_AUTO_TEST_CASE(a_server_dies_with_the_process_that_started_it)
{
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe(ends) == 0);
    const descriptor input(ends[0]);
    descriptor output(ends[1]);

    const pid_t starter = ::fork();
    if (starter == 0)
        start_a_server_and_hang(output.get());
    output.reset();
    started_server server{};
    const ssize_t got = ::read(input.get(), &server, sizeof server);
    ::kill(starter, SIGKILL);
    ::waitpid(starter, nullptr, 0);

    BOOST_TEST_REQUIRE(got == static_cast<ssize_t>(sizeof server));
    BOOST_TEST(eventually([&server] { return !is_alive(server.pid); }));
    std::filesystem::remove_all(server.folder);
}

BOOST_AUTO_TEST_CASE(a_server_inherits_no_descriptor)
{
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe(ends) == 0);
    const descriptor input(ends[0]);
    descriptor output(ends[1]);
    const redis_server server;

    output.reset();

    pollfd entry{input.get(), POLLIN, 0};
    BOOST_TEST(::poll(&entry, 1, 0) == 1);
    BOOST_TEST((entry.revents & POLLHUP) != 0);
}

BOOST_AUTO_TEST_CASE(extra_arguments_reach_the_server)
{
    const redis_server server({.extra = {"--requirepass", "secret"}});

    BOOST_TEST(server.command({"PING"}) == "-NOAUTH Authentication required.");
    BOOST_TEST(server.client().command({"AUTH", "secret"}) == "OK");
}

BOOST_AUTO_TEST_CASE(the_debug_command_is_enabled)
{
    const redis_server server;

    BOOST_TEST(server.command({"DEBUG", "SLEEP", "0"}) == "OK");
}

BOOST_AUTO_TEST_CASE(a_server_that_cannot_start_says_why)
{
    BOOST_TEST(contains(message_of({.extra = {"--no-such-option", "1"}}), "no-such-option"));
    BOOST_TEST(message_of({.program = "no-such-program"}) == "no such program: no-such-program");
    BOOST_TEST(!available("no-such-program"));
}

// The script reports a taken port at its first start, as the server does, and runs it afterwards.
BOOST_AUTO_TEST_CASE(a_port_that_was_taken_is_replaced_by_another)
{
    const temp_folder folder;
    const auto script = folder.path() / "redis-server";
    const auto ports = folder.path() / "ports";
    std::ofstream(script) << "#!/bin/sh\n"
                          << "[ \"$1\" = --version ] && exec redis-server --version\n"
                          << "echo \"$2\" >>" << shell_word(ports.native()) << "\n"
                          << "[ $(wc -l <" << shell_word(ports.native()) << ") -gt 1 ] ||\n"
                          << "    { echo 'bind: Address already in use'; exit 1; }\n"
                          << "exec redis-server \"$@\"\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);

    const redis_server server({.program = script});

    const std::string tried = read_file(ports);
    const std::size_t line_end = tried.find('\n');
    BOOST_TEST(tried.substr(line_end + 1) == std::to_string(server.port()) + "\n");
    BOOST_TEST(tried.substr(0, line_end) != std::to_string(server.port()));
    BOOST_TEST(resp_client(server.port()).command({"PING"}) == "PONG");
}

BOOST_AUTO_TEST_CASE(a_port_that_was_taken_while_the_server_was_down_is_an_error)
{
    redis_server server;
    server.kill();
    descriptor thief = listen_on(server.port());
    BOOST_CHECK_THROW(server.start(), std::runtime_error);

    thief.reset();
    server.start();

    BOOST_TEST(resp_client(server.port()).command({"PING"}) == "PONG");
}

BOOST_AUTO_TEST_CASE(several_servers_are_distinct_and_die_alone)
{
    redis_servers servers(3);
    servers[0].command({"SET", "k", "v"});
    servers[1].kill();

    BOOST_TEST(servers.urls().size() == 3u);
    BOOST_TEST(servers.urls()[2] == servers[2].url());
    BOOST_TEST(servers[0].client().exists("k"));
    BOOST_TEST(is_refused(servers[1].port()));
    BOOST_TEST(!servers[2].client().exists("k"));
}

BOOST_AUTO_TEST_CASE(replies_are_rendered_as_by_redis_cli)
{
    const redis_server server;
    resp_client client = server.client();

    BOOST_TEST(client.command({"SET", "k", "two\r\nlines"}) == "OK");
    BOOST_TEST(client.command({"GET", "k"}) == "two\r\nlines");
    BOOST_TEST(client.command({"GET", "none"}) == "(nil)");
    BOOST_TEST(client.command({"DEL", "k"}) == "(integer) 1");
    BOOST_TEST(client.command({"MGET", "k", "none"}) == "(nil)\n(nil)");
    BOOST_TEST(client.command({"KEYS", "*"}) == "(empty array)");
    BOOST_TEST(client.command({"EVAL", "return {1, {'a', 'b'}}", "0"}) == "(integer) 1\na\nb");
    BOOST_TEST(client.command({"INCR"}) == "-ERR wrong number of arguments for 'incr' command");
}

BOOST_AUTO_TEST_CASE(keys_can_be_inspected)
{
    const redis_server server;
    resp_client client = server.client();
    client.command({"SET", "k", "v", "PX", "10000"});
    client.command({"LPUSH", "list", "v"});

    BOOST_TEST((client.get("k") == "v"));
    BOOST_TEST((client.get("none") == std::nullopt));
    BOOST_CHECK_THROW(client.get("list"), std::runtime_error);
    BOOST_TEST(client.exists("k"));
    BOOST_TEST(!client.exists("none"));
    BOOST_TEST(client.pttl("k") > 9000);
    BOOST_TEST(client.pttl("k") <= 10000);
    BOOST_TEST(client.pttl("list") == -1);
    BOOST_TEST(client.pttl("none") == -2);
}

BOOST_AUTO_TEST_CASE(a_late_reply_is_never_taken_for_another)
{
    redis_server server;
    resp_client client(server.port(), 50ms);

    server.pause();
    BOOST_CHECK_THROW(client.command({"SET", "k", "v"}), std::system_error);
    server.resume();

    BOOST_CHECK_THROW(client.command({"GET", "k"}), std::system_error);
}

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

namespace {

boost::test_tools::assertion_result tls_is_built_in(boost::unit_test::test_unit_id)
{
    boost::test_tools::assertion_result result(contains(output_of("redis-cli --help"), "--tls"));
    if (!result)
    {
        std::cerr << "SKIPPED: test_support_tls needs a redis-cli with --tls\n";
        result.message() << "redis-cli has no --tls";
    }
    return result;
}

struct tls_server
{
    tls_files files{};
    tls_files stranger{};
    redis_tls tls{files.server().certificate, files.server().key, files.authority()};
    redis_server server{{.tls = tls}};

    [[nodiscard]] std::string ping(const tls_files& trusted, const tls_identity& identity) const
    {
        return output_of(
            "redis-cli -p " + std::to_string(server.port()) + " --tls --cacert " +
            shell_word(trusted.authority().native()) + " --cert " +
            shell_word(identity.certificate.native()) + " --key " +
            shell_word(identity.key.native()) + " PING"
        );
    }
};

std::string verify(const tls_files& trusted, const std::string& check, const tls_identity& who)
{
    return output_of(
        "openssl verify -CAfile " + shell_word(trusted.authority().native()) + " " + check + " " +
        shell_word(who.certificate.native())
    );
}

}  // namespace

BOOST_AUTO_TEST_SUITE(
    test_support_tls,
    *boost::unit_test::precondition(needs("redis-server")) *
        boost::unit_test::precondition(needs("redis-cli")) *
        boost::unit_test::precondition(needs("openssl")) *
        boost::unit_test::precondition(tls_is_built_in)
)

BOOST_AUTO_TEST_CASE(a_tls_server_answers_a_client_with_a_certificate_of_its_authority)
{
    const tls_server at;

    BOOST_TEST(at.ping(at.files, at.files.client()) == "PONG\n");
    BOOST_TEST(at.server.url() == "rediss://127.0.0.1:" + std::to_string(at.server.port()));
}

BOOST_AUTO_TEST_CASE(a_tls_server_refuses_a_stranger_and_is_refused_by_who_trusts_another)
{
    const tls_server at;

    BOOST_TEST(at.ping(at.files, at.stranger.client()) != "PONG\n");
    BOOST_TEST(at.ping(at.stranger, at.files.client()) != "PONG\n");
}

BOOST_AUTO_TEST_CASE(a_tls_server_does_not_answer_in_plain_text)
{
    const tls_server at;

    BOOST_CHECK_THROW(resp_client(at.server.port()).command({"PING"}), std::system_error);
    BOOST_TEST(at.server.command({"PING"}) == "PONG");
}

BOOST_AUTO_TEST_CASE(a_certificate_names_the_host_it_was_issued_for)
{
    const tls_files files;
    const tls_identity elsewhere = files.issue({.name = "elsewhere", .alt_names = "DNS:b.test"});

    BOOST_TEST(verify(files, "-verify_ip 127.0.0.1", files.server()).ends_with(": OK\n"));
    BOOST_TEST(verify(files, "-verify_hostname localhost", files.server()).ends_with(": OK\n"));
    BOOST_TEST(verify(files, "-verify_hostname b.test", elsewhere).ends_with(": OK\n"));
    BOOST_TEST(!verify(files, "-verify_ip 127.0.0.1", elsewhere).ends_with(": OK\n"));
    BOOST_TEST(!verify(files, "-verify_hostname b.test", files.server()).ends_with(": OK\n"));
}

BOOST_AUTO_TEST_CASE(every_authority_is_a_stranger_to_the_others)
{
    const tls_files files;
    const tls_files stranger;

    BOOST_TEST(verify(files, "", files.client()).ends_with(": OK\n"));
    BOOST_TEST(!verify(files, "", stranger.client()).ends_with(": OK\n"));
}

BOOST_AUTO_TEST_SUITE_END()
