// A group of a master and replicas behind Sentinels, as one node.

#include <redlock/blocking.hpp>
#include <redlock/client.hpp>
#include <redlock/initialize.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <sys/socket.h>

#include "support/client_runner.hpp"
#include "support/contains.hpp"
#include "support/eventually.hpp"
#include "support/guarded_nodes.hpp"
#include "support/needs.hpp"
#include "support/posix.hpp"
#include "support/printing.hpp"
#include "support/redis_group.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_proxy.hpp"

namespace failover_tests {

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

using std::chrono::steady_clock;

/// The quarantine of `quick_config` with the overlap that follows from a lag of a second.
constexpr milliseconds quarantine = 1s + 400ms + 100ms + 3s;

/// As `guarded_config`, with a quarantine of 1500 ms.
client_config quick_config(const std::string& url)
{
    client_config made = guarded_config(std::vector{url});
    made.clock_window = 200ms;
    return made;
}

acquire_options for_long()
{
    return {.ttl = 1s, .wait = 60s};
}

struct group_fixture
{
    explicit group_fixture(redis_group_options options = {}) : group(options) {}

    [[nodiscard]] client_config config(const std::string& query = "") const
    {
        return quick_config(group.url() + query);
    }

    /// With more Sentinels, before those of the group: `127.0.0.1:PORT,`.
    [[nodiscard]] client_config config_with(const std::string& first_sentinels) const
    {
        std::string url = group.url();
        url.insert(url.find('@') + 1, first_sentinels);
        return quick_config(url);
    }

    /// Why the only node does not vote, once that is one of the texts that are waited for.
    [[nodiscard]] std::string refusal_of(client_config of, const char* expected)
    {
        client_runner client(context, std::move(of));
        std::string because;
        static_cast<void>(run_until(context, [&] {
            because = client.status(0).because;
            return contains(because, expected);
        }));
        return because;
    }

    void tell_all(const std::vector<std::string>& words)
    {
        for (std::size_t index = 0; index < group.size(); ++index)
            BOOST_TEST_REQUIRE(group.member(index).command(words) == "OK");
    }

    /// A client that has not been there before acquires.
    void acquire(const client_config& of, const std::string& resource = "a")
    {
        client_runner client(context, of);
        run(context, run(context, client->async_acquire(resource, for_long())).async_release());
    }

    asio::io_context context{1};
    redis_group group;
};

/// A Sentinel that says that the master is at this port.
class stale_sentinel
{
public:
    stale_sentinel(asio::io_context& in, std::uint16_t master)
        : acceptor_(in, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0))
    {
        const std::string port = std::to_string(master);
        says_ = "*2\r\n$9\r\n127.0.0.1\r\n$" + std::to_string(port.size()) + "\r\n" + port +
                "\r\n*2\r\n$10\r\nnum-slaves\r\n$1\r\n1\r\n";
        accept();
    }

    [[nodiscard]] std::string address() const
    {
        return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
    }

    [[nodiscard]] bool was_asked() const noexcept { return !guests_.empty(); }

private:
    void accept()
    {
        acceptor_.async_accept([this](error_code ec, asio::ip::tcp::socket guest) {
            if (ec)
                return;
            guests_.push_back(std::move(guest));
            asio::write(guests_.back(), asio::buffer(says_), ec);
            accept();
        });
    }

    asio::ip::tcp::acceptor acceptor_;
    std::string says_;
    std::vector<asio::ip::tcp::socket> guests_;
};

/// A port of a machine that is gone: nothing answers there, not even with a refusal.
class black_hole
{
public:
    black_hole()
    {
        ::listen(listens_.get(), 0);
        for (descriptor& each : full_)
            each = connect_tcp(port_.number());
    }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_.number(); }

private:
    loopback_port port_;
    descriptor listens_{port_.listen()};
    std::array<descriptor, 3> full_{};  ///< Its queue has room for one connection.
};

/// The group of the cases that do it no harm: its quarantine is over.
std::optional<group_fixture> admitted;

struct admission
{
    admission()
    {
        admitted.emplace();
        admitted->acquire(admitted->config());
    }

    ~admission() { admitted.reset(); }
};

/// That group, with the settings that it began with.
struct admitted_group
{
    admitted_group()
    {
        f.tell_all({"CONFIG", "SET", "min-replicas-to-write", "1"});
        f.tell_all({"CONFIG", "SET", "min-replicas-max-lag", "1"});
        f.tell_all({"ACL", "SETUSER", "locks", "reset", "on", ">secret", "~*", "&*", "+@all"});
    }

    group_fixture& f = *admitted;
};

std::string address_of(const loopback_port& port)
{
    return "127.0.0.1:" + std::to_string(port.number());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(
    test_sentinel_failover,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

BOOST_AUTO_TEST_CASE(a_failover_keeps_the_resource_from_all_until_the_old_master_has_ended)
{
    group_fixture f;
    client_runner holder(f.context, f.config());
    lease held = run(f.context, holder->async_acquire("a", for_long()));

    const std::size_t old = f.group.master();
    const auto begin = steady_clock::now();
    // Not where the last word of the replica is too old.
    BOOST_TEST_REQUIRE(eventually([&] {
        return f.group.ask_sentinel(0, {"SENTINEL", "FAILOVER", redis_group::name}) == "OK";
    }));
    client_runner other(f.context, f.config());
    lease next = run(f.context, other->async_acquire("a", for_long()), 60s);
    const auto pause = steady_clock::now() - begin;

    BOOST_TEST(f.group.master() != old);
    BOOST_TEST((pause > quarantine));
    BOOST_TEST(held.expired());
    BOOST_TEST(next.fence().value() > held.fence().value());
    run(f.context, next.async_release());
}

BOOST_AUTO_TEST_CASE(a_master_that_is_killed_is_replaced_by_its_replica)
{
    // In a hurry they may leave the old master, which comes back as a master, alone for a minute.
    group_fixture f({.replicas = 2, .min_replicas = 2, .pace = sentinel_pace::as_shipped});
    client_runner client(f.context, f.config());
    run(f.context, run(f.context, client->async_acquire("a", for_long())).async_release());

    const std::size_t old = f.group.master();
    f.group.member(old).kill();
    BOOST_TEST_REQUIRE(f.group.moves_from(old, 20s));
    // One replica is not all of them, until the other one is back.
    BOOST_TEST(run_until(f.context, [&] {
        return client.status(0).reason == reason::too_few_replicas;
    }));
    f.group.member(old).start();
    lease next = run(f.context, client->async_acquire("a", for_long()), 60s);
    run(f.context, next.async_release());
}

BOOST_AUTO_TEST_CASE(a_master_that_was_a_replica_in_between_votes_only_after_a_quarantine)
{
    // Sentinels in a hurry would step in.
    group_fixture f({.pace = sentinel_pace::as_shipped});
    const std::size_t master = f.group.master();
    // Not by the Sentinels, which would end its connection at once.
    const client_config direct = quick_config(
        "redis://locks:secret@127.0.0.1:" + std::to_string(f.group.member(master).port()) +
        "?overlap=100ms"
    );
    client_runner client(f.context, direct);
    lease held = run(f.context, client->async_acquire("a", for_long()));

    f.group.hand_over(master, 1 - master);
    f.group.hand_over(1 - master, master);
    const auto begin = steady_clock::now();
    run(f.context, run(f.context, client->async_acquire("b", for_long()), 60s).async_release());
    BOOST_TEST((steady_clock::now() - begin > 1500ms + 100ms));
}

// The control: nothing else keeps the two apart.
BOOST_AUTO_TEST_CASE(a_promise_that_is_too_short_lets_two_hold)
{
    group_fixture f({.min_replicas = 0});
    const std::string promise = "?overlap=1ms";
    const std::size_t old = f.group.master();
    const client_config stale = quick_config(
        "redis://locks:secret@127.0.0.1:" + std::to_string(f.group.member(old).port()) + promise
    );
    client_runner first(f.context, stale);
    run(f.context, run(f.context, first->async_acquire("a", for_long())).async_release());

    f.group.cut_off(old);
    BOOST_TEST_REQUIRE(f.group.moves_from(old, 20s));
    client_runner second(f.context, f.config(promise));
    lease one = run(f.context, second->async_acquire("a", for_long()), 60s);
    lease another = run(f.context, first->async_acquire("a", for_long()), 60s);
    BOOST_TEST(!one.expired());
    BOOST_TEST(!another.expired());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(
    test_sentinel,
    *boost::unit_test::precondition(needs("redis-server")) * boost::unit_test::fixture<admission>()
)

BOOST_FIXTURE_TEST_CASE(the_first_sentinel_need_not_answer, admitted_group)
{
    const loopback_port nobody;
    f.acquire(f.config_with(address_of(nobody) + ","));
}

BOOST_FIXTURE_TEST_CASE(a_silent_sentinel_costs_a_part_of_the_time_to_connect, admitted_group)
{
    // The kernel accepts connections, and nobody answers.
    const loopback_port first;
    const loopback_port second;
    const descriptor listens[] = {first.listen(), second.listen()};
    f.acquire(f.config_with(address_of(first) + "," + address_of(second) + ","));
}

BOOST_FIXTURE_TEST_CASE(
    a_sentinel_that_is_behind_does_not_keep_a_new_client_from_trying,
    admitted_group
)
{
    const loopback_port nobody;
    const black_hole gone;
    const std::uint16_t replica = f.group.member(1 - f.group.master()).port();
    for (const std::uint16_t stale : {nobody.number(), gone.port(), replica})
    {
        const stale_sentinel first(f.context, stale);
        client_runner client(f.context, f.config_with(first.address() + ","));
        const auto begin = steady_clock::now();
        lease held = run(f.context, client->async_try_acquire("a", 1s));
        BOOST_TEST(!held.expired());
        BOOST_TEST((steady_clock::now() - begin < 2s));
        run(f.context, held.async_release());
        BOOST_TEST(first.was_asked());
    }
}

BOOST_FIXTURE_TEST_CASE(a_blocking_client_locks_on_a_group, admitted_group)
{
    blocking::client client(f.config());
    blocking::lease held = client.acquire("a", for_long());
    BOOST_TEST(held.fence().value() > 0u);
    held.release();
}

BOOST_AUTO_TEST_CASE(sentinels_may_want_a_password_of_their_own)
{
    group_fixture f({.sentinel_password = "s3cret"});
    const std::string refused = f.refusal_of(f.config("?overlap=100ms"), "NOAUTH");
    BOOST_TEST(contains(refused, "NOAUTH"), refused);
    f.acquire(f.config("?overlap=100ms&sentinel_password=s3cret"));
}

BOOST_FIXTURE_TEST_CASE(
    a_group_that_can_have_two_masters_is_refused_with_what_to_set,
    admitted_group
)
{
    f.tell_all({"CONFIG", "SET", "min-replicas-to-write", "0"});
    const std::string few = f.refusal_of(f.config(), "min-replicas-to-write");
    BOOST_TEST(contains(few, "min-replicas-to-write is 0, but the group has 1 replicas"), few);
    BOOST_TEST(contains(few, "set min-replicas-to-write 1 on every server"), few);
    BOOST_TEST(contains(few, "?overlap=15s"), few);

    f.tell_all({"CONFIG", "SET", "min-replicas-to-write", "1"});
    f.tell_all({"CONFIG", "SET", "min-replicas-max-lag", "0"});
    const std::string lag = f.refusal_of(f.config(), "max-lag");
    BOOST_TEST(contains(lag, "min-replicas-max-lag is 0, must be 1 to 60"), lag);

    f.tell_all({"ACL", "SETUSER", "locks", "-config"});
    const std::string forbidden = f.refusal_of(f.config(), "settings");
    BOOST_TEST(contains(forbidden, "the server doesn't report its settings: NOPERM"), forbidden);
}

BOOST_AUTO_TEST_CASE(who_promises_an_overlap_needs_no_settings_and_no_permission_to_read_them)
{
    group_fixture f({.min_replicas = 0, .max_lag = 0});
    f.tell_all({"ACL", "SETUSER", "locks", "-config"});
    f.acquire(f.config("?overlap=100ms"));
}

BOOST_FIXTURE_TEST_CASE(
    a_group_that_stops_waiting_for_its_replicas_loses_its_vote_until_it_waits_again,
    admitted_group
)
{
    client_runner client(f.context, f.config());
    run(f.context, run(f.context, client->async_acquire("a", for_long())).async_release());

    f.tell_all({"CONFIG", "SET", "min-replicas-to-write", "0"});
    BOOST_TEST(client.reaches(0, node_state::rejected));
    const std::string because = client.status(0).because;
    BOOST_TEST(contains(because, "set min-replicas-to-write 1 on every server"), because);
    f.tell_all({"CONFIG", "SET", "min-replicas-to-write", "1"});
    run(f.context, run(f.context, client->async_acquire("a", for_long())).async_release());
}

BOOST_FIXTURE_TEST_CASE(the_permissions_on_the_page_are_enough, admitted_group)
{
    f.tell_all({"ACL",        "SETUSER",  "locks",        "reset", "on",    ">secret",    "~lock:*",
                "~redlock:*", "+get",     "+mget",        "+set",  "+pttl", "+pexpire",   "+del",
                "+eval",      "+evalsha", "+script|load", "+info", "+time", "+config|get"});
    for (std::size_t index = 0; index < 3; ++index)
    {
        BOOST_TEST_REQUIRE(
            f.group.ask_sentinel(
                index,
                {"ACL",
                 "SETUSER",
                 "watcher",
                 "on",
                 ">s3cret",
                 "&+switch-master",
                 "&+slave",
                 "+sentinel|get-master-addr-by-name",
                 "+sentinel|master",
                 "+subscribe"}
            ) == "OK"
        );
    }
    client_runner client(f.context, f.config("?sentinel_user=watcher&sentinel_password=s3cret"));
    run(f.context, run(f.context, client->async_acquire("lock:a", for_long())).async_release());
    BOOST_TEST(client.status(0).refuses == "");
}

BOOST_FIXTURE_TEST_CASE(
    an_unknown_master_is_told_apart_from_sentinels_that_are_away,
    admitted_group
)
{
    client_config config = f.config();
    config.nodes[0].sentinel->master = "another";
    const std::string unknown = f.refusal_of(config, "another");
    BOOST_TEST(contains(unknown, "no Sentinel knows a master named 'another'"), unknown);

    const loopback_port nobody[2];
    const std::string them = address_of(nobody[0]) + "," + address_of(nobody[1]);
    const std::string away = f.refusal_of(
        quick_config("redis+sentinel://locks:secret@" + them + "/mymaster"), "reachable"
    );
    BOOST_TEST(contains(away, "no Sentinel of 'mymaster' is reachable"), away);
}

BOOST_FIXTURE_TEST_CASE(initialization_is_refused, admitted_group)
{
    BOOST_CHECK_EXCEPTION(
        run(f.context, async_initialize_nodes(f.context, f.config())),
        std::invalid_argument,
        [](const std::invalid_argument& failure) {
            return contains(failure.what(), "can't be initialized: a failover may happen");
        }
    );
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(test_failover_address, *boost::unit_test::precondition(needs("redis-server")))

BOOST_AUTO_TEST_CASE(a_failover_behind_one_address_begins_a_quarantine_at_once)
{
    asio::io_context context{1};
    group_fixture f;
    const std::size_t old = f.group.master();
    tcp_proxy address(f.group.member(old).port());
    client_config config = quick_config(address.url() + "?overlap=500ms");
    config.nodes[0].username = "locks";
    config.nodes[0].password = "secret";
    client_runner client(f.context, config);
    run(f.context, run(f.context, client->async_acquire("a", for_long())).async_release());

    f.group.hand_over(old, 1 - old);
    const auto begin = steady_clock::now();
    address.connect_to(f.group.member(1 - old).port());
    address.reset_all();
    BOOST_TEST(client.reaches(0, node_state::quarantined));
    BOOST_TEST(contains(client.status(0).because, "as after every failover"));
    run(f.context, run(f.context, client->async_acquire("a", for_long()), 60s).async_release());
    const std::chrono::duration<double> pause = steady_clock::now() - begin;
    BOOST_TEST_MESSAGE("without locks for " << pause.count() << " s");
    BOOST_TEST((pause < 10s));
}

BOOST_AUTO_TEST_CASE(a_master_that_never_ended_is_refused_when_it_is_met_again)
{
    redis_servers masters(2);
    tcp_proxy address(masters[0].port());
    asio::io_context context{1};
    client_runner client(context, quick_config(address.url() + "?overlap=100ms"));
    run(context, run(context, client->async_acquire("a", for_long())).async_release());
    address.connect_to(masters[1].port());
    address.reset_all();
    BOOST_TEST(client.reaches(0, node_state::quarantined));
    address.connect_to(masters[0].port());
    address.reset_all();
    BOOST_TEST(client.reaches(0, node_state::rejected));
    BOOST_TEST(client.status(0).reason == reason::other_server);
    BOOST_TEST(contains(client.status(0).because, "two masters answer at this address"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace failover_tests
