// Inspections: the holder of a resource, and its note.

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <tuple>
#include <vector>

#include "support/contains.hpp"
#include "support/fixture.hpp"
#include "support/guarded_client.hpp"

BOOST_AUTO_TEST_SUITE(test_inspect)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

struct inspecting_client : guarded_client
{
    void quarantine(std::size_t first, std::size_t last)
    {
        each_node(first, last, [this](fake_node& node) {
            node.guard().quarantined_until = time().elapsed() + 1min;
        });
    }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_resource_that_nobody_holds_is_free, inspecting_client)
{
    const holding seen = inspect();
    BOOST_TEST(seen.state == holding_state::free);
    BOOST_TEST(seen.answered == 5u);
    BOOST_TEST(seen.agree == 5u);
    BOOST_TEST(seen.note.empty());
    BOOST_TEST(!seen.token);
    BOOST_TEST(seen.remaining == 0ms);
}

BOOST_FIXTURE_TEST_CASE(a_holder_is_seen_with_its_note_and_its_token, inspecting_client)
{
    const lease held = acquire("orders:42", {.ttl = 10s, .note = "ships order 42"});
    advance(1s);
    const holding seen = inspect();
    BOOST_TEST(seen.state == holding_state::held);
    BOOST_TEST(seen.note.text() == "ships order 42");
    BOOST_TEST(seen.token == held.fence());
    BOOST_TEST(seen.agree == 5u);
    BOOST_TEST(seen.remaining == 9s);
    const std::chrono::microseconds since(held.fence().value());
    BOOST_TEST((seen.since.value().time_since_epoch() == since));
    BOOST_TEST((seen.as_of.time_since_epoch() > 0s));
}

BOOST_FIXTURE_TEST_CASE(an_inspection_changes_nothing, inspecting_client)
{
    const lease held = acquire("orders:42");
    log().clear();
    inspect();
    BOOST_TEST(log().size() == 5u);
    BOOST_TEST(sent_to(verb::inspect).size() == 5u);
    BOOST_TEST(keys_left() == 5u);
}

BOOST_FIXTURE_TEST_CASE(nodes_in_quarantine_never_count_as_free, inspecting_client)
{
    quarantine(0, 2);
    BOOST_TEST(inspect().state == holding_state::free);
    BOOST_TEST(inspect().answered == 3u);
    quarantine(2, 3);
    BOOST_TEST(inspect().state == holding_state::undecided);
    BOOST_TEST(inspect().agree == 2u);
}

BOOST_FIXTURE_TEST_CASE(unmarked_nodes_never_count_as_free, inspecting_client)
{
    each_node(0, 3, [](fake_node& node) { node.guard().marked = false; });
    BOOST_TEST(inspect().state == holding_state::undecided);
    BOOST_TEST(inspect().answered == 2u);
}

BOOST_FIXTURE_TEST_CASE(nodes_that_do_not_answer_are_no_error, inspecting_client)
{
    const lease held = acquire("orders:42");
    silence(verb::inspect, 0, 2);
    BOOST_TEST(inspect().state == holding_state::held);
    BOOST_TEST(inspect().answered == 3u);
    each_node(0, 5, [](fake_node& node) { node.becomes(node_state::down); });
    run_until_idle();
    BOOST_TEST(inspect().state == holding_state::undecided);
    BOOST_TEST(inspect().answered == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_foreign_holder_has_no_note, inspecting_client)
{
    hold_elsewhere("orders:42", forever, 0, 5);
    const holding seen = inspect();
    BOOST_TEST(seen.state == holding_state::held);
    BOOST_TEST(seen.note.empty());
    BOOST_TEST(!seen.token);
    BOOST_TEST(seen.remaining == forever);
}

BOOST_FIXTURE_TEST_CASE(clients_that_wait_are_counted, inspecting_client)
{
    hold_elsewhere("orders:42", 9s, 0, 5);
    const auto waiting = launch(locks().async_acquire("orders:42", {.ttl = 10s, .wait = 1min}));
    const auto behind = launch(locks().async_acquire("orders:42", {.ttl = 10s, .wait = 1min}));
    advance(10ms);
    BOOST_TEST(inspect().waiting == 1u);
}

BOOST_AUTO_TEST_CASE(a_client_in_plain_mode_sees_a_holder_without_a_note)
{
    running_client plain({.mode = mode::plain});
    const lease held = plain.acquire("orders:42", {.ttl = 10s});
    const auto [ec, seen] = plain.complete(plain.locks().async_inspect("orders:42"));
    BOOST_TEST(ec == error_code());
    BOOST_TEST(seen.state == holding_state::held);
    BOOST_TEST(seen.agree == 5u);
    BOOST_TEST(seen.note.empty());
    BOOST_TEST(!seen.token);
}

BOOST_AUTO_TEST_CASE(an_inspection_waits_for_the_first_connections)
{
    client_fixture fixture({.mode = mode::guarded});
    fixture.each_node([](fake_node& node) { node.starts(node_state::connecting); });
    fixture.start_client();
    const auto started = launch(fixture.locks().async_inspect("orders:42"));
    fixture.advance(500ms);
    BOOST_TEST(!started->done());
    fixture.each_node([](fake_node& node) { node.becomes(node_state::ready); });
    fixture.run_until_idle();
    BOOST_TEST_REQUIRE(started->done());
    BOOST_TEST(started->value().state == holding_state::free);
}

BOOST_AUTO_TEST_CASE(an_inspection_does_not_wait_for_ever_for_connections)
{
    client_fixture fixture({.mode = mode::guarded});
    fixture.each_node([](fake_node& node) { node.starts(node_state::connecting); });
    fixture.start_client();
    const auto started = launch(fixture.locks().async_inspect("orders:42"));
    fixture.advance(11s);
    BOOST_TEST_REQUIRE(started->done());
    BOOST_TEST(started->code() == error_code());
    BOOST_TEST(started->value().state == holding_state::undecided);
}

BOOST_AUTO_TEST_CASE(a_bad_resource_is_refused_with_its_size)
{
    std::vector<std::string> lines;
    running_client client({.mode = mode::guarded, .lines = &lines});
    const auto [ec, seen] = client.complete(client.locks().async_inspect(""));
    BOOST_TEST(ec == error::invalid_argument);
    BOOST_TEST_REQUIRE(lines.size() == 1u);
    BOOST_TEST(lines.front() == "inspect of '': resource has 0 bytes, must have 1 to 512");
    BOOST_TEST(client.sent_to(verb::inspect).empty());
}

BOOST_FIXTURE_TEST_CASE(a_holder_announces_another_note, inspecting_client)
{
    const lease held = acquire("orders:42", {.ttl = 10s, .note = "begins"});
    advance(5s);
    BOOST_TEST(code_of(held.async_announce("half done")) == error_code());
    BOOST_TEST(inspect().note.text() == "half done");
    BOOST_TEST(inspect().token == held.fence());
    BOOST_TEST(inspect().remaining == 10s);
    BOOST_TEST(code_of(held.async_announce({})) == error_code());
    BOOST_TEST(inspect().note.empty());
}

BOOST_FIXTURE_TEST_CASE(an_announcement_reaches_later_what_it_has_missed, inspecting_client)
{
    lease held = acquire("orders:42", {.ttl = 10s, .note = "begins"});
    each_node(0, 2, [](fake_node& node) { node.on(verb::extend).never().once(); });
    BOOST_TEST(code_of(held.async_announce("half done")) == error_code());
    advance(100ms);
    const auto says = [this](std::size_t index) {
        return node(index).store().whole_value("orders:42", time().elapsed());
    };
    BOOST_TEST(contains(says(0), "begins"));
    BOOST_TEST(contains(says(4), "half done"));
    BOOST_TEST(inspect().note.text() == "half done");
    BOOST_TEST(code_of(held.async_extend()) == error_code());
    BOOST_TEST(contains(says(0), "half done"));
}

BOOST_FIXTURE_TEST_CASE(announcements_of_one_moment_are_in_order, inspecting_client)
{
    const lease held = acquire("orders:42", {.ttl = 10s});
    const auto first = launch(held.async_announce("first"));
    const auto second = launch(held.async_announce("second"));
    advance(10ms);
    BOOST_TEST(first->done());
    BOOST_TEST(second->done());
    BOOST_TEST(inspect().note.text() == "second");
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_is_over_announces_nothing, inspecting_client)
{
    lease held = acquire("orders:42", {.ttl = 10s});
    BOOST_TEST(code_of(held.async_release()) == error_code());
    log().clear();
    BOOST_TEST(code_of(held.async_announce("x")) == error::lease_lost);
    BOOST_TEST(log().empty());
}

BOOST_AUTO_TEST_CASE(plain_mode_has_no_notes)
{
    std::vector<std::string> lines;
    running_client plain({.mode = mode::plain, .lines = &lines});
    BOOST_TEST(
        plain.code_of(plain.locks().async_acquire("a", acquire_options{.note = "x"})) ==
        error::invalid_argument
    );
    const lease held = plain.acquire("a", {.ttl = 10s});
    plain.log().clear();
    BOOST_TEST(plain.code_of(held.async_announce("x")) == error::invalid_argument);
    BOOST_TEST(plain.log().empty());
    for (const std::string& line : lines)
        BOOST_TEST(contains(line, "note needs guarded mode, but the client is in plain mode"));
    BOOST_TEST(lines.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
