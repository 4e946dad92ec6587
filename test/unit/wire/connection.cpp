// A connection over sockets of this machine, with the test as its server.

#include "loop/platform.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/connection_fixture.hpp"
#include "support/contains.hpp"
#include "support/needed.hpp"

BOOST_AUTO_TEST_SUITE(test_connection)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::ip::tcp;

namespace {

/// Wine lacks them.
boost::test_tools::assertion_result needs_unix_sockets(boost::unit_test::test_unit_id id)
{
    asio::io_context context;
    asio::local::stream_protocol::socket tried(context);
    error_code ec;
    tried.open(asio::local::stream_protocol(), ec);
    return needed(id, !ec, "unix sockets");
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(bytes_go_both_ways, connection_fixture)
{
    connect_and_accept();
    owner->wire->write("PING");
    std::array<char, 4> got{};
    asio::read(peer, asio::buffer(got));
    BOOST_TEST(std::string_view(got.data(), got.size()) == "PING");

    asio::write(peer, asio::buffer("PONG", 4));
    run_until([this] { return !owner->inputs.empty(); });
    BOOST_TEST(received() == "PONG");
}

BOOST_FIXTURE_TEST_CASE(bytes_that_were_not_used_come_again_with_more, connection_fixture)
{
    owner->use = [](std::string_view) { return std::size_t{1}; };
    connect_and_accept();
    asio::write(peer, asio::buffer("abc", 3));
    run_until([this] { return owner->inputs.size() == 1; });
    asio::write(peer, asio::buffer("d", 1));
    run_until([this] { return owner->inputs.size() == 2; });

    BOOST_TEST(owner->inputs[0] == "abc");
    BOOST_TEST(owner->inputs[1] == "bcd");
}

BOOST_FIXTURE_TEST_CASE(input_may_be_larger_than_any_buffer_it_began_with, connection_fixture)
{
    const std::string sent(1'000'000, 'x');
    owner->use = [&](std::string_view all) { return all.size() == sent.size() ? all.size() : 0; };
    connect_and_accept();
    peer.non_blocking(true);
    std::size_t done = 0;
    run_until([&] {
        error_code ec;
        if (done < sent.size())
            done += peer.write_some(asio::buffer(sent) + done, ec);
        return !owner->inputs.empty() && owner->inputs.back().size() == sent.size();
    });

    BOOST_TEST(owner->closed == 0);
}

BOOST_FIXTURE_TEST_CASE(
    what_does_not_fit_at_once_is_written_in_order_when_there_is_room,
    connection_fixture
)
{
    connect_and_accept();
    std::string sent;
    for (int part = 0; part < 64; ++part)
    {
        const std::string bytes(200'000, static_cast<char>('0' + part));
        owner->wire->write(bytes);
        sent += bytes;
    }
    peer.non_blocking(true);
    std::string got;
    std::vector<char> part(1 << 16);
    run_until([&] {
        error_code ec;
        got.append(part.data(), peer.read_some(asio::buffer(part), ec));
        return got.size() >= sent.size();
    });

    BOOST_TEST((got == sent));
}

BOOST_FIXTURE_TEST_CASE(closing_is_told_once_and_not_in_place, connection_fixture)
{
    connect_and_accept();
    owner->wire->close();
    owner->wire->write("late");
    BOOST_TEST(owner->closed == 0);
    run_until_closed();

    BOOST_TEST(owner->code == asio::error::operation_aborted);
}

BOOST_FIXTURE_TEST_CASE(a_connection_may_be_closed_while_it_is_made, connection_fixture)
{
    connect();
    owner->wire->close();
    run_until_closed();

    BOOST_TEST(!owner->open);
}

BOOST_FIXTURE_TEST_CASE(a_name_leads_to_the_server_like_its_address, connection_fixture)
{
    node.host = "localhost";
    connect_and_accept();
    BOOST_TEST(owner->open);
}

BOOST_FIXTURE_TEST_CASE(a_connection_may_be_closed_while_its_name_is_looked_up, connection_fixture)
{
    node.host = "localhost";
    connect();
    owner->wire->close();
    BOOST_TEST(owner->closed == 0);
    run_until_closed();
    context->restart();
    context->run();  // The look-up ends, and tells nobody.

    BOOST_TEST(owner->closed == 1);
    BOOST_TEST(!owner->open);
}

BOOST_FIXTURE_TEST_CASE(a_connection_may_be_closed_by_what_it_reads, connection_fixture)
{
    owner->use = [this](std::string_view all) {
        owner->wire->close();
        return all.size();
    };
    connect_and_accept();
    asio::write(peer, asio::buffer("abc", 3));
    run_until_closed();

    BOOST_TEST(owner->inputs.size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(the_end_of_the_other_side_is_told, connection_fixture)
{
    connect_and_accept();
    peer.close();
    run_until_closed();

    BOOST_TEST(owner->code == asio::error::eof);
}

BOOST_FIXTURE_TEST_CASE(
    what_a_server_said_before_it_hung_up_is_read_though_a_write_fails,
    connection_fixture
)
{
    connect_and_accept();
    asio::write(peer, asio::buffer("full", 4));
    peer.set_option(asio::socket_base::linger(true, 0));  // Closing resets the connection.
    peer.close();
    owner->wire->write("PING");
    run_until_closed();

    BOOST_TEST(received() == "full");
    BOOST_TEST(owner->code == asio::error::connection_reset);
}

BOOST_FIXTURE_TEST_CASE(a_server_that_is_not_there_is_told, connection_fixture)
{
    acceptor.close();
    connect();
    run_until_closed();

    BOOST_TEST(owner->code == asio::error::connection_refused);
}

BOOST_FIXTURE_TEST_CASE(what_was_read_is_a_turn, connection_fixture)
{
    struct work final : detail::deferred
    {
        void on_turn_end() override { done = true; }
        bool done = false;
    } task;
    bool done_before_next = false;
    owner->use = [&](std::string_view all) {
        on.end_of_turn->defer(task);
        asio::post(*context, [&] { done_before_next = task.done; });
        return all.size();
    };
    connect_and_accept();
    asio::write(peer, asio::buffer("abc", 3));
    run_until([&] { return task.done; });
    context->poll();

    BOOST_TEST(done_before_next);
}

BOOST_FIXTURE_TEST_CASE(
    nothing_is_left_of_a_connection_when_its_context_is_destroyed,
    connection_fixture
)
{
    connect_and_accept();
    const std::weak_ptr<owner_of_test> left = owner;
    owner.reset();
    BOOST_TEST(!left.expired());
    on = detail::make_ground(server.get_executor());
    context.reset();

    BOOST_TEST(left.expired());
}

BOOST_FIXTURE_TEST_CASE(
    a_unix_socket_is_a_connection_like_any_other,
    connection_fixture,
    *boost::unit_test::precondition(needs_unix_sockets)
)
{
    const auto path = std::filesystem::temp_directory_path() /
                      ("redlock-" + std::to_string(detail::platform::process_id()) + ".sock");
    using local = asio::local::stream_protocol;
    local::acceptor local_acceptor(server, local::endpoint(path.string()));
    node.unix_socket = path.string();
    connect();
    local::socket other(server);
    accept(local_acceptor, other);
    std::filesystem::remove(path);
    run_until([this] { return owner->open; });
    asio::write(other, asio::buffer("abc", 3));
    run_until([this] { return !owner->inputs.empty(); });

    BOOST_TEST(received() == "abc");
}

// Needs a machine on which a name has two addresses: the one that swallows everything is a listener
// whose queue is full.
BOOST_FIXTURE_TEST_CASE(
    an_address_that_swallows_everything_leaves_time_for_the_next,
    connection_fixture
)
{
    node.host = "localhost";
    tcp::resolver resolver(server);
    const auto found = resolver.resolve(node.host, std::to_string(node.port));
    if (found.size() < 2 || found.begin()->endpoint().address().is_v4())
    {
        BOOST_TEST_MESSAGE("skipped: localhost has no IPv6 address before its IPv4 address");
        return;
    }
    tcp::acceptor full(server);
    full.open(tcp::v6());
    full.set_option(asio::ip::v6_only(true));
    full.bind(tcp::endpoint(asio::ip::address_v6::loopback(), node.port));
    full.listen(0);
    std::vector<tcp::socket> queue;
    for (int i = 0; i < 3; ++i)
    {
        queue.emplace_back(server);
        queue.back().async_connect(full.local_endpoint(), asio::detached);
    }

    connect_and_accept();

    BOOST_TEST(owner->open);
}

BOOST_FIXTURE_TEST_CASE(a_path_that_no_socket_can_have_is_told, connection_fixture)
{
    node.unix_socket = "/" + std::string(200, 'x');
    connect();
    BOOST_TEST(owner->closed == 0);
    run_until_closed();

    BOOST_TEST(owner->code == asio::error::name_too_long);
}

BOOST_FIXTURE_TEST_CASE(a_guess_about_tls_names_the_scheme_of_the_url, connection_fixture)
{
    const auto guess = [](const char* url) {
        return detail::guess_about_tls(parse_node(url), asio::error::eof);
    };
    BOOST_TEST(contains(guess("redis://h"), "use rediss:// in its URL"));
    BOOST_TEST(contains(guess("redis+sentinel://h/m"), "use rediss+sentinel:// in its URL"));
    BOOST_TEST(guess("unix:///h") == "");
}

BOOST_AUTO_TEST_SUITE_END()
