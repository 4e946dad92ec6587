// The servers of the integration tests, proven before anything is proven with them.

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
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
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/contains.hpp"
#include "support/eventually.hpp"
#include "support/needs.hpp"
#include "support/posix.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"

BOOST_AUTO_TEST_SUITE(
    test_support_servers,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

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

}  // namespace

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

BOOST_AUTO_TEST_SUITE_END()
