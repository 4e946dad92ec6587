#include "node/verbs.hpp"

#include <redlock/config.hpp>

#include "core/limits.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_verbs)

using namespace redlock;
using namespace redlock::detail;

using namespace std::chrono_literals;
using kind = answer::kind;

namespace {

constexpr std::array all_verbs{
    verb::acquire,
    verb::extend,
    verb::restore,
    verb::release,
    verb::finish,
    verb::holder,
    verb::track,
    verb::leave,
    verb::inspect,
    verb::revoke,
    verb::keep,
    verb::free,
    verb::undo
};
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

/// What a reply may count as.
enum class meaning
{
    granted,
    held,
    gone,
    error_reply,
    unexpected,
};

/// Checks everything but `held_for` and `text`.
void check_meaning(const reply& found, meaning expected)
{
    struct
    {
        redlock::vote vote;
        redlock::reason why;
    } const table[] = {
        {vote::granted, reason::none},
        {vote::denied, reason::held},
        {vote::denied, reason::gone},
        {vote::refused, reason::error_reply},
        {vote::unknown, reason::unexpected_reply},
    };
    BOOST_TEST(found.vote == table[static_cast<int>(expected)].vote);
    BOOST_TEST(found.why == table[static_cast<int>(expected)].why);
    BOOST_TEST(found.code == error_code());
}

answer made_of(kind what, const std::vector<answer::element>& elements)
{
    answer made{.what = what, .count = elements.size()};
    std::ranges::copy(elements, made.elements.begin());
    return made;
}

answer number(std::int64_t value)
{
    return made_of(kind::scalar, {value});
}

answer numbers(const std::vector<std::int64_t>& values)
{
    return made_of(kind::list, {values.begin(), values.end()});
}

answer failure(const std::string& words)
{
    return made_of(kind::error, {words});
}

constexpr std::uint64_t stamp = 1'790'000'000'000'000;
constexpr auto echo = static_cast<std::int64_t>(stamp);

guard guard_of_test(bool queue)
{
    client_config config;
    config.nodes.resize(3);
    config.waiting.queue = queue;
    return *make_guard(config);
}

bool can_be_put(const phrasing& how)
{
    return how.read && (how.script != nullptr) != (how.put != nullptr);
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_questions_of_a_turn_are_written_whatever_their_verb)
{
    const std::set<verb> written(write_order.begin(), write_order.end());
    BOOST_TEST(written.size() == verb_count);
}

BOOST_AUTO_TEST_CASE(each_verb_has_a_name_of_its_own)
{
    std::set<std::string_view> names;
    for (const verb each : write_order)
        BOOST_TEST(names.insert(rules_of(each).name).second);
}

BOOST_AUTO_TEST_CASE(each_verb_is_a_script_or_a_command_whose_answer_is_read)
{
    for (const verb each : write_order)
    {
        const verb_rules& rules = rules_of(each);
        BOOST_TEST(can_be_put(rules.guarded), rules.name);
        const bool guarded_only = rules.for_queues || each == verb::restore ||
                                  each == verb::revoke || each == verb::keep ||
                                  each == verb::free || each == verb::undo;
        BOOST_TEST(can_be_put(rules.plain) == !guarded_only, rules.name);
    }
}

BOOST_AUTO_TEST_CASE(guarded_scripts_begin_with_the_constants_of_the_client)
{
    const guard guarded = guard_of_test(true);
    const script_set scripts = make_scripts(&guarded);
    for (const verb each : write_order)
    {
        const lua_script& made = script_of(scripts, each);
        BOOST_TEST(made.text.empty() == !rules_of(each).guarded.script);
        BOOST_TEST((made.text.empty() || made.text.starts_with(guarded.constants)));
    }
}

BOOST_AUTO_TEST_CASE(clients_that_poll_have_no_scripts_for_queues)
{
    const guard guarded = guard_of_test(false);
    const script_set scripts = make_scripts(&guarded);
    BOOST_TEST(script_of(scripts, verb::leave).text.empty());
    BOOST_TEST(!script_of(scripts, verb::release).text.empty());
}

BOOST_AUTO_TEST_CASE(every_shape_means_what_the_table_says_for_each_verb)
{
    constexpr meaning yes = meaning::granted;
    constexpr meaning held = meaning::held;
    constexpr meaning gone = meaning::gone;
    constexpr meaning refused = meaning::error_reply;
    constexpr meaning odd = meaning::unexpected;
    const auto all = [](meaning each) {
        std::array<meaning, verb_count> made{};
        made.fill(each);
        return made;
    };
    struct
    {
        const char* what;
        answer said;
        std::array<meaning, verb_count> expected;  // In the order of all_verbs.
    } const table[] = {
        {"other", {}, all(odd)},
        {"ok", {kind::ok}, {yes, odd, odd, odd, odd, odd, odd, odd, odd, odd, odd, odd, odd}},
        {"null", {kind::null}, {held, odd, odd, odd, odd, odd, odd, odd, odd, odd, odd, odd, odd}},
        {"error", failure("ERR no"), all(refused)},
        {"noscript", failure("NOSCRIPT no"), all(refused)},
        {"silent error", failure(""), all(refused)},
        {"1 as an error", failure("1"), all(refused)},
        {"1 as a text", made_of(kind::scalar, {"1"}), all(odd)},
        {"1 in a list", numbers({1}), all(odd)},
        {"0", number(0), {odd, gone, gone, gone, gone, yes, yes, gone, odd, odd, odd, gone, gone}},
        {"1", number(1), {odd, yes, yes, yes, yes, yes, yes, yes, odd, odd, yes, yes, yes}},
        {"2", number(2), {odd, odd, odd, odd, odd, yes, yes, odd, odd, odd, odd, odd, odd}},
        {"-1", number(-1), {odd, odd, odd, odd, odd, yes, yes, odd, odd, odd, odd, odd, odd}},
        {"-2", number(-2), {odd, odd, odd, odd, odd, yes, yes, odd, odd, odd, odd, odd, odd}},
        {"-3", number(-3), all(odd)},
        {"smallest", number(smallest), all(odd)},
        {"largest",
         number(largest),
         {odd, odd, odd, odd, odd, yes, yes, odd, odd, odd, odd, odd, odd}},
    };

    for (const auto& row : table)
        for (std::size_t i = 0; i < all_verbs.size(); ++i)
            BOOST_TEST_CONTEXT(row.what << " to " << rules_of(all_verbs[i]).name)
            {
                // Some are only for guarded clients.
                const bool plain = rules_of(all_verbs[i]).plain.read != nullptr;
                const std::uint64_t of = plain ? 0 : 1;
                check_meaning(interpret(all_verbs[i], of, row.said), row.expected[i]);
            }
}

BOOST_AUTO_TEST_CASE(an_error_keeps_the_words_of_the_server)
{
    const std::string words = "READONLY You can't write against a replica.";

    for (const verb each : all_verbs)
        BOOST_TEST(interpret(each, 0, failure(words)).text == words);
}

BOOST_AUTO_TEST_CASE(only_the_question_for_the_holder_tells_a_time)
{
    for (const answer& said :
         {answer(), answer{kind::ok}, answer{kind::null}, number(0), number(1)})
        for (const verb each : {verb::acquire, verb::extend, verb::release})
            BOOST_TEST(!interpret(each, 0, said).held_for.has_value());
}

BOOST_AUTO_TEST_CASE(the_holders_time_is_in_milliseconds)
{
    BOOST_TEST(interpret(verb::holder, 0, number(0)).held_for.value() == 0ms);
    BOOST_TEST(interpret(verb::holder, 0, number(8200)).held_for.value() == 8200ms);
}

BOOST_AUTO_TEST_CASE(a_key_without_a_ttl_is_held_forever)
{
    BOOST_TEST(interpret(verb::holder, 0, number(-1)).held_for.value() == forever);
}

BOOST_AUTO_TEST_CASE(a_key_that_has_gone_is_held_no_longer)
{
    BOOST_TEST(interpret(verb::holder, 0, number(-2)).held_for.value() == 0ms);
}

BOOST_AUTO_TEST_CASE(an_odd_answer_about_the_holder_tells_no_time)
{
    BOOST_TEST(!interpret(verb::holder, 0, number(-3)).held_for.has_value());
    BOOST_TEST(!interpret(verb::holder, 0, {kind::null}).held_for.has_value());
    BOOST_TEST(!interpret(verb::holder, 0, failure("ERR")).held_for.has_value());
}

BOOST_AUTO_TEST_CASE(an_inspection_tells_the_value_and_how_long_it_has_left)
{
    const auto said = [](std::int64_t left, const char* value) {
        return interpret(verb::inspect, 0, made_of(kind::list, {left, value}));
    };
    BOOST_TEST(said(300, "the value").vote == vote::granted);
    BOOST_TEST(said(300, "the value").held_for.value() == 300ms);
    BOOST_TEST(said(300, "the value").text == "the value");
    BOOST_TEST(said(-1, "x").held_for.value() == forever);
    BOOST_TEST(said(-2, "").held_for.value() == 0ms);
    BOOST_TEST(said(-3, "").vote == vote::unknown);

    const auto guarded = [](std::int64_t left, std::int64_t waiting) {
        const answer from = made_of(kind::list, {1, echo, left, 7, waiting, "the value"});
        return interpret(verb::inspect, stamp, from);
    };
    BOOST_TEST(guarded(300, 2).text == "the value");
    BOOST_TEST(guarded(300, 2).held_for.value() == 300ms);
    BOOST_TEST(guarded(300, 2).waiting == 2u);
    BOOST_TEST((guarded(300, 2).node_time.value() == std::chrono::microseconds(7)));
}

BOOST_AUTO_TEST_CASE(an_inspection_of_another_shape_is_a_failure)
{
    const auto fails = [](std::uint64_t of, const answer& from) {
        return interpret(verb::inspect, of, from).vote == vote::unknown;
    };
    BOOST_TEST(fails(0, made_of(kind::list, {300})));
    BOOST_TEST(fails(0, made_of(kind::list, {300, 1})));
    BOOST_TEST(fails(0, made_of(kind::list, {300, "x", 1})));
    BOOST_TEST(fails(0, made_of(kind::list, {"300", "x"})));
    BOOST_TEST(fails(stamp, number(echo)));
    BOOST_TEST(fails(stamp, made_of(kind::list, {1, echo, 300, 7, 0})));
    BOOST_TEST(fails(stamp, made_of(kind::list, {1, echo, 300, 7, -1, "x"})));
    BOOST_TEST(fails(stamp, made_of(kind::list, {1, echo, -3, 7, 0, "x"})));
    BOOST_TEST(fails(stamp, made_of(kind::list, {1, echo + 1, 300, 7, 0, "x"})));
    BOOST_TEST(fails(stamp, made_of(kind::list, {2, echo, 300, 7, 0, "x"})));
}

BOOST_AUTO_TEST_CASE(an_inspection_is_refused_by_a_node_that_must_not_vote)
{
    const reply said = interpret(verb::inspect, stamp, numbers({-4, echo, 900, 7}));
    BOOST_TEST(said.vote == vote::refused);
    BOOST_TEST(said.why == reason::quarantined);
    BOOST_TEST(said.ready_in.value() == 900ms);
}

BOOST_AUTO_TEST_CASE(a_revocation_tells_whether_the_hold_was_there_and_for_how_long)
{
    const auto said = [](std::int64_t code, std::int64_t left) {
        return interpret(verb::revoke, stamp, numbers({code, echo, left, 7}));
    };
    BOOST_TEST(said(1, 300).vote == vote::granted);
    BOOST_TEST(said(1, 300).why == reason::none);
    BOOST_TEST(said(1, 300).held_for.value() == 300ms);
    BOOST_TEST(said(1, -1).held_for.value() == forever);
    BOOST_TEST(said(0, 0).vote == vote::granted);
    BOOST_TEST(said(0, 0).why == reason::gone);
    BOOST_TEST(said(0, 900).held_for.value() == 900ms);
    BOOST_TEST(said(-1, 300).vote == vote::denied);
    BOOST_TEST(said(-2, 0).why == reason::clock);
    BOOST_TEST(said(-2, 0).vote == vote::refused);
    BOOST_TEST(said(1, -3).vote == vote::unknown);
    BOOST_TEST(said(2, 300).vote == vote::unknown);
    BOOST_TEST(interpret(verb::revoke, stamp, number(echo)).vote == vote::unknown);
    const answer of_another = numbers({1, echo + 1, 300, 7});
    BOOST_TEST(interpret(verb::revoke, stamp, of_another).vote == vote::unknown);
}

BOOST_AUTO_TEST_CASE(only_the_stamp_itself_grants_in_guarded_mode)
{
    for (const verb asked : {verb::acquire, verb::extend, verb::keep})
    {
        BOOST_TEST(interpret(asked, stamp, number(echo)).vote == vote::granted);
        for (const answer& other :
             {number(1),
              number(echo + 1),
              answer{kind::ok},
              numbers({echo}),
              numbers({2, echo, 0, 5}),
              made_of(kind::scalar, {std::to_string(echo)})})
            BOOST_TEST(interpret(asked, stamp, other).vote == vote::unknown);
    }
}

BOOST_AUTO_TEST_CASE(each_code_of_the_guarded_scripts_has_its_meaning)
{
    const auto said = [](verb asked, std::int64_t code, std::int64_t more) {
        const bool places = asked == verb::acquire && code == 0;
        return interpret(
            asked,
            stamp,
            places ? numbers({code, echo, more, 7, 2}) : numbers({code, echo, more, 7})
        );
    };
    BOOST_TEST(said(verb::acquire, 0, 300).why == reason::held);
    BOOST_TEST(said(verb::acquire, 0, 300).vote == vote::denied);
    BOOST_TEST(said(verb::acquire, 0, 300).held_for.value() == 300ms);
    BOOST_TEST(said(verb::acquire, 0, -1).held_for.value() == forever);
    BOOST_TEST(said(verb::acquire, 0, 300).position.value() == 3u);
    BOOST_TEST(said(verb::extend, 0, 0).why == reason::gone);
    BOOST_TEST(said(verb::extend, 0, 0).vote == vote::denied);
    BOOST_TEST(said(verb::extend, 1, 0).why == reason::gone);
    BOOST_TEST(said(verb::extend, 1, 0).vote == vote::granted);
    BOOST_TEST(said(verb::keep, 0, 0).vote == vote::denied);
    BOOST_TEST(said(verb::keep, -2, 0).vote == vote::refused);
    BOOST_TEST(said(verb::keep, -4, 900).why == reason::quarantined);
    BOOST_TEST(said(verb::extend, -5, 0).why == reason::revoked);
    BOOST_TEST(said(verb::extend, -5, 0).vote == vote::refused);
    BOOST_TEST(said(verb::acquire, -1, 55).why == reason::fence);
    BOOST_TEST(said(verb::acquire, -1, 55).fence.value() == 55u);
    BOOST_TEST(said(verb::acquire, -2, 0).why == reason::clock);
    BOOST_TEST(said(verb::acquire, -3, 0).why == reason::unmarked);
    BOOST_TEST(said(verb::acquire, -4, 900).why == reason::quarantined);
    BOOST_TEST(said(verb::acquire, -4, 900).ready_in.value() == 900ms);
    BOOST_TEST((said(verb::acquire, -2, 0).node_time.value() == std::chrono::microseconds(7)));
    for (const std::int64_t code : {-1, -2, -3, -4})
        BOOST_TEST(said(verb::acquire, code, 5).vote == vote::refused);
}

BOOST_AUTO_TEST_CASE(who_is_not_in_the_queue_has_no_position)
{
    const reply said = interpret(verb::acquire, stamp, numbers({0, echo, 300, 7, -2}));
    BOOST_TEST(said.why == reason::held);
    BOOST_TEST(!said.position.has_value());
}

BOOST_AUTO_TEST_CASE(who_finds_the_queue_full_is_behind_it)
{
    const reply said = interpret(verb::acquire, stamp, numbers({0, echo, 300, 7, -1}));
    BOOST_TEST(said.why == reason::held);
    BOOST_TEST(said.position.value() == core::max_queue + 1);
}

BOOST_AUTO_TEST_CASE(a_guarded_answer_of_another_shape_is_a_failure)
{
    const auto fails = [](const answer& from) {
        return interpret(verb::acquire, stamp, from).vote == vote::unknown;
    };
    BOOST_TEST(!fails(numbers({0, echo, 300, 7, 0})));
    BOOST_TEST(!fails(numbers({0, echo, 300, 7, core::max_queue})));
    BOOST_TEST(fails(numbers({0, echo, 300, 7, core::max_queue + 1})));
    BOOST_TEST(fails(numbers({0, echo, 300, 7, largest})));
    BOOST_TEST(fails(numbers({0, echo + 1, 300, 7, 0})));
    BOOST_TEST(fails(numbers({0, echo, 300})));
    BOOST_TEST(fails(numbers({0, echo, 300, 7})));
    BOOST_TEST(fails(numbers({0, echo, -3, 7, 0})));
    BOOST_TEST(fails(numbers({-1, echo, 0, 7})));
    BOOST_TEST(fails(numbers({-1, echo, 55, 7, 0})));
    BOOST_TEST(fails(numbers({-5, echo, 0, 7})));
    BOOST_TEST(fails(numbers({smallest, echo, smallest, smallest})));
    BOOST_TEST(fails(made_of(kind::list, {0, echo, 300, 7, "0"})));
    BOOST_TEST(fails(made_of(kind::list, {0, echo, "300", 7, 0})));
    BOOST_TEST(fails(made_of(kind::list, {"-2", echo, 0, 7})));
    BOOST_TEST(fails(made_of(kind::list, {-2, echo, "0", 7})));
}

BOOST_AUTO_TEST_CASE(a_time_that_no_clock_shows_is_not_computed_with)
{
    constexpr std::int64_t end = std::int64_t{1} << 53;
    for (const std::int64_t time : {std::int64_t{0}, std::int64_t{-1}, end, largest})
    {
        const reply said = interpret(verb::acquire, stamp, numbers({-2, echo, 0, time}));
        BOOST_TEST(said.vote == vote::unknown);
        BOOST_TEST(!said.node_time.has_value());
    }
}

// By redis-cli SCRIPT LOAD, and the examples of RFC 3174.
BOOST_AUTO_TEST_CASE(a_script_is_known_by_its_hash)
{
    const auto sha = [](const std::string& text) { return make_script(text).sha; };
    BOOST_TEST(sha("return 1") == "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
    BOOST_TEST(sha("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    BOOST_TEST(sha("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
    BOOST_TEST(
        sha("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
    );
    BOOST_TEST(sha(std::string(1'000'000, 'a')) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

BOOST_AUTO_TEST_SUITE_END()
