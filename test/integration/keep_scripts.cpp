// What the scripts that keep a resource, and free it, do on a real server.

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
    test_keep_scripts,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;

namespace {

constexpr const char* lock = "orders:42";
constexpr const char* fence = "redlock:fence:orders:42";
constexpr const char* queue = "redlock:queue:orders:42";

using detail::verb;

struct keep_stage
{
    keep_stage()
    {
        client_config config;
        config.nodes.resize(3);
        const detail::guard guarded = *detail::make_guard(config);
        scripts = detail::make_scripts(&guarded);
        const std::string marker = guarded.fingerprint + "life 1";
        marker_end = guarded.end_of(marker);
        command({"SET", "redlock:marker", marker});
    }

    std::string command(const std::vector<std::string>& words) { return node.command(words); }

    std::string eval(verb what, std::vector<std::string> arguments)
    {
        std::vector<std::string> words{"EVAL", script_of(scripts, what).text, "1", lock};
        words.insert(words.end(), arguments.begin(), arguments.end());
        return command(words);
    }

    std::int64_t now()
    {
        const std::string time = command({"TIME"});
        const std::size_t end = time.find('\n');
        return std::stoll(time.substr(0, end)) * 1'000'000 + std::stoll(time.substr(end + 1));
    }

    /// @param place '' if it does not wait.
    std::string acquire(
        const std::string& id,
        std::int64_t token,
        const std::string& place = "",
        const std::string& note = "host 7"
    )
    {
        const std::string of = std::to_string(token);
        const std::string value = id + ' ' + of + " a1 0 " + of + ' ' + note;
        return eval(verb::acquire, {marker_end, "60000", place, value});
    }

    void hold(std::int64_t token)
    {
        BOOST_TEST_REQUIRE(acquire("aa", token) == "(integer) " + std::to_string(token));
    }

    /// A hold keeps the key for so long after its token, in milliseconds.
    std::string keep(
        std::int64_t token,
        int at_least,
        std::int64_t stamp,
        const std::string& place = ""
    )
    {
        const std::string at = std::to_string(stamp);
        const std::string of = std::to_string(token);
        return eval(verb::keep, {marker_end, place, std::to_string(at_least), "aa", at, of});
    }

    /// The same, and whether that counts.
    bool keeps(std::int64_t token, int at_least, const std::string& place = "")
    {
        const std::int64_t stamp = now();
        return keep(token, at_least, stamp, place) == "(integer) " + std::to_string(stamp);
    }

    /// What holds until now keep.
    bool frees() { return frees(now()); }
    bool frees(std::int64_t latest)
    {
        return eval(verb::free, {std::to_string(latest)}) == "(integer) 1";
    }
    bool is_free() { return command({"EXISTS", lock}) == "(integer) 0"; }
    std::string value() { return command({"GET", lock}); }

    std::int64_t pttl()
    {
        return std::stoll(command({"PTTL", lock}).substr(std::string("(integer) ").size()));
    }

    bool hears(resp_client& ear, const std::string& what)
    {
        return contains(ear.command({"PING"}), what);
    }

    redis_server node;
    std::string marker_end;
    detail::script_set scripts;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_kept_key_is_nobodys_and_says_who_was_the_last, keep_stage)
{
    const std::int64_t token = now();
    hold(token);
    BOOST_TEST(keeps(token, 30'000));
    const std::string of = std::to_string(token);
    BOOST_TEST(value() == "kept " + of + " a1 0 " + of + " host 7");
    const std::string answer = acquire("bb", now());
    BOOST_TEST(answer.starts_with("(integer) 0\n"));
    BOOST_TEST(acquire("aa", token).starts_with("(integer) 0\n"));
}

BOOST_FIXTURE_TEST_CASE(a_key_is_kept_until_a_time_that_counts_from_its_token, keep_stage)
{
    const std::int64_t token = now() - 400'000;
    hold(token);
    BOOST_TEST(keeps(token, 30'000));
    BOOST_TEST((pttl() > 28'000 && pttl() <= 29'600));
    command({"DEL", lock});
    hold(token + 200'000);
    BOOST_TEST(keeps(token + 200'000, 120'000));
    BOOST_TEST((pttl() > 118'000 && pttl() <= 119'800));  // Longer than its ttl.
}

BOOST_FIXTURE_TEST_CASE(a_clock_that_was_set_back_keeps_for_no_longer_than_the_window, keep_stage)
{
    const std::int64_t token = now();
    hold(token);
    BOOST_TEST(keeps(token + 3'600'000'000, 30'000));
    BOOST_TEST((pttl() > 29'000 && pttl() <= 30'500));
}

BOOST_FIXTURE_TEST_CASE(a_key_whose_time_has_passed_is_deleted, keep_stage)
{
    const std::int64_t token = now() - 400'000;
    hold(token);
    BOOST_TEST(keeps(token, 400));
    BOOST_TEST(is_free());
}

BOOST_FIXTURE_TEST_CASE(a_release_that_keeps_and_comes_again_never_keeps_for_less, keep_stage)
{
    const std::int64_t token = now();
    hold(token);
    BOOST_TEST(keeps(token, 30'000));
    command({"PEXPIRE", lock, "5000"});
    BOOST_TEST(keeps(token, 30'000));
    BOOST_TEST(pttl() > 28'000);
    command({"PEXPIRE", lock, "50000"});
    BOOST_TEST(keeps(token, 30'000));
    BOOST_TEST(pttl() > 30'000);
    BOOST_TEST(!keeps(token - 1, 90'000));  // An earlier hold's.
    BOOST_TEST(pttl() <= 50'000);
}

BOOST_FIXTURE_TEST_CASE(a_node_that_has_forgotten_the_hold_keeps_its_resource_too, keep_stage)
{
    const std::int64_t token = now() - 400'000;
    BOOST_TEST(keeps(token, 30'000));
    const std::string of = std::to_string(token);
    BOOST_TEST(value() == "kept " + of + " - 0 " + of + " ");
    BOOST_TEST((pttl() > 28'000 && pttl() <= 29'600));
    BOOST_TEST(command({"GET", fence}) == of);  // Its acquisition is shut out.
    command({"DEL", lock});
    const std::string extended =
        eval(verb::extend, {marker_end, "90000", "0", "", "aa", std::to_string(now()), of});
    BOOST_TEST(extended.starts_with("(integer) 0\n"));  // And so are its extensions.
}

BOOST_FIXTURE_TEST_CASE(it_does_not_count_if_the_node_must_not_vote, keep_stage)
{
    const std::int64_t token = now();
    command({"SET", "redlock:quarantine", "1", "PX", "20000"});
    BOOST_TEST(keep(token, 30'000, token).starts_with("(integer) -4\n"));
    BOOST_TEST(value().starts_with("kept "));
    BOOST_TEST(keep(token, 30'000, token).starts_with("(integer) -4\n"));  // Nor if repeated.
    command({"DEL", "redlock:quarantine"});
    BOOST_TEST(keeps(token, 30'000));
}

BOOST_FIXTURE_TEST_CASE(a_node_whose_clock_is_off_keeps_and_does_not_count, keep_stage)
{
    const std::int64_t token = now();
    hold(token);
    for (const std::int64_t off : {-60'000'000, -5'000'000, 1'750'000})
    {
        BOOST_TEST(keep(token, 30'000, token + off).starts_with("(integer) -2\n"));
        BOOST_TEST(value().starts_with("kept "));
    }
}

BOOST_FIXTURE_TEST_CASE(what_was_freed_is_not_kept_by_a_release_that_comes_late, keep_stage)
{
    const std::int64_t token = now();
    BOOST_TEST(!frees(token));
    BOOST_TEST(keep(token, 30'000, token).starts_with("(integer) 0\n"));
    BOOST_TEST(is_free());
    BOOST_TEST(keeps(token + 1, 30'000));
}

BOOST_FIXTURE_TEST_CASE(nor_where_the_hold_still_is, keep_stage)
{
    const std::int64_t token = now();
    hold(token);
    BOOST_TEST(!frees(token));
    BOOST_TEST(keep(token, 30'000, token).starts_with("(integer) 0\n"));
    BOOST_TEST(is_free());
}

BOOST_FIXTURE_TEST_CASE(a_release_that_finds_anothers_key_leaves_the_mark, keep_stage)
{
    const std::int64_t token = now();
    command({"SET", lock, "bb 1 - 0 1 ", "PX", "60000"});
    BOOST_TEST(keep(token, 30'000, token).starts_with("(integer) 0\n"));
    command({"DEL", lock});
    const std::string of = std::to_string(token);
    const std::string extended =
        eval(verb::extend, {marker_end, "90000", "0", "", "aa", std::to_string(now()), of});
    BOOST_TEST(extended.starts_with("(integer) 0\n"));
    BOOST_TEST(is_free());
}

BOOST_FIXTURE_TEST_CASE(what_an_earlier_hold_keeps_gives_way, keep_stage)
{
    const std::int64_t token = now();
    keep(token - 1, 30'000, token);
    BOOST_TEST(keeps(token, 50'000));
    BOOST_TEST(value().starts_with("kept " + std::to_string(token) + " "));
}

BOOST_FIXTURE_TEST_CASE(a_release_that_comes_after_its_time_keeps_nothing, keep_stage)
{
    const std::int64_t token = now() - 400'000;
    BOOST_TEST(keeps(token, 400));
    BOOST_TEST(is_free());
}

BOOST_FIXTURE_TEST_CASE(a_key_of_another_is_not_kept, keep_stage)
{
    const std::int64_t token = now();
    BOOST_TEST(!contains(acquire("bb", token + 1), "\n"));
    const std::string held = value();
    BOOST_TEST(!keeps(token, 30'000));
    BOOST_TEST(value() == held);
}

BOOST_FIXTURE_TEST_CASE(a_kept_key_is_not_released_and_not_extended, keep_stage)
{
    const std::int64_t token = now();
    const std::string of = std::to_string(token);
    hold(token);
    BOOST_TEST(keeps(token, 30'000));
    BOOST_TEST(eval(verb::release, {"", "aa", of}) == "(integer) 0");
    const std::string at = std::to_string(now());
    const std::string extended = eval(verb::extend, {marker_end, "90000", "0", "", "aa", at, of});
    BOOST_TEST(extended.starts_with("(integer) 0\n"));
    BOOST_TEST(pttl() <= 30'000);
}

BOOST_FIXTURE_TEST_CASE(a_kept_key_has_no_hold_to_revoke, keep_stage)
{
    const std::int64_t token = now();
    hold(token);
    BOOST_TEST(keeps(token, 30'000));
    const std::string before = value();
    const auto revoke = [&](std::int64_t of) {
        return eval(verb::revoke, {marker_end, std::to_string(now()), std::to_string(of)});
    };
    BOOST_TEST(revoke(token).starts_with("(integer) 0\n"));
    BOOST_TEST(revoke(token - 5).starts_with("(integer) 0\n"));
    BOOST_TEST(value() == before);
}

BOOST_FIXTURE_TEST_CASE(the_first_who_waits_is_told_when_to_ask_and_not_woken, keep_stage)
{
    const std::int64_t token = now();
    hold(token);
    acquire("bb", now(), "b1:" + std::to_string(now()));
    resp_client woken = node.client();
    woken.command({"SUBSCRIBE", "redlock:b1"});
    resp_client told = node.client();
    told.command({"SUBSCRIBE", "redlock:b1:next"});
    BOOST_TEST(keeps(token, 30'000));
    const std::string heard = told.command({"PING"});
    const std::string left = heard.substr(0, heard.find(" orders:42"));
    const std::int64_t lasts = std::stoll(left.substr(left.find_last_not_of("0123456789") + 1));
    BOOST_TEST((lasts > 29'000 && lasts <= 30'000));
    BOOST_TEST(!hears(woken, lock));
    BOOST_TEST(command({"ZCARD", queue}) == "(integer) 1");
}

BOOST_FIXTURE_TEST_CASE(a_holder_that_waits_on_keeps_its_place_and_another_leaves, keep_stage)
{
    std::int64_t token = now();
    hold(token);
    BOOST_TEST(keeps(token, 30'000, "a1:" + std::to_string(token)));
    BOOST_TEST(command({"ZCARD", queue}) == "(integer) 1");
    BOOST_TEST(frees());
    command({"DEL", "redlock:reserved:orders:42"});
    token = now();
    hold(token);
    command({"ZADD", queue, "1", "a1"});
    BOOST_TEST(keeps(token, 30'000, "a1"));
    BOOST_TEST(command({"ZCARD", queue}) == "(integer) 0");
}

BOOST_FIXTURE_TEST_CASE(clients_that_poll_keep_too, keep_stage)
{
    const std::int64_t token = now();
    hold(token);
    BOOST_TEST(keeps(token, 30'000, "-"));
    BOOST_TEST(value().starts_with("kept "));
}

BOOST_FIXTURE_TEST_CASE(freeing_deletes_what_is_kept_and_nothing_else, keep_stage)
{
    BOOST_TEST(!frees());
    const std::int64_t token = now();
    hold(token);
    BOOST_TEST(!frees(token - 1));
    BOOST_TEST(keeps(token, 30'000));
    BOOST_TEST(frees());
    BOOST_TEST(is_free());
    for (const char* other : {"keptsake", "kept by host 7", "kept 12"})
    {
        command({"SET", lock, other});
        BOOST_TEST(!frees());
    }
    command({"DEL", lock});
    command({"RPUSH", lock, "kept 1"});
    BOOST_TEST(contains(eval(verb::free, {"1"}), "WRONGTYPE"));
}

BOOST_FIXTURE_TEST_CASE(freeing_leaves_what_a_later_hold_keeps, keep_stage)
{
    const std::int64_t token = now();
    hold(token);
    BOOST_TEST(keeps(token, 30'000));
    BOOST_TEST(!frees(token - 1));
    BOOST_TEST(frees(token));
}

BOOST_FIXTURE_TEST_CASE(freeing_wakes_the_first_who_waits, keep_stage)
{
    const std::int64_t token = now();
    hold(token);
    BOOST_TEST(keeps(token, 30'000));
    acquire("bb", now(), "b1:" + std::to_string(now()));
    resp_client woken = node.client();
    woken.command({"SUBSCRIBE", "redlock:b1"});
    BOOST_TEST(frees());
    BOOST_TEST(hears(woken, lock));
}

BOOST_FIXTURE_TEST_CASE(a_node_that_must_not_vote_keeps_and_frees, keep_stage)
{
    const std::int64_t token = now();
    hold(token);
    command({"DEL", "redlock:marker"});
    BOOST_TEST(keeps(token, 30'000));
    BOOST_TEST(frees());
}

BOOST_AUTO_TEST_SUITE_END()
