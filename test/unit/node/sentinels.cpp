// Connections to a master that Sentinels know, with the test as the Sentinel and as the master.

#include "node/sentinels.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>

#include "support/connection_fixture.hpp"
#include "support/contains.hpp"

BOOST_AUTO_TEST_SUITE(test_sentinels)

using namespace redlock;
using namespace redlock::test;

namespace {

std::string blob(const std::string& text)
{
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

std::string published(const std::string& channel, const std::string& text)
{
    return "*3\r\n" + blob("message") + blob(channel) + blob(text);
}

const std::string unknown = "*-1\r\n-ERR No such master with that name\r\n";

/// What the fixture listens at is the Sentinel. The master is at another port.
struct sentinel_fixture : connection_fixture
{
    sentinel_fixture()
    {
        node.sentinel.emplace();
        node.sentinel->master = "m";
        node.sentinel->addresses = {{"127.0.0.1", acceptor.local_endpoint().port()}};
    }

    void open()
    {
        by = detail::make_sentinel_group(node);
        owner->wire = detail::make_master_connection(on, nullptr, node, by);
        owner->wire->open(owner);
    }

    /// Accepts the conversation. What is asked is in `asked`.
    void accept_question()
    {
        peer = asio::ip::tcp::socket(server);
        accept(acceptor, peer);
        peer.non_blocking(true);
        run_until([this] {
            char some[1024];
            error_code ec;
            asked.append(some, peer.read_some(asio::buffer(some), ec));
            return contains(asked, "+slave");
        });
    }

    void tell(const std::string& bytes) { asio::write(peer, asio::buffer(bytes)); }

    [[nodiscard]] std::string whereabouts(const std::string& replicas = "2") const
    {
        const std::string port = std::to_string(master.local_endpoint().port());
        return "*2\r\n" + blob("127.0.0.1") + blob(port) + "*6\r\n" + blob("name") + blob("m") +
               blob("runid") + blob("") + blob("num-slaves") + blob(replicas);
    }

    /// Opens a connection to the master.
    void reach_the_master()
    {
        open();
        accept_question();
        tell(whereabouts());
        accept(master, to_master);
        run_until([this] { return owner->open; });
    }

    asio::ip::tcp::acceptor master{
        server,
        asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0)
    };
    asio::ip::tcp::socket to_master{server};
    std::shared_ptr<detail::sentinel_group> by;
    std::string asked;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(the_connection_leads_to_where_the_sentinel_says, sentinel_fixture)
{
    reach_the_master();
    BOOST_TEST(contains(asked, "GET-MASTER-ADDR-BY-NAME\r\n" + blob("m")));
    BOOST_TEST(!contains(asked, "AUTH"));
    BOOST_TEST((by->replicas == 2u));

    owner->wire->write("PING");
    std::string got(4, ' ');
    asio::read(to_master, asio::buffer(got));
    BOOST_TEST(got == "PING");
    asio::write(to_master, asio::buffer("PONG", 4));
    run_until([this] { return received() == "PONG"; });
}

BOOST_FIXTURE_TEST_CASE(sentinels_have_a_login_of_their_own, sentinel_fixture)
{
    node.username = "master's";
    node.sentinel->username = "user";
    node.sentinel->password = "secret";
    open();
    accept_question();
    BOOST_TEST(contains(asked, "AUTH\r\n" + blob("user") + blob("secret")));
    BOOST_TEST(!contains(asked, "master's"));
    tell("+OK\r\n" + whereabouts());
    accept(master, to_master);
    run_until([this] { return owner->open; });
}

BOOST_FIXTURE_TEST_CASE(a_login_that_is_refused_is_told, sentinel_fixture)
{
    node.sentinel->password = "secret";
    open();
    accept_question();
    tell("-WRONGPASS no\r\n" + whereabouts());
    run_until_closed();
    BOOST_TEST(contains(owner->wire->objection(), "no Sentinel of 'm' is reachable (127.0.0.1:"));
    BOOST_TEST(contains(owner->wire->objection(), "WRONGPASS no"));
    BOOST_TEST(!contains(owner->wire->objection(), "secret"));
}

BOOST_FIXTURE_TEST_CASE(what_quotes_the_login_is_not_shown, sentinel_fixture)
{
    node.sentinel->password = "secret";
    open();
    accept_question();
    tell("-ERR unknown command 'AUTH', with args beginning with: 'secret'\r\n");
    run_until_closed();
    BOOST_TEST(contains(owner->wire->objection(), "unknown command 'AUTH'"));
    BOOST_TEST(!contains(owner->wire->objection(), "secret"));
}

BOOST_FIXTURE_TEST_CASE(
    a_sentinel_that_does_not_describe_the_master_is_not_believed,
    sentinel_fixture
)
{
    open();
    accept_question();
    tell("*2\r\n" + blob("127.0.0.1") + blob("1") + "-NOPERM no\r\n");
    run_until_closed();
    BOOST_TEST(contains(owner->wire->objection(), "NOPERM no"));
}

BOOST_FIXTURE_TEST_CASE(an_unknown_name_is_told, sentinel_fixture)
{
    open();
    accept_question();
    tell(unknown);
    run_until_closed();
    BOOST_TEST(owner->code == asio::error::not_found);
    BOOST_TEST(contains(owner->wire->objection(), "no Sentinel knows a master named 'm'"));
}

BOOST_FIXTURE_TEST_CASE(the_next_one_is_asked_if_one_says_nonsense_or_hangs_up, sentinel_fixture)
{
    const auto good = node.sentinel->addresses.front();
    node.sentinel->addresses = {good, good, good};
    open();
    accept_question();
    tell("HTTP/1.1 400 Bad Request\r\n\r\n");
    accept_question();
    peer.close();
    accept_question();
    tell(whereabouts());
    accept(master, to_master);
    run_until([this] { return owner->open; });
    BOOST_TEST(by->told_by == 2u);
    BOOST_TEST(by->first == 0u);
    by->believe();
    BOOST_TEST(by->first == 2u);
}

BOOST_FIXTURE_TEST_CASE(one_that_cannot_be_reached_is_named, sentinel_fixture)
{
    acceptor.close();
    open();
    run_until_closed();
    BOOST_TEST(owner->code == asio::error::connection_refused);
    BOOST_TEST(contains(owner->wire->objection(), "no Sentinel of 'm' is reachable (127.0.0.1:"));
}

BOOST_FIXTURE_TEST_CASE(
    news_of_another_master_or_of_another_replica_ends_the_connection,
    sentinel_fixture
)
{
    const std::string switched = "m 127.0.0.1 1 127.0.0.1 2";
    const std::string replica = "slave 127.0.0.1:3 127.0.0.1 3 @ m 127.0.0.1 1";
    for (const std::string& news :
         {published("+switch-master", switched), published("+slave", replica)})
    {
        sentinel_fixture fresh;
        fresh.reach_the_master();
        const std::string confirmed = "*3\r\n" + blob("subscribe") + blob("+switch-master") +
                                      ":1\r\n*3\r\n" + blob("subscribe") + blob("+slave") +
                                      ":2\r\n";
        fresh.tell(confirmed + published("+switch-master", "mm 127.0.0.1 1 127.0.0.1 2"));
        fresh.tell(published("+slave", "slave 127.0.0.1:3 127.0.0.1 3 @ mm 127.0.0.1 1"));
        fresh.context->restart();
        fresh.context->poll();
        BOOST_TEST(fresh.owner->closed == 0);
        fresh.tell(news);
        fresh.run_until_closed();
        BOOST_TEST(contains(fresh.owner->wire->objection(), "the group of 'm' has changed"));
    }
}

BOOST_FIXTURE_TEST_CASE(a_connection_outlives_the_sentinel_that_told_it, sentinel_fixture)
{
    reach_the_master();
    peer.close();
    acceptor.close();
    asio::write(to_master, asio::buffer("PONG", 4));
    run_until([this] { return received() == "PONG"; });
    BOOST_TEST(owner->closed == 0);
}

BOOST_FIXTURE_TEST_CASE(one_that_is_closed_while_it_asks_ends_once, sentinel_fixture)
{
    open();
    accept_question();
    owner->wire->close();
    run_until_closed();
    BOOST_TEST(owner->code == asio::error::operation_aborted);
    BOOST_TEST(!owner->open);
}

BOOST_FIXTURE_TEST_CASE(
    nothing_is_left_of_one_whose_context_is_destroyed_while_it_listens,
    sentinel_fixture
)
{
    reach_the_master();
    const std::weak_ptr<owner_of_test> left = owner;
    owner = nullptr;
    on = detail::make_ground(server.get_executor());
    context = nullptr;
    BOOST_TEST(left.expired());
}

BOOST_FIXTURE_TEST_CASE(one_that_is_closed_while_it_listens_ends_once, sentinel_fixture)
{
    reach_the_master();
    owner->wire->close();
    run_until_closed();
}

BOOST_FIXTURE_TEST_CASE(
    nothing_is_left_of_one_whose_context_is_destroyed_while_it_asks,
    sentinel_fixture
)
{
    open();
    accept_question();
    const std::weak_ptr<owner_of_test> left = owner;
    owner = nullptr;
    BOOST_TEST(!left.expired());
    on = detail::make_ground(server.get_executor());
    context = nullptr;
    BOOST_TEST(left.expired());
}

BOOST_AUTO_TEST_SUITE_END()
