// What the guarded scripts do with queues, reservations and flags on a real server.

#include "node/verbs.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "support/contains.hpp"
#include "support/needs.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"

BOOST_AUTO_TEST_SUITE(
    test_queue_scripts,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;

namespace {

constexpr const char* lock = "orders:42";
constexpr const char* queue = "redlock:queue:orders:42";
constexpr const char* reserved = "redlock:reserved:orders:42";
constexpr const char* flag = "redlock:waits:orders:42";
constexpr std::int64_t window = 500'000;
constexpr std::int64_t hour = 3'600'000'000;

using detail::verb;

detail::guard make_guard_of_test()
{
    client_config config;
    config.nodes.resize(3);
    return *detail::make_guard(config);
}

/// Clients a, b, c and so on that put the scripts to one server.
struct queue_stage
{
    queue_stage() { command({"SET", "redlock:marker", marker}); }

    std::string command(const std::vector<std::string>& words) { return node.command(words); }

    std::int64_t number(const std::vector<std::string>& words)
    {
        const std::string answer = command(words);
        const std::string prefix = "(integer) ";
        return std::stoll(answer.starts_with(prefix) ? answer.substr(prefix.size()) : answer);
    }

    std::int64_t now()
    {
        const std::string time = command({"TIME"});
        const std::size_t end = time.find('\n');
        return std::stoll(time.substr(0, end)) * 1'000'000 + std::stoll(time.substr(end + 1));
    }

    /// As long as an attempt id.
    static std::string whole(std::string id)
    {
        id.resize(40, '0');
        return id;
    }

    /// What an acquisition sets.
    static std::string value(const std::string& id, const std::string& token)
    {
        return whole(id) + ' ' + token + " a 0 " + token + ' ';
    }

    /// An acquisition that waits. @param place "client:arrival", and how long it needs it reserved.
    /// @param ahead How far the client's clock is.
    std::string acquire(
        const std::string& place,
        const std::string& id = "other",
        std::int64_t ahead = 0
    )
    {
        const std::string token = std::to_string(now() + ahead);
        return command(
            {"EVAL",
             script_of(scripts, verb::acquire).text,
             "1",
             lock,
             marker_end,
             "60000",
             place,
             value(id, token)}
        );
    }

    [[nodiscard]] bool acquires(const std::string& place)
    {
        return !contains(acquire(place, "mine"), "\n");
    }

    /// The holder releases. @param place Of the holder's acquisition.
    std::string release(const std::string& place = "", const std::string& id = "held")
    {
        const std::string token = std::to_string(now());
        return command(
            {"EVAL", script_of(scripts, verb::release).text, "1", lock, place, whole(id), token}
        );
    }

    /// A lost acquisition is given back behind it.
    std::string undo(const std::string& place, const std::string& id, std::int64_t token)
    {
        const std::string text = script_of(scripts, verb::undo).text;
        return command({"EVAL", text, "1", lock, place, whole(id), std::to_string(token)});
    }

    void leave(const std::string& client)
    {
        command({"EVAL", script_of(scripts, verb::leave).text, "1", lock, client});
    }

    void hold() { command({"SET", lock, whole("held"), "PX", "60000"}); }

    void reserve(const std::string& place) { command({"SET", reserved, place, "PX", "9000"}); }

    [[nodiscard]] std::int64_t arrival(const std::string& client)
    {
        return number({"ZSCORE", queue, client});
    }

    /// Whether it is in the queue.
    [[nodiscard]] bool waits(const std::string& client)
    {
        return command({"ZSCORE", queue, client}) != "(nil)";
    }

    /// A connection that hears what is said to a client.
    resp_client listen(const std::string& channel)
    {
        resp_client made = node.client();
        made.command({"SUBSCRIBE", channel});
        return made;
    }

    redis_server node;
    detail::guard guarded = make_guard_of_test();
    const std::string marker = guarded.fingerprint + "life 1";
    const std::string marker_end = guarded.end_of(marker);
    detail::script_set scripts = detail::make_scripts(&guarded);
};

std::string place(const std::string& client, std::int64_t arrival)
{
    return client + ':' + std::to_string(arrival);
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(an_arrival_counts_as_it_is_told, queue_stage)
{
    hold();
    const std::int64_t before = now();
    acquire(place("a", before - hour));
    acquire(place("b", before + hour));
    acquire(place("c", before - 1000));
    BOOST_TEST(arrival("a") == before - hour);
    BOOST_TEST(arrival("b") >= before);
    BOOST_TEST(arrival("b") <= now());
    BOOST_TEST(arrival("c") == before - 1000);
}

BOOST_FIXTURE_TEST_CASE(an_arrival_counts_as_no_more_than_a_day_ago, queue_stage)
{
    hold();
    const std::int64_t before = now();
    acquire(place("a", 1));
    BOOST_TEST(arrival("a") >= before - 24 * hour);
    BOOST_TEST(arrival("a") <= now() - 24 * hour);
}

BOOST_FIXTURE_TEST_CASE(who_was_granted_in_vain_has_its_place_again, queue_stage)
{
    const std::int64_t before = now();
    acquire(place("a", before - hour), "mine");
    release(place("a", before - hour), "mine");
    BOOST_TEST(arrival("a") == before - hour);
}

BOOST_FIXTURE_TEST_CASE(who_was_granted_in_vain_long_ago_has_its_place_again, queue_stage)
{
    const std::int64_t token = now() - 2 * window;
    command({"SET", lock, value("mine", std::to_string(token)), "PX", "60000"});
    undo(place("a", token - hour), "mine", token);
    BOOST_TEST(arrival("a") == token - hour);
}

BOOST_FIXTURE_TEST_CASE(an_undo_leaves_a_place_and_no_tombstone, queue_stage)
{
    const std::string fence = std::string("redlock:fence:") + lock;
    const std::int64_t token = now();
    BOOST_TEST(undo(place("a", token - hour), "mine", token) == "(integer) 0");
    BOOST_TEST(arrival("a") == token - hour);
    BOOST_TEST(command({"EXISTS", fence}) == "(integer) 0");
    acquire(place("b", token), "mine");
    BOOST_TEST(undo("", "mine", token) == "(integer) 1");
    BOOST_TEST(command({"EXISTS", lock}) == "(integer) 0");
}

BOOST_FIXTURE_TEST_CASE(an_arrival_by_a_wrong_clock_counts_within_the_window, queue_stage)
{
    hold();
    const std::int64_t before = now();
    acquire(place("a", 1), "other", -2 * window);
    acquire(place("b", before + hour), "other", 2 * window);
    acquire(place("c", before - 1000), "other", -2 * window);
    BOOST_TEST(arrival("a") >= before - window);
    BOOST_TEST(arrival("a") <= now() - window);
    BOOST_TEST(arrival("b") >= before);
    BOOST_TEST(arrival("b") <= now());
    BOOST_TEST(arrival("c") == before - 1000);
}

BOOST_FIXTURE_TEST_CASE(an_arrival_that_is_compared_with_a_reservation_counts_alike, queue_stage)
{
    reserve(place("a", now() - 2 * window));
    acquire(place("b", 1), "mine", -2 * window);
    BOOST_TEST(waits("b"));
    BOOST_TEST(!acquires(place("c", now() - window)));
    BOOST_TEST(acquires(place("d", now() - 3 * window)));
    command({"DEL", lock, queue});
    reserve(place("a", now() + hour));
    BOOST_TEST(acquires(place("b", now() + 2 * hour)));
}

BOOST_FIXTURE_TEST_CASE(a_place_does_not_move_with_each_poll, queue_stage)
{
    hold();
    const std::int64_t arrived = now() - 1000;
    acquire(place("a", arrived));
    acquire(place("a", arrived + 500));
    BOOST_TEST(arrival("a") == arrived);
}

BOOST_FIXTURE_TEST_CASE(a_place_that_a_late_token_was_given_moves_to_its_arrival, queue_stage)
{
    hold();
    const std::int64_t arrived = now() - 4 * window;
    acquire(place("a", arrived), "other", -2 * window);
    BOOST_TEST(arrival("a") > arrived);
    acquire(place("a", arrived));
    BOOST_TEST(arrival("a") == arrived);
}

BOOST_FIXTURE_TEST_CASE(questions_of_one_script_have_places_of_their_own, queue_stage)
{
    hold();
    command({"SET", "orders:43", "held", "PX", "60000"});
    const std::int64_t arrived = now() - 1000;
    const std::string token = std::to_string(now());
    command(
        {"EVAL",
         script_of(scripts, verb::acquire).text,
         "2",
         lock,
         "orders:43",
         marker_end,
         value("one", token),
         "60000",
         place("a", arrived),
         value("two", token),
         "60000",
         place("a", arrived + 500)}
    );
    BOOST_TEST(arrival("a") == arrived);
    BOOST_TEST(number({"ZSCORE", "redlock:queue:orders:43", "a"}) == arrived + 500);
}

BOOST_FIXTURE_TEST_CASE(questions_of_one_script_may_have_one_place_and_one_ttl_for_all, queue_stage)
{
    hold();
    const std::string token = std::to_string(now());
    const std::string& script = script_of(scripts, verb::acquire).text;
    command(
        {"EVAL",
         script,
         "2",
         lock,
         "free",
         marker_end,
         "60000",
         "a",
         value("one", token),
         value("two", token)}
    );
    BOOST_TEST(arrival("a") == std::stoll(token));
    BOOST_TEST(number({"PTTL", "free"}) > 50'000);

    command(
        {"EVAL",
         script_of(scripts, verb::release).text,
         "2",
         lock,
         "free",
         "a",
         whole("one"),
         token,
         whole("two"),
         token}
    );
    BOOST_TEST(!waits("a"));
    BOOST_TEST(command({"EXISTS", "free"}) == "(integer) 0");
}

BOOST_FIXTURE_TEST_CASE(a_grant_ends_the_reservation, queue_stage)
{
    reserve(place("a", 1));
    BOOST_TEST(acquires(place("a", now())));
    BOOST_TEST(command({"EXISTS", reserved}) == "(integer) 0");
}

// Its holder may die, and then nobody leaves in its place.
BOOST_FIXTURE_TEST_CASE(a_client_that_is_granted_after_a_wait_is_in_front_of_nobody, queue_stage)
{
    hold();
    const std::int64_t arrived = now();
    acquire(place("a", arrived));
    acquire(place("b", arrived + 1));
    command({"DEL", lock});
    BOOST_TEST_REQUIRE(acquires(place("a", arrived)));
    BOOST_TEST(!waits("a"));
    BOOST_TEST(waits("b"));
}

BOOST_FIXTURE_TEST_CASE(who_leaves_ends_no_reservation_of_another, queue_stage)
{
    reserve(place("a", 1));
    leave("b");
    BOOST_TEST(command({"GET", reserved}) == place("a", 1));
    leave("a");
    BOOST_TEST(command({"EXISTS", reserved}) == "(integer) 0");
}

BOOST_FIXTURE_TEST_CASE(who_leaves_wakes_the_next_one_only_if_the_resource_is_free, queue_stage)
{
    const resp_client b = listen("redlock:b");
    hold();
    acquire(place("b", now()));
    reserve(place("a", 1));
    leave("a");
    BOOST_TEST(waits("b"));

    command({"DEL", lock});
    reserve(place("a", 1));
    leave("a");
    BOOST_TEST(!waits("b"));
    BOOST_TEST(contains(command({"GET", reserved}), "b:"));
}

BOOST_FIXTURE_TEST_CASE(neither_queue_nor_flag_lives_for_ever, queue_stage)
{
    hold();
    acquire(place("a", now()));
    BOOST_TEST(number({"PTTL", queue}) > 0);
    BOOST_TEST(number({"PTTL", flag}) > 0);
}

BOOST_FIXTURE_TEST_CASE(
    who_gives_back_and_waits_on_has_its_place_before_somebody_is_woken,
    queue_stage
)
{
    const resp_client a = listen("redlock:a");
    const resp_client b = listen("redlock:b");
    hold();
    const std::int64_t arrived = now();
    acquire(place("b", arrived));

    release(place("a", arrived - 1000));

    BOOST_TEST(contains(command({"GET", reserved}), "a:"));
    BOOST_TEST(waits("b"));
}

// Where nobody waits there is nothing to leave.
BOOST_FIXTURE_TEST_CASE(
    a_release_leaves_the_queue_only_if_the_flag_says_that_somebody_waits,
    queue_stage
)
{
    command({"ZADD", queue, "1", "a"});
    hold();
    release("a");
    BOOST_TEST(waits("a"));

    // The first one is woken, and leaves for that reason.
    const resp_client b = listen("redlock:b");
    command({"ZADD", queue, "0", "b"});
    hold();
    command({"SET", flag, "1"});
    release("a");
    BOOST_TEST(!waits("b"));
    BOOST_TEST(!waits("a"));
}

// The round may have entered it on its way to being lost.
BOOST_FIXTURE_TEST_CASE(
    a_release_of_a_key_of_another_leaves_the_queue_whatever_the_flag_says,
    queue_stage
)
{
    command({"ZADD", queue, "1", "a"});
    hold();
    release("a", "of a lost round");
    BOOST_TEST(!waits("a"));
}

BOOST_FIXTURE_TEST_CASE(a_resource_is_reserved_for_as_long_as_who_is_first_needs, queue_stage)
{
    const resp_client near = listen("redlock:a");
    const resp_client far = listen("redlock:b");
    const resp_client farthest = listen("redlock:c");
    for (const auto& [who, longest] :
         {std::pair("a", 50), std::pair("b:120", 120), std::pair("c:3600000", 15'000)})
    {
        hold();
        std::string of = who;
        of.insert(1, ':' + std::to_string(now()));
        acquire(of);
        release();
        BOOST_TEST(number({"PTTL", reserved}) <= longest);
        BOOST_TEST(number({"PTTL", reserved}) > longest - 40);
        command({"DEL", reserved, queue});
    }
}

BOOST_FIXTURE_TEST_CASE(who_is_far_no_longer_has_a_reservation_as_everybody, queue_stage)
{
    const resp_client woken = listen("redlock:b");
    hold();
    acquire(place("b", now()) + ":120");
    release();
    BOOST_TEST(number({"PTTL", reserved}) > 50);
    command({"DEL", reserved});
    hold();
    acquire(place("b", now()));
    release();
    BOOST_TEST(number({"PTTL", reserved}) > 0);
    BOOST_TEST(number({"PTTL", reserved}) <= 50);
}

BOOST_FIXTURE_TEST_CASE(
    in_a_full_queue_who_has_waited_longer_has_the_place_of_the_last,
    queue_stage
)
{
    hold();
    const std::int64_t arrived = now();
    command(
        {"EVAL",
         "for i = 1, 4096 do redis.call('ZADD', KEYS[1], ARGV[1] + i, 'e' .. i) end",
         "1",
         queue,
         std::to_string(arrived - hour)}
    );
    acquire(place("a", arrived));
    BOOST_TEST(!waits("a"));
    acquire(place("b", arrived - 2 * hour));
    BOOST_TEST(waits("b"));
    BOOST_TEST(!waits("e4096"));
    BOOST_TEST(number({"ZCARD", queue}) == 4096);
}

// Or queues of clients that have gone would keep the node from all others.
BOOST_FIXTURE_TEST_CASE(a_release_looks_at_no_more_clients_than_a_full_queue_has, queue_stage)
{
    hold();
    acquire(place("a", now()));
    command(
        {"EVAL",
         "for i = 1, 5000 do redis.call('ZADD', KEYS[1], ARGV[1] + i, 'e' .. i) end",
         "1",
         queue,
         std::to_string(now() - hour)}
    );
    release();
    BOOST_TEST(number({"ZCARD", queue}) == 5001 - 4096);
    hold();
    release();
    BOOST_TEST(number({"ZCARD", queue}) == 0);
}

BOOST_FIXTURE_TEST_CASE(who_is_next_is_told_for_how_long_the_resource_is_reserved, queue_stage)
{
    const resp_client a = listen("redlock:a");
    resp_client b = listen("redlock:b:next");
    hold();
    acquire(place("a", now()));
    acquire(place("b", now()));

    release();

    BOOST_TEST(b.command({"PING"}) == "message\nredlock:b:next\n50 orders:42");
}

BOOST_AUTO_TEST_SUITE_END()
