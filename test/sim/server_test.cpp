// The rules of a simulated server that a real one cannot be made to show to the millisecond.

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>

#include "sim/server.hpp"

BOOST_AUTO_TEST_SUITE(test_server)

namespace {

using namespace redlock::sim;
using namespace std::chrono_literals;

struct one_server
{
    answer put(const arguments& command) { return put(from, command); }
    answer put(session& by, const arguments& command) { return node.execute(by, command); }

    /// A connection that may be told what it did not ask for.
    std::shared_ptr<session> connect()
    {
        const auto made = std::make_shared<session>();
        put(*made, {"HELLO", "3"});
        return made;
    }

    schedule time;
    trace told{time};
    script_engine scripts;
    server node{time, scripts, told, {}, 1};
    session from;
};

void pass(one_server& world, nanoseconds by)
{
    world.time.after(by, []() {});
    world.time.step();
}

/// As they go over the wire.
std::string message(const std::string& text)
{
    return ">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$" + std::to_string(text.size()) + "\r\n" + text +
           "\r\n";
}

std::string invalidation(const std::string& key)
{
    return ">2\r\n$10\r\ninvalidate\r\n*1\r\n$" + std::to_string(key.size()) + "\r\n" + key +
           "\r\n";
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_key_lives_until_its_last_millisecond_is_over)
{
    one_server world;
    world.put({"SET", "k", "v", "PX", "10"});
    pass(world, 10ms);
    BOOST_TEST(world.put({"PTTL", "k"}).number == 0);
    BOOST_TEST(world.node.gone_at(*world.node.look("k")).count() == nanoseconds(11ms).count());
    pass(world, 1ms);
    BOOST_TEST(world.put({"PTTL", "k"}).number == -2);
}

BOOST_AUTO_TEST_CASE(a_crash_undoes_what_is_newer)
{
    one_server world;
    world.put({"SET", "old", "v"});
    pass(world, 10ms);
    world.put({"SET", "old", "w"});
    world.put({"SET", "new", "v"});
    const std::string before = world.node.run_id();
    world.node.crash(5ms, 10ms);
    world.node.start();
    BOOST_TEST(world.put({"GET", "old"}).text == "v");
    BOOST_TEST(!world.node.look("new"));
    BOOST_TEST(world.node.run_id() != before);
}

BOOST_AUTO_TEST_CASE(a_script_may_write_on_when_memory_is_short)
{
    const std::string set_two =
        "redis.call('SET', KEYS[1], 'v'); redis.call('SET', KEYS[2], 'v'); return 1";
    one_server world;
    world.node.impair(impairment::out_of_memory);
    BOOST_TEST(world.put({"EVAL", set_two, "2", "a", "b"}).text.starts_with("OOM"));
    BOOST_TEST(!world.node.look("a"));
    const std::string del_then_set = "redis.call('SET', KEYS[1], 'v'); return 1";
    world.node.impair(impairment::none);
    BOOST_TEST(world.put({"EVAL", del_then_set, "1", "a"}).number == 1);
}

BOOST_AUTO_TEST_CASE(a_password_is_asked_for)
{
    schedule time;
    trace told(time);
    script_engine scripts;
    server node(time, scripts, told, {.password = "secret"}, 1);
    session from;
    BOOST_TEST(node.execute(from, {"GET", "k"}).text.starts_with("NOAUTH"));
    BOOST_TEST(node.execute(from, {"HELLO", "3", "AUTH", "default", "wrong"}).is_error());
    BOOST_TEST(!node.execute(from, {"HELLO", "3", "AUTH", "default", "secret"}).is_error());
    BOOST_TEST(!node.execute(from, {"GET", "k"}).is_error());
}

BOOST_AUTO_TEST_CASE(a_command_in_parts_is_run_when_it_is_whole)
{
    one_server world;
    BOOST_TEST(world.node.receive(world.from, "*1\r\n$4\r\nPI").empty());
    BOOST_TEST(
        world.node.receive(world.from, "NG\r\n*1\r\n$4\r\nPING\r\n*1") == "+PONG\r\n+PONG\r\n"
    );
}

BOOST_AUTO_TEST_CASE(a_message_reaches_those_who_subscribed_behind_their_replies)
{
    one_server world;
    const auto hears = world.connect();
    world.put(*hears, {"SUBSCRIBE", "news"});
    BOOST_TEST(world.put({"PUBLISH", "news", "first"}).number == 1);
    BOOST_TEST(world.put({"PUBLISH", "gossip", "none"}).number == 0);
    const std::string publish = "return redis.call('PUBLISH', 'news', 'second')";
    BOOST_TEST(world.put({"EVAL", publish, "0"}).number == 1);

    BOOST_TEST(hears->output == message("first") + message("second"));
}

BOOST_AUTO_TEST_CASE(a_connection_counts_as_one_that_hears_until_the_server_knows_better)
{
    one_server world;
    const auto hears = world.connect();
    world.put(*hears, {"SUBSCRIBE", "news"});
    BOOST_TEST(world.put({"PUBLISH", "news", "x"}).number == 1);

    world.node.hang_up(*hears);
    BOOST_TEST(world.put({"PUBLISH", "news", "x"}).number == 0);
}

BOOST_AUTO_TEST_CASE(a_tracked_key_is_told_of_once)
{
    one_server world;
    const auto tracks = world.connect();
    world.put(*tracks, {"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"});
    const auto read = [&] {
        world.put(*tracks, {"CLIENT", "CACHING", "YES"});
        world.put(*tracks, {"EVAL", "return redis.call('GET', KEYS[1])", "1", "k"});
    };
    world.put({"SET", "k", "v"});
    BOOST_TEST(tracks->output.empty());

    read();
    world.put({"SET", "k", "w"});
    world.put({"DEL", "k"});
    BOOST_TEST(tracks->output == invalidation("k"));

    read();
    world.put(*tracks, {"SET", "k", "mine"});  // No loop.
    BOOST_TEST(tracks->output == invalidation("k"));

    read();
    world.node.flush_all();
    BOOST_TEST(tracks->output == invalidation("k") + ">2\r\n$10\r\ninvalidate\r\n_\r\n");
}

BOOST_AUTO_TEST_CASE(a_tracked_key_that_expires_is_told_of_soon)
{
    one_server world;
    const auto tracks = world.connect();
    world.put({"SET", "k", "v", "PX", "50"});
    world.put(*tracks, {"CLIENT", "TRACKING", "ON", "OPTIN"});
    world.put(*tracks, {"CLIENT", "CACHING", "YES"});
    world.put(*tracks, {"GET", "k"});

    while (world.time.next() <= 200ms)
        world.time.step();

    BOOST_TEST(tracks->output == invalidation("k"));
}

BOOST_AUTO_TEST_SUITE_END()
