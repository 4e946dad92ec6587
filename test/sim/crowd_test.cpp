// What a crowd rests on: processors that tasks share, its rules, and schedules that repeat.

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/processors.hpp"
#include "sim/simulation.hpp"

namespace crowd_tests {

namespace {

using namespace redlock;
using namespace redlock::sim;
using namespace std::chrono_literals;

using log = std::vector<std::pair<nanoseconds, std::string>>;

/// Tasks on processors, and when each did what.
struct machine
{
    explicit machine(std::size_t count) : shared(time, count) {}

    void put(processors::task& of, const std::string& what)
    {
        shared.put(of, [this, what]() { seen.emplace_back(time.elapsed(), what); });
    }

    void run()
    {
        while (time.step())
        {
        }
    }

    schedule time;
    processors shared;
    log seen{};
};

/// The rules of a crowd without a crowd.
struct rules_alone
{
    [[nodiscard]] std::set<std::string> broken() const
    {
        std::set<std::string> names;
        for (const violation& each : rules.violations())
            names.insert(each.rule);
        return names;
    }

    schedule time{};
    trace told{time};
    plan drawn{};
    invariants rules{drawn, time, told, {}};
};

const std::set<std::string> nothing;

outcome run_crowd(std::uint64_t seed)
{
    script_engine scripts;
    return simulation(scripts, seed, profile::crowd, nullptr).run();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_processors)

BOOST_AUTO_TEST_CASE(a_task_takes_all_that_has_arrived)
{
    machine on(1);
    auto& task = on.shared.add_task({10us, 1us});
    on.put(task, "first");
    on.time.at(5us, [&]() { on.put(task, "second"); });
    on.time.at(6us, [&]() { on.put(task, "third"); });
    on.run();
    BOOST_TEST((on.seen == log{{11us, "first"}, {23us, "second"}, {23us, "third"}}));
}

BOOST_AUTO_TEST_CASE(tasks_get_a_processor_in_their_order)
{
    machine on(1);
    auto& one = on.shared.add_task({10us, 0us});
    auto& other = on.shared.add_task({1us, 0us});
    on.put(one, "one");
    on.put(other, "other");
    on.put(one, "one again");
    on.run();
    BOOST_TEST((on.seen == log{{10us, "one"}, {11us, "other"}, {21us, "one again"}}));
}

BOOST_AUTO_TEST_CASE(each_processor_runs_one_task)
{
    machine on(2);
    for (const char* const name : {"a", "b", "c"})
        on.put(on.shared.add_task({10us, 0us}), name);
    on.run();
    BOOST_TEST((on.seen == log{{10us, "a"}, {10us, "b"}, {20us, "c"}}));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(test_crowds)

BOOST_AUTO_TEST_CASE(a_seed_gives_the_same_crowd_again)
{
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
    {
        const outcome first = run_crowd(seed);
        const outcome second = run_crowd(seed);
        BOOST_TEST(first.hash == second.hash);
        BOOST_TEST(first.figures == second.figures);
    }
}

BOOST_AUTO_TEST_CASE(every_disturbance_is_drawn)
{
    std::set<disturbance> seen;
    dice chance(1);
    for (int i = 0; i < 100; ++i)
    {
        const auto drawn = draw_disturbances(chance);
        BOOST_TEST(drawn.size() >= 1u);
        BOOST_TEST(drawn.size() <= 3u);
        seen.insert(drawn.begin(), drawn.end());
    }
    BOOST_TEST(seen.size() == disturbance_count);
}

BOOST_AUTO_TEST_CASE(hand_overs_at_less_than_half_of_their_rate_break_i20)
{
    rules_alone alone;
    alone.rules.i20_hand_overs_keep_their_rate(50, 100ms, 1ms);
    BOOST_TEST((alone.broken() == nothing));
    alone.rules.i20_hand_overs_keep_their_rate(49, 100ms, 1ms);
    BOOST_TEST((alone.broken() == std::set<std::string>{"I20"}));
}

BOOST_AUTO_TEST_CASE(an_equal_that_is_granted_less_than_half_breaks_i21)
{
    rules_alone alone;
    alone.rules.i21_equals_share_alike(std::array<std::size_t, 3>{10, 5, 7});
    alone.rules.i21_equals_share_alike(std::array<std::size_t, 2>{3, 0});  // By chance.
    BOOST_TEST((alone.broken() == nothing));
    alone.rules.i21_equals_share_alike(std::array<std::size_t, 3>{14, 5, 7});
    BOOST_TEST((alone.broken() == std::set<std::string>{"I21"}));
}

BOOST_AUTO_TEST_CASE(a_wait_of_more_than_twenty_rounds_breaks_i22)
{
    rules_alone alone;
    alone.rules.i22_nobody_is_left_out(0, 200ms, 10ms);
    BOOST_TEST((alone.broken() == nothing));
    alone.rules.i22_nobody_is_left_out(0, 201ms, 10ms);
    BOOST_TEST((alone.broken() == std::set<std::string>{"I22"}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace crowd_tests
