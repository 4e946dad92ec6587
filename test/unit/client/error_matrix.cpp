#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <string>

#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_error_matrix)

/** Every error reply, to every operation, from one node, from one less than a quorum, from a quorum
    and from all nodes. The outcome is computed from the definition: a quorum of grants decides, and
    an error is never a grant.
*/

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

constexpr std::size_t nodes = 5;
constexpr std::size_t quorum = 3;

/// What a server says, word for word.
constexpr std::array error_replies{
    "NOAUTH Authentication required.",
    "WRONGPASS invalid username-password pair or user is disabled.",
    "NOPERM this user has no permissions to run the 'set' command",
    "READONLY You can't write against a read only replica.",
    "OOM command not allowed when used memory > 'maxmemory'.",
    "LOADING Redis is loading the dataset in memory",
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist",
    "WRONGTYPE Operation against a key holding the wrong kind of value",
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
};

constexpr std::array failing_counts{std::size_t(1), quorum - 1, quorum, nodes};

/// Calls `check` for each cell; the nodes that fail are the first ones and then the last ones.
template <class Check>
void for_each_cell(Check check)
{
    for (const char* const text : error_replies)
    {
        for (const std::size_t failing : failing_counts)
        {
            BOOST_TEST_CONTEXT(failing << " nodes answer " << text)
            {
                check(text, 0u, failing);
                check(text, nodes - failing, nodes);
            }
        }
    }
}

bool quorum_remains(std::size_t first, std::size_t last)
{
    return nodes - (last - first) >= quorum;
}

/// The outcome of a round that a quorum has to grant.
error_code outcome(std::size_t first, std::size_t last)
{
    return quorum_remains(first, last) ? error_code() : error::node_rejected;
}

void answer_with(
    client_fixture& fixture,
    verb what,
    const char* text,
    std::size_t first,
    std::size_t last
)
{
    fixture.each_node(first, last, [&](fake_node& node) { node.on(what).error(text); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_error_reply_to_acquire_is_a_refusal)
{
    for_each_cell([](const char* text, std::size_t first, std::size_t last) {
        running_client fixture;
        answer_with(fixture, verb::acquire, text, first, last);
        diagnostics report;

        const auto [ec, held] = fixture.complete(
            fixture.locks().async_acquire("orders:42", {.wait = 0ms, .report = &report})
        );
        fixture.run_until_idle();

        const bool granted = quorum_remains(first, last);
        BOOST_TEST(ec == outcome(first, last));
        BOOST_TEST(static_cast<bool>(held) == granted);
        BOOST_TEST(fixture.keys_left() == (granted ? nodes - (last - first) : 0u));
        for (std::size_t index = first; index < last; ++index)
        {
            const node_vote& from = report.votes.at(index);
            if (!from.vote)
                continue;  // The round was decided before.
            BOOST_TEST(*from.vote == vote::refused);
            BOOST_TEST(from.reason == reason::error_reply);
            BOOST_TEST(from.text == text);
        }
    });
}

BOOST_AUTO_TEST_CASE(an_error_reply_to_acquire_and_a_holder_elsewhere_are_contended)
{
    for_each_cell([](const char* text, std::size_t first, std::size_t last) {
        running_client fixture;
        fixture.hold_elsewhere("orders:42", 1h, 0, nodes);
        answer_with(fixture, verb::acquire, text, first, last);

        const auto [ec, held] =
            fixture.complete(fixture.locks().async_acquire("orders:42", {.wait = 0ms}));

        // Three answers that are no grant decide. If all three are errors, nobody denied.
        const bool denied = quorum_remains(first, last) || first > 0;
        BOOST_TEST((ec == (denied ? error::contended : error::node_rejected)), ec.message());
        BOOST_TEST(!held);
    });
}

BOOST_AUTO_TEST_CASE(an_error_reply_to_extend_is_a_refusal)
{
    for_each_cell([](const char* text, std::size_t first, std::size_t last) {
        running_client fixture;
        lease held = fixture.acquire("orders:42");
        const time_point before = held.valid_until();
        answer_with(fixture, verb::extend, text, first, last);

        const auto [ec] = fixture.complete(held.async_extend(20s));

        const bool granted = quorum_remains(first, last);
        BOOST_TEST(ec == outcome(first, last));
        BOOST_TEST((held.valid_until() > before) == granted);
        BOOST_TEST(!held.expired());
        BOOST_TEST(fixture.keys_left() == nodes);
    });
}

BOOST_AUTO_TEST_CASE(an_error_reply_to_extend_refuses_who_joins_and_leaves_the_hold)
{
    for_each_cell([](const char* text, std::size_t first, std::size_t last) {
        running_client fixture;
        const lease held = fixture.acquire("orders:42", {.owner = owner(1)});
        const time_point before = held.valid_until();
        answer_with(fixture, verb::extend, text, first, last);

        const auto [ec, joined] = fixture.complete(
            fixture.locks().async_try_acquire("orders:42", {.ttl = 20s, .owner = owner(1)})
        );

        const bool granted = quorum_remains(first, last);
        BOOST_TEST(ec == outcome(first, last));
        BOOST_TEST(static_cast<bool>(joined) == granted);
        BOOST_TEST((held.valid_until() > before) == granted);
        BOOST_TEST(!held.expired());
        BOOST_TEST(fixture.keys_left() == nodes);
    });
}

BOOST_AUTO_TEST_CASE(an_error_reply_to_an_automatic_extension_ends_nothing_before_the_deadline)
{
    for_each_cell([](const char* text, std::size_t first, std::size_t last) {
        running_client fixture;
        lease held = fixture.acquire("orders:42", {.ttl = 1s, .auto_extend = true});
        const auto lost = launch(held.async_wait_lost());
        answer_with(fixture, verb::extend, text, first, last);

        fixture.advance(900ms);
        BOOST_TEST(!held.expired());
        fixture.advance(1s);

        const bool lives = quorum_remains(first, last);
        BOOST_TEST(held.expired() == !lives);
        BOOST_TEST(lost->done() == !lives);
        BOOST_TEST((held.last_extension() == error::node_rejected) == !lives);
        BOOST_TEST((lost->code() == error::lease_lost) == !lives);
    });
}

BOOST_AUTO_TEST_CASE(an_error_reply_to_release_confirms_nothing)
{
    for_each_cell([](const char* text, std::size_t first, std::size_t last) {
        running_client fixture;
        lease held = fixture.acquire("orders:42");
        answer_with(fixture, verb::release, text, first, last);

        const auto [ec, said] = fixture.complete(held.async_release());
        fixture.run_until_idle();

        const bool confirmed = quorum_remains(first, last);
        BOOST_TEST(ec == error_code());
        BOOST_TEST(said == (confirmed ? release_outcome::released : release_outcome::unconfirmed));
        BOOST_TEST(held.expired());
        BOOST_TEST(fixture.keys_left() == last - first);
    });
}

BOOST_AUTO_TEST_CASE(an_error_reply_to_the_question_for_the_holder_delays_nothing)
{
    for (const char* const text : error_replies)
    {
        BOOST_TEST_CONTEXT(text)
        {
            running_client fixture;
            fixture.hold_elsewhere("orders:42", 300ms, 0, nodes);
            answer_with(fixture, verb::holder, text, 0, nodes);

            BOOST_TEST(!fixture.acquire("orders:42", {.wait = 5s}).expired());
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
