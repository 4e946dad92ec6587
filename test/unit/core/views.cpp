#include "core/views.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

BOOST_AUTO_TEST_SUITE(test_views)

using namespace redlock;
using namespace std::chrono_literals;
using core::joint_view;
using core::node_view;

namespace {

node_view without_key()
{
    return {};
}

node_view with(std::string value, milliseconds remaining = 100ms)
{
    return {std::move(value), remaining};
}

joint_view join(const std::vector<node_view>& told, std::size_t nodes = 5)
{
    return core::join_views(told, core::electorate(nodes), 500ms);
}

constexpr auto a = "aa 7 - 0 7 first";
constexpr auto b = "bb 9 - 0 9 other";

}  // namespace

BOOST_AUTO_TEST_CASE(nodes_that_said_nothing_decide_nothing)
{
    const holding shown = join({}).shown;
    BOOST_TEST(shown.state == holding_state::undecided);
    BOOST_TEST(shown.answered == 0u);
    BOOST_TEST(shown.agree == 0u);
}

BOOST_AUTO_TEST_CASE(a_resource_is_free_if_nobody_can_have_a_quorum)
{
    const node_view none = without_key();
    BOOST_TEST(join({none, none, none}).shown.state == holding_state::free);
    BOOST_TEST(join({none, none, none}).shown.agree == 3u);
    BOOST_TEST(join({none, none, none, with(a), with(a)}).shown.state == holding_state::free);
    BOOST_TEST(join({none, none}).shown.state == holding_state::undecided);
    BOOST_TEST(join({none, none}, 4).shown.state == holding_state::free);
    BOOST_TEST(join({none}, 1).shown.state == holding_state::free);
    BOOST_TEST(join({none}, 2).shown.state == holding_state::free);
}

BOOST_AUTO_TEST_CASE(a_quorum_with_one_holder_is_a_hold)
{
    const joint_view seen = join({with(a), with(b), with(a), with(a)});
    BOOST_TEST(seen.shown.state == holding_state::held);
    BOOST_TEST(seen.holder == "aa");
    BOOST_TEST(seen.shown.note.text() == "first");
    BOOST_TEST(seen.shown.token.value() == 7u);
    BOOST_TEST(seen.shown.agree == 3u);
    BOOST_TEST(seen.shown.answered == 4u);
    BOOST_TEST((seen.shown.since.value().time_since_epoch() == 7us));
}

BOOST_AUTO_TEST_CASE(a_quorum_that_keeps_a_resource_shows_its_last_holder)
{
    const joint_view seen =
        join({with("kept 7 - 0 7 first"), with("kept 7 - 0 7 first"), with(a)}, 3);
    BOOST_TEST(seen.shown.state == holding_state::kept);
    BOOST_TEST(seen.shown.note.text() == "first");
    BOOST_TEST(seen.shown.token.value() == 7u);
    const joint_view mixed = join({with("kept 7 - 0 7 first"), with("kept 9 - 0 9 other")}, 2);
    BOOST_TEST(mixed.shown.state == holding_state::undecided);
}

BOOST_AUTO_TEST_CASE(nodes_that_disagree_decide_nothing)
{
    const joint_view seen = join({with(a), with(b), with(a), with(b), without_key()});
    BOOST_TEST(seen.shown.state == holding_state::undecided);
    BOOST_TEST(seen.shown.agree == 2u);
    BOOST_TEST(seen.shown.answered == 5u);
    BOOST_TEST(seen.holder.empty());
    BOOST_TEST(!seen.shown.token);
    BOOST_TEST(seen.shown.note.empty());
}

BOOST_AUTO_TEST_CASE(a_hold_remains_for_as_long_as_a_quorum_has_it)
{
    const std::vector<node_view> told{
        with(a, 10ms), with(a, 40ms), with(a, 30ms), with(a, forever), with(a, 20ms)
    };
    BOOST_TEST(join(told).shown.remaining == 30ms);
    BOOST_TEST(join({with(a, forever)}, 1).shown.remaining == forever);
    BOOST_TEST(join({with(a), with(b), without_key()}).shown.remaining == 0ms);
}

BOOST_AUTO_TEST_CASE(the_latest_note_of_the_holder_counts)
{
    const joint_view seen = join(
        {with("aa 7 - 0 8 second"), with("aa 7 - 0 9 third"), with(a), with("bb 9 - 0 99 other")}
    );
    BOOST_TEST(seen.shown.note.text() == "third");
    BOOST_TEST(seen.shown.agree == 3u);
}

BOOST_AUTO_TEST_CASE(a_value_without_parts_is_a_holder_without_a_note)
{
    const joint_view seen = join({with("foreign"), with("foreign"), with("foreign")});
    BOOST_TEST(seen.shown.state == holding_state::held);
    BOOST_TEST(seen.holder == "foreign");
    BOOST_TEST(!seen.shown.token);
    BOOST_TEST(!seen.shown.since.has_value());
    // A key of another type.
    BOOST_TEST(join({with(""), with(""), with("")}).shown.state == holding_state::held);
}

BOOST_AUTO_TEST_CASE(a_node_whose_clock_is_off_does_not_count)
{
    std::vector<node_view> told{with(a), with(a), without_key(), without_key(), without_key()};
    for (node_view& each : told)
        each.clock = 1h;
    BOOST_TEST(join(told).shown.state == holding_state::free);
    told[3].clock = 1h + 500ms;
    BOOST_TEST(join(told).shown.state == holding_state::free);
    told[4].clock = 1h + 501ms;
    BOOST_TEST(join(told).shown.state == holding_state::undecided);
    BOOST_TEST(join(told).shown.answered == 4u);
    told[4].clock = 0h;
    BOOST_TEST(join(told).shown.state == holding_state::undecided);
}

BOOST_AUTO_TEST_CASE(clocks_that_no_quorum_has_decide_nothing)
{
    std::vector<node_view> told{with(a), with(a), with(a)};
    for (std::size_t i = 0; i < 3; ++i)
        told[i].clock = static_cast<int>(i) * 1h;
    BOOST_TEST(join(told).shown.state == holding_state::undecided);
    BOOST_TEST(join(told).shown.answered == 0u);
}

BOOST_AUTO_TEST_CASE(the_longest_queue_counts)
{
    std::vector<node_view> told{with(a), with(a), with(a)};
    told[1].waiting = 3;
    told[2].waiting = 2;
    BOOST_TEST(join(told).shown.waiting == 3u);
}

BOOST_AUTO_TEST_SUITE_END()
