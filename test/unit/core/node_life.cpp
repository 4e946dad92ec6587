#include "core/node_life.hpp"

#include "core/limits.hpp"

#include <boost/system/errc.hpp>
#include <boost/test/unit_test.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_node_life)

using namespace std::chrono_literals;
using redlock::error_code;
using redlock::log_level;
using redlock::milliseconds;
using redlock::node_state;
using redlock::reason;
using redlock::time_point;
using redlock::vote;
using redlock::core::node_life;
using redlock::core::node_news;

namespace {

constexpr time_point start{1h};
const error_code reset = make_error_code(boost::system::errc::connection_reset);

node_life a_node()
{
    return node_life("n", 3);
}

/// A way to one of the states.
struct way
{
    const char* to;
    std::function<node_news(node_life&)> go;
    node_state state;
    reason why;
    bool takes_votes;
    bool connected;
    vote absent;  ///< What a question counts as that is not taken.
    std::optional<milliseconds> left;
    std::optional<log_level> logged;  ///< When the node was connecting before.
};

const std::vector<way> ways{
    {"connecting",
     [](node_life&) { return node_news(); },
     node_state::connecting,
     reason::none,
     false,
     false,
     vote::unknown,
     {},
     {}},
    {"ready",
     [](node_life& of) { return of.admit(); },
     node_state::ready,
     reason::none,
     true,
     true,
     vote::unknown,
     {},
     log_level::info},
    {"quarantined",
     [](node_life& of) { return of.quarantine(300ms, start); },
     node_state::quarantined,
     reason::quarantined,
     false,
     true,
     vote::refused,
     301ms,
     log_level::warning},
    {"waiting for its marker",
     [](node_life& of) { return of.await_marker(); },
     node_state::quarantined,
     reason::quarantined,
     false,
     true,
     vote::refused,
     {},
     log_level::warning},
    {"down",
     [](node_life& of) { return of.lose(reset, {}); },
     node_state::down,
     reason::down,
     false,
     false,
     vote::unknown,
     {},
     log_level::warning},
    {"without its marker",
     [](node_life& of) { return of.reject({reason::unmarked, "lost its data"}, 0s); },
     node_state::down,
     reason::unmarked,
     false,
     false,
     vote::unknown,
     {},
     log_level::warning},
    {"rejected",
     [](node_life& of) { return of.reject({reason::replica, "a replica"}, 0s); },
     node_state::rejected,
     reason::replica,
     false,
     false,
     vote::refused,
     {},
     log_level::error},
    {"waiting for replicas",
     [](node_life& of) { return of.reject({reason::too_few_replicas, "NOREPLICAS no"}, 0s); },
     node_state::rejected,
     reason::too_few_replicas,
     false,
     false,
     vote::refused,
     {},
     log_level::warning},
};

/// Does `check` for each way from each state.
void on_each_way(const std::function<void(const way& from, const way& to)>& check)
{
    for (const way& from : ways)
        for (const way& to : ways)
            BOOST_TEST_CONTEXT(from.to << " -> " << to.to)
            {
                if (to.state != node_state::connecting)
                    check(from, to);
            }
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_state_says_what_becomes_of_a_question_wherever_it_was_entered_from)
{
    on_each_way([](const way& from, const way& to) {
        node_life of = a_node();
        static_cast<void>(from.go(of));
        static_cast<void>(to.go(of));

        BOOST_TEST((of.status().state == to.state));
        BOOST_TEST(of.status().reason == to.why);
        BOOST_TEST(of.status().code == (to.why == reason::down ? reset : error_code()));
        BOOST_TEST(of.status().because.empty() == (to.state == node_state::ready));
        BOOST_TEST(of.takes(true) == to.takes_votes);
        BOOST_TEST(of.takes(false) == to.connected);
        BOOST_TEST(of.connected() == to.connected);
        BOOST_TEST((of.absent_vote() == to.absent));
        BOOST_TEST((of.quarantine_left(start) == to.left));
    });
}

BOOST_AUTO_TEST_CASE(a_node_that_was_connected_is_expected_back_until_an_attempt_fails)
{
    on_each_way([](const way& from, const way& to) {
        node_life of = a_node();
        static_cast<void>(from.go(of));
        static_cast<void>(to.go(of));
        BOOST_TEST(of.connected_soon() == (to.connected || from.connected));

        static_cast<void>(of.lose(reset, {}));
        BOOST_TEST(of.connected_soon() == to.connected);
    });
}

BOOST_AUTO_TEST_CASE(each_change_is_told_once)
{
    on_each_way([](const way& from, const way& to) {
        node_life of = a_node();
        const node_news entered = from.go(of);
        const node_news first = to.go(of);
        const node_news again = to.go(of);

        BOOST_TEST(entered.changed == (from.state != node_state::connecting));
        BOOST_TEST(first.changed == (&from != &to));
        const bool still_down = from.state == node_state::down && to.state == node_state::down;
        BOOST_TEST(first.line.empty() == (&from == &to || still_down));
        if (!first.line.empty())
            BOOST_TEST((first.level == to.logged));
        BOOST_TEST(!again.changed);
        BOOST_TEST(again.line.empty());
    });
}

BOOST_AUTO_TEST_CASE(a_session_that_ends_tells_the_client_and_not_the_log)
{
    on_each_way([](const way& from, const way& to) {
        node_life of = a_node();
        static_cast<void>(from.go(of));
        of.stop();
        const node_news told = to.go(of);

        BOOST_TEST(told.changed == (&from != &to));
        BOOST_TEST(told.line.empty());
        BOOST_TEST(of.refuse("OOM").line.empty());
        BOOST_TEST(!of.end_quarantine().changed);
    });
}

BOOST_AUTO_TEST_CASE(only_a_quarantine_ends_by_itself)
{
    for (const way& each : ways)
        BOOST_TEST_CONTEXT(each.to)
        {
            node_life of = a_node();
            static_cast<void>(each.go(of));
            const bool ends = each.state == node_state::quarantined;

            BOOST_TEST(of.end_quarantine().changed == ends);
            BOOST_TEST((of.status().state == (ends ? node_state::ready : each.state)));
        }
}

BOOST_AUTO_TEST_CASE(a_quarantine_is_rounded_up_and_has_an_end)
{
    node_life of = a_node();
    static_cast<void>(of.quarantine(300ms, start));

    BOOST_TEST((of.quarantine_left(start + 1us) == 301ms));
    BOOST_TEST((of.quarantine_left(start + 301ms) == 0ms));
    BOOST_TEST((of.quarantine_left(start + 1h) == 0ms));

    static_cast<void>(of.quarantine(redlock::forever, start));
    BOOST_TEST((of.quarantine_left(start) == redlock::core::max_ttl + 1ms));
}

BOOST_AUTO_TEST_CASE(a_node_stays_in_its_state_whatever_it_refuses_until_it_is_lost)
{
    node_life of = a_node();
    static_cast<void>(of.admit());
    const node_news refused = of.refuse("OOM no memory");
    BOOST_TEST(refused.changed);
    BOOST_TEST((refused.level == log_level::error));
    BOOST_TEST(refused.line == "node n refuses commands: OOM no memory");
    BOOST_TEST(of.status().refuses == "OOM no memory");
    BOOST_TEST(of.takes(true));

    static_cast<void>(of.lose(reset, {}));
    BOOST_TEST(of.status().refuses.empty());

    const node_news again = of.refuse({});
    BOOST_TEST((again.level == log_level::info));
    BOOST_TEST(again.line == "node n no longer refuses commands");
}

BOOST_AUTO_TEST_CASE(a_refusal_tells_until_when_it_lasts_and_keeps_to_it)
{
    node_life of = a_node();
    BOOST_TEST(of.reject({reason::other_server, "two servers", 90s}, 1h).changed);
    BOOST_TEST(of.status().because == "two servers until 01:01:30 UTC");
    BOOST_TEST(!of.reject({reason::other_server, "two servers", 91s}, 1h).changed);
    BOOST_TEST(of.status().because == "two servers until 01:01:30 UTC");

    BOOST_TEST(of.reject({reason::replica, "a replica", 91s}, 1h).changed);
    BOOST_TEST(of.status().because == "a replica until 01:01:31 UTC");
}

BOOST_AUTO_TEST_CASE(a_replica_is_an_error_unless_a_failover_makes_it_one)
{
    node_life plain("n", 3);
    BOOST_TEST((plain.reject({reason::replica, "a replica"}, 0s).level == log_level::error));
    node_life group("n", 3, true);
    BOOST_TEST((group.reject({reason::replica, "a replica"}, 0s).level == log_level::warning));
    BOOST_TEST((group.reject({reason::rejected, "too old"}, 0s).level == log_level::error));
}

BOOST_AUTO_TEST_CASE(the_log_has_the_reason_and_what_waiters_have_to_do)
{
    node_life of = a_node();
    of.connect("no\ntracking");
    BOOST_TEST(of.admit().line == "node n is ready; waiters have to poll it: no tracking");
    BOOST_TEST(of.lose(reset, "; TLS?").line == "node n is down: " + reset.message() + "; TLS?");
    const std::string marker = of.await_marker().line;
    BOOST_TEST(marker.starts_with("node n is quarantined: it is new or has lost its data, and"));
    BOOST_TEST(marker.find("until 2 of the 3 nodes") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(pauses_get_longer_up_to_two_seconds_until_a_connection_was_vetted)
{
    constexpr std::uint64_t highest = ~std::uint64_t(0);
    node_life of = a_node();
    BOOST_TEST((of.pause(highest) <= 50ms));
    for (int attempt = 0; attempt < 20; ++attempt)
        BOOST_TEST((of.pause(highest) <= 2s));
    BOOST_TEST((of.pause(highest) > 1s));

    of.connect({});
    BOOST_TEST((of.pause(highest) <= 50ms));
}

BOOST_AUTO_TEST_SUITE_END()
