// The steps of docs/tutorial, each run as its page says. The output that a page shows is compared
// with what the program prints, but for the numbers in it.

#include <redlock/error.hpp>

#include "examples/program.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <fstream>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "support/needs.hpp"

BOOST_AUTO_TEST_SUITE(
    test_tutorial,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

program step(const std::string& name, const redis_servers& nodes)
{
    return {"tutorial/" + name, {list_of(nodes)}};
}

/// The lines after `<!-- output: NAME -->` on a page of the tutorial, without their indent.
std::vector<std::string> shown(const std::string& page, const std::string& name)
{
    std::ifstream text(std::string(REDLOCK_TUTORIAL_PAGES) + "/" + page + ".md");
    std::string line;
    while (std::getline(text, line) && line != "<!-- output: " + name + " -->")
        continue;
    std::vector<std::string> lines;
    while (std::getline(text, line) && (line.empty() || line.starts_with("    ")))
    {
        if (!line.empty())
            lines.push_back(line.substr(4));
    }
    BOOST_TEST_INFO("the page has no output named " << name);
    BOOST_TEST_REQUIRE(!lines.empty());
    return lines;
}

/// What matches a text with other numbers. Three dots stand for anything, on a line of their own
/// for any lines.
std::string pattern(const std::string& text)
{
    std::string made = std::regex_replace(text, std::regex(R"([\[\](){}*+?^$|\\])"), R"(\$&)");
    made = std::regex_replace(made, std::regex(R"(\.\.\.)"), "@");
    made = std::regex_replace(made, std::regex(R"(\d+(\.\d+)*)"), R"([0-9.]+)");
    return std::regex_replace(made, std::regex("@"), ".*");
}

/// A quorum decides. Which of the nodes is asked in vain differs from run to run.
std::string without_the_last_node(std::string text)
{
    text = std::regex_replace(text, std::regex(R"([\d.:]+ not answered yet, )"), "");
    return std::regex_replace(text, std::regex(R"(, [\d.:]+ not answered yet)"), "");
}

/// Whether a text is what the page shows, line by line.
bool is_shown(const std::string& text, const std::string& page, const std::string& name)
{
    std::string expected;
    for (const std::string& line : shown(page, name))
        expected += line == "..." ? R"((.|\n)*)" : pattern(line) + "\n";
    return std::regex_match(text, std::regex(expected));
}

/// Whether a text has each line that the page shows, in any order.
bool has_shown_lines(const std::string& text, const std::string& page, const std::string& name)
{
    const std::string printed = "\n" + without_the_last_node(text);
    for (const std::string& line : shown(page, name))
    {
        const std::string expected = pattern(without_the_last_node(line));
        if (!std::regex_search(printed, std::regex("\n" + expected + "\n")))
        {
            BOOST_TEST_MESSAGE("not printed: " << line);
            return false;
        }
    }
    return true;
}

/// Waits for the end of a program that printed what a page shows, and nothing else.
void check_run(program&& run, const std::string& page, const std::string& name)
{
    BOOST_TEST((run.exit_status() == 0));
    BOOST_TEST_INFO("it printed: " << run.output());
    BOOST_TEST(is_shown(run.output(), page, name));
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_step_without_nodes_says_what_it_needs)
{
    for (const char* name :
         {"1_first_lock",
          "2_wait_or_try",
          "3_with_lock",
          "4_service",
          "5_fencing",
          "6_leader",
          "7_ask_why"})
    {
        BOOST_TEST_CONTEXT(name)
        {
            program unnamed("tutorial/" + std::string(name), {});
            BOOST_TEST((unnamed.exit_status() == 1));
            const std::string complaint = std::string(name) + ": name the nodes: redis://";
            BOOST_TEST(unnamed.output().starts_with(complaint));
        }
    }
}

BOOST_AUTO_TEST_CASE(new_nodes_that_were_told_nothing_do_not_vote)
{
    redis_servers nodes(3);
    program early = step("1_first_lock", nodes);

    BOOST_TEST((early.exit_status() == 1));
    BOOST_TEST(has_shown_lines(early.output(), "1-first-lock", "quarantined"));
}

BOOST_FIXTURE_TEST_CASE(first_lock_holds_and_releases, example_nodes)
{
    check_run(step("1_first_lock", nodes), "1-first-lock", "first_lock");
    BOOST_TEST(is_free("orders:42"));
}

BOOST_FIXTURE_TEST_CASE(wait_or_try_does_both_where_nobody_else_is, example_nodes)
{
    check_run(step("2_wait_or_try", nodes), "2-wait-or-try", "free");
}

BOOST_FIXTURE_TEST_CASE(wait_or_try_waits_for_a_short_while, example_nodes)
{
    hold_elsewhere("orders:42", 1s);
    check_run(step("2_wait_or_try", nodes), "2-wait-or-try", "free");
}

BOOST_FIXTURE_TEST_CASE(wait_or_try_gives_up_after_two_seconds, example_nodes)
{
    hold_elsewhere("orders:42", 60s);
    check_run(step("2_wait_or_try", nodes), "2-wait-or-try", "held");
}

BOOST_FIXTURE_TEST_CASE(wait_or_try_does_not_wait_for_another_printer, example_nodes)
{
    hold_elsewhere("invoices:42", 60s);
    check_run(step("2_wait_or_try", nodes), "2-wait-or-try", "tried");
}

BOOST_AUTO_TEST_CASE(wait_or_try_tells_contention_from_missing_nodes)
{
    redis_servers nodes(1);
    nodes[0].kill();
    check_run(step("2_wait_or_try", nodes), "2-wait-or-try", "nobody");
}

BOOST_FIXTURE_TEST_CASE(with_lock_works_for_longer_than_the_ttl, example_nodes)
{
    check_run(step("3_with_lock", nodes), "3-with-lock", "rebuilt");
    BOOST_TEST(is_free("index:products"));
}

BOOST_FIXTURE_TEST_CASE(with_lock_stops_half_way_when_the_lock_is_lost, example_nodes)
{
    program with_lock = step("3_with_lock", nodes);
    BOOST_TEST_REQUIRE(with_lock.says("part 1"));
    take_away("index:products");

    check_run(std::move(with_lock), "3-with-lock", "lost");
}

BOOST_FIXTURE_TEST_CASE(service_gives_back_what_it_holds_when_it_is_told_to_end, example_nodes)
{
    for (const int number : {SIGINT, SIGTERM})
    {
        program service = step("4_service", nodes);
        BOOST_TEST_REQUIRE(service.says("north: counted"));
        BOOST_TEST_REQUIRE(service.says("south: counted"));

        service.signal(number);
        BOOST_TEST((service.exit_status() == 0));
        BOOST_TEST(has_shown_lines(service.output(), "4-service", "service"));
        BOOST_TEST_INFO("it printed: " << service.output());
        BOOST_TEST(service.output().ends_with("closing\nclosed\n"));
        BOOST_TEST(is_free("north"));
        BOOST_TEST(is_free("south"));
    }
}

BOOST_FIXTURE_TEST_CASE(service_ends_although_no_node_answers, example_nodes)
{
    program service = step("4_service", nodes);
    BOOST_TEST_REQUIRE(service.says("counting"));
    for (redis_server& node : nodes)
        node.pause();

    service.signal(SIGTERM);
    BOOST_TEST((service.exit_status() == 0));
    // In between the log says that the nodes are down: they have time to answer the releases.
    BOOST_TEST(service.output().find("closing\n") != std::string::npos);
    BOOST_TEST(service.output().ends_with("closed\n"));
}

BOOST_FIXTURE_TEST_CASE(service_that_is_told_twice_ends_at_once, example_nodes)
{
    program service = step("4_service", nodes);
    BOOST_TEST_REQUIRE(service.says("counting"));
    for (redis_server& node : nodes)
        node.pause();

    service.signal(SIGINT);
    BOOST_TEST_REQUIRE(service.says("closing"));
    service.signal(SIGINT);
    BOOST_TEST((service.exit_status() == std::nullopt));
    BOOST_TEST(!service.has_said("closed"));
}

BOOST_FIXTURE_TEST_CASE(services_share_their_work_and_one_takes_over_at_once, example_nodes)
{
    program first = step("4_service", nodes);
    BOOST_TEST_REQUIRE(first.says("north: counting"));
    program second = step("4_service", nodes);
    BOOST_TEST(second.says("north: counting"));

    first.kill();
    BOOST_TEST(second.says("north: counted"));
    second.signal(SIGTERM);
    BOOST_TEST((second.exit_status() == 0));
}

BOOST_FIXTURE_TEST_CASE(fencing_refuses_the_holder_that_is_late, example_nodes)
{
    program fencing = step("5_fencing", nodes);
    BOOST_TEST_REQUIRE((fencing.exit_status() == 0));

    const std::string printed = fencing.output();
    BOOST_TEST(is_shown(printed, "5-fencing", "refused"));
    BOOST_TEST(number_after("A has token ", printed) < number_after("B has token ", printed));
}

BOOST_FIXTURE_TEST_CASE(a_leader_that_dies_is_replaced, example_nodes)
{
    const std::string leads = "leading, term ";
    program first = step("6_leader", nodes);
    BOOST_TEST_REQUIRE(first.says(leads));
    program second = step("6_leader", nodes);
    program third = step("6_leader", nodes);

    first.kill();
    BOOST_TEST(is_shown(first.output(), "6-leader", "leads"));
    BOOST_TEST_REQUIRE(
        eventually([&] { return second.has_said(leads) || third.has_said(leads); }, patience)
    );
    program& successor = second.has_said(leads) ? second : third;
    program& last = second.has_said(leads) ? third : second;
    BOOST_TEST(number_after(leads, successor.output()) > number_after(leads, first.output()));
    BOOST_TEST(!last.has_said(leads));

    successor.signal(SIGTERM);
    BOOST_TEST((successor.exit_status() == 0));
    BOOST_TEST(is_shown(successor.output(), "6-leader", "ends"));
    // At once: if it had to wait for the end of the ttl of 3 s, it would be for 2 s at least.
    BOOST_TEST(eventually([&] { return last.has_said(leads); }, 1500ms));

    last.signal(SIGINT);
    BOOST_TEST((last.exit_status() == 0));
    BOOST_TEST(is_free("shop:leader"));
}

BOOST_FIXTURE_TEST_CASE(ask_why_tells_how_it_went, example_nodes)
{
    program ask_why = step("7_ask_why", nodes);
    BOOST_TEST((ask_why.exit_status() == 0));
    BOOST_TEST(has_shown_lines(ask_why.output(), "7-ask-why", "acquired"));
}

BOOST_FIXTURE_TEST_CASE(ask_why_tells_how_long_the_holder_has_left, example_nodes)
{
    hold_elsewhere("orders:42", 5s);
    program ask_why = step("7_ask_why", nodes);
    BOOST_TEST((ask_why.exit_status() == 0));
    BOOST_TEST(has_shown_lines(ask_why.output(), "7-ask-why", "held"));
}

BOOST_FIXTURE_TEST_CASE(ask_why_tells_which_nodes_are_down, example_nodes)
{
    nodes[0].kill();
    nodes[1].kill();
    program ask_why = step("7_ask_why", nodes);
    BOOST_TEST((ask_why.exit_status() == 0));
    BOOST_TEST(has_shown_lines(ask_why.output(), "7-ask-why", "down"));
}

BOOST_AUTO_TEST_SUITE_END()
