// The simulator itself: it repeats itself, its faults happen, and it sees what is wrong.

#include "node/guard.hpp"
#include "node/verbs.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>

#include "sim/simulation.hpp"
#include "support/old_scripts.hpp"

namespace simulation_tests {

namespace {

using namespace redlock;
using namespace redlock::sim;
using namespace std::chrono_literals;

outcome run_seed(std::uint64_t seed, profile of, std::ostream* words = nullptr)
{
    script_engine scripts;
    simulation drawn(scripts, seed, of, words);
    return drawn.run();
}

/// Rules, a plan and a server that a test breaks by hand.
class broken_world
{
public:
    broken_world()
        : told(time),
          in(time, told, {.name = "c0"}, 1),
          node(
              time,
              scripts,
              told,
              {},
              1,
              [this](const key_change& c) { rules.on_change(c); },
              [this](const command_run& c) { rules.on_run(c); }
          ),
          rules(plan_of_one_node(), time, told, {{&node}})
    {
    }

    [[nodiscard]] std::set<std::string> broken() const
    {
        std::set<std::string> names;
        for (const violation& each : rules.violations())
            names.insert(each.rule);
        return names;
    }

    [[nodiscard]] answer put(unsigned client, const arguments& command)
    {
        session from;
        from.client = client;
        return node.execute(from, command);
    }

    schedule time;
    trace told;
    script_engine scripts;
    process in;
    server node;
    plan drawn;
    invariants rules;

private:
    const plan& plan_of_one_node()
    {
        drawn.nodes = 1;
        drawn.mode = mode::guarded;
        return drawn;
    }
};

claim claim_with(const redlock::lease& held, const process& in, std::uint64_t token)
{
    claim made;
    made.held = &held;
    made.in = &in;
    made.resource = "r0";
    made.token = fencing_token::from_value(token);
    return made;
}

const std::set<std::string> nothing;

}  // namespace

BOOST_AUTO_TEST_SUITE(test_simulation)

BOOST_AUTO_TEST_CASE(a_seed_gives_the_same_schedule_again)
{
    const auto run_again = [](std::uint64_t seed, profile of) {
        std::ostringstream once;
        std::ostringstream again;
        const outcome first = run_seed(seed, of, &once);
        const outcome second = run_seed(seed, of, &again);
        BOOST_TEST(first.hash == second.hash);
        BOOST_TEST(first.events == second.events);
        BOOST_TEST((once.str() == again.str()));
        BOOST_TEST(run_seed(seed, of).hash == first.hash);  // Without words.
    };
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        run_again(seed, profile::respecting);
    for (std::uint64_t seed = 1; seed <= 2; ++seed)
    {
        run_again(seed, profile::overloaded);
        run_again(seed, profile::lines);
        run_again(seed, profile::failovers);
        run_again(seed, profile::rolling);
    }
}

BOOST_AUTO_TEST_CASE(schedules_do_not_depend_on_those_before)
{
    script_engine scripts;
    const outcome alone = run_seed(7, profile::respecting);
    for (std::uint64_t seed = 1; seed < 7; ++seed)
        static_cast<void>(simulation(scripts, seed, profile::respecting, nullptr).run());
    BOOST_TEST(simulation(scripts, 7, profile::respecting, nullptr).run().hash == alone.hash);
}

BOOST_AUTO_TEST_CASE(other_seeds_give_other_schedules)
{
    std::set<std::uint64_t> hashes;
    for (std::uint64_t seed = 1; seed <= 50; ++seed)
        hashes.insert(run_seed(seed, profile::respecting).hash);
    BOOST_TEST(hashes.size() == 50u);
}

BOOST_AUTO_TEST_CASE(every_fault_happens)
{
    std::array<std::size_t, fault_count> seen{};
    std::size_t claims = 0;
    std::size_t woken = 0;
    script_engine scripts;
    const auto add = [&](profile of, std::uint64_t seeds) {
        for (std::uint64_t seed = 1; seed <= seeds; ++seed)
        {
            const outcome got = simulation(scripts, seed, of, nullptr).run();
            claims += got.claims;
            woken += got.woken;
            for (std::size_t i = 0; i < fault_count; ++i)
                seen[i] += got.faults[i];
        }
    };
    add(profile::respecting, 100);
    add(profile::majority_step, 5);
    add(profile::deleted_keys, 5);
    add(profile::overloaded, 3);
    add(profile::failovers, 20);

    BOOST_TEST(claims > 100u);
    BOOST_TEST(woken > 50u);
    for (std::size_t i = 0; i < fault_count; ++i)
        BOOST_TEST_CONTEXT(to_string(static_cast<fault>(i)))
    BOOST_TEST(seen[i] > 0u);
}

BOOST_AUTO_TEST_CASE(a_trace_tells_what_the_network_does)
{
    std::string all;
    for (std::uint64_t seed = 1; seed <= 100; ++seed)
    {
        std::ostringstream words;
        run_seed(seed, profile::respecting, &words);
        all += words.str();
    }
    for (const char* each :
         {"gets a request once more",
          "loses a direction",
          "stands still",
          "is suspended",
          "ends without a word",
          "is frozen",
          "EVALSHA",
          "-NOSCRIPT",
          "-LOADING",
          "-OOM",
          "-READONLY",
          "-BUSY",
          "holds"})
        BOOST_TEST((all.find(each) != all.npos), each);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(test_versions)

BOOST_AUTO_TEST_CASE(old_and_new_clients_mark_nodes_alike)
{
    client_config config = plan().config();
    config.mode = mode::guarded;
    const auto mark = detail::make_guard(config)->fingerprint;
    BOOST_TEST(mark == "redlock 1;databases=0;nodes=3;ttl_max=400;clock_window=100;");
    const std::string old = test::make_old_scripts(config).acquire;
    BOOST_TEST((old.find("local fingerprint = '" + mark + "'") != old.npos));
}

BOOST_AUTO_TEST_CASE(old_and_new_clients_wake_each_other_without_an_error)
{
    script_engine scripts;
    std::size_t new_woken = 0;
    std::size_t old_woken = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed)
    {
        // With one task each, nobody is woken but by the other client.
        const auto one_of_each = [](plan& drawn) {
            drawn.clients = 2;
            drawn.old = 1;
            drawn.actors = drawn.resources = 1;
            drawn.calm = true;
            drawn.habits = {};  // A request that is repeated on another connection has no RESP3.
            drawn.faults.clear();
            drawn.polling = 0;
        };
        const outcome seen = simulation(scripts, seed, profile::mixed, nullptr, one_of_each).run();
        BOOST_TEST_CONTEXT("seed " << seed)
        {
            BOOST_TEST(seen.violations.empty());
            BOOST_TEST(seen.errors == 0u);
        }
        old_woken += seen.old_woken;
        new_woken += seen.woken - seen.old_woken;
    }
    BOOST_TEST(old_woken > 0u);
    BOOST_TEST(new_woken > 0u);
}

BOOST_AUTO_TEST_CASE(nobody_waits_longer_among_old_and_new_clients_than_among_old_ones)
{
    script_engine scripts;
    const auto wait = [&scripts](std::uint64_t seed, std::size_t old) {
        const auto lines_of_eight = [old](plan& drawn) {
            drawn.clients = 3;
            drawn.old = old;
            drawn.load.lines = {8, 8, 8};
        };
        return simulation(scripts, seed, profile::lines, nullptr, lines_of_eight).run();
    };
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
    {
        const outcome among_old = wait(seed, 3);
        for (std::size_t old = 0; old < 3; ++old)
        {
            const outcome mixed = wait(seed, old);
            BOOST_TEST_CONTEXT("seed " << seed << ", old clients " << old)
            {
                BOOST_TEST(mixed.claims * 10 >= among_old.claims * 9);
                BOOST_TEST(mixed.longest_wait.count() * 2 <= among_old.longest_wait.count() * 3);
            }
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(test_weakened_scripts)

namespace {

/// The first rule that is broken where scripts have other words in place of some. Empty: none is.
std::string first_broken(
    profile of,
    std::uint64_t schedules,
    const std::string& words,
    const std::string& by
)
{
    script_engine scripts;
    scripts.replace(words, by);
    for (std::uint64_t seed = 1; seed <= schedules; ++seed)
    {
        const outcome seen = simulation(scripts, seed, of, nullptr).run();
        if (!seen.violations.empty())
            return seen.violations.front().rule;
    }
    BOOST_TEST(scripts.replacements() > 0u);
    return {};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_hold_that_is_not_taken_again_breaks_i19)
{
    const std::string words = "if value and not kept_before(value, token) then";
    BOOST_TEST(first_broken(profile::rolling, 20, words, "if true then") == "I19");
}

BOOST_AUTO_TEST_CASE(a_fence_that_refuses_to_take_a_hold_again_breaks_i19)
{
    const std::string words = "    if value then\n        redis.call('DEL', key)";
    const std::string check = "    if fence and fence + 0 > token + 0 then return 0 end\n";
    BOOST_TEST(first_broken(profile::rolling, 20, words, check + words) == "I19");
}

BOOST_AUTO_TEST_CASE(a_release_without_a_mark_breaks_i18)
{
    const std::string rest = "    return found and 1 or 0";
    const std::string words = "    mark.set('released')\n" + rest;
    BOOST_TEST(first_broken(profile::respecting, 2000, words, rest) == "I18");
}

BOOST_AUTO_TEST_CASE(a_mark_only_where_the_key_was_not_ours_breaks_i18)
{
    const std::string rest = "    return found and 1 or 0";
    const std::string words = "    mark.set('released')\n" + rest;
    const std::string less = "    if not found then mark.set('released') end\n" + rest;
    BOOST_TEST(first_broken(profile::respecting, 2000, words, less) == "I18");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(test_invariants)

BOOST_AUTO_TEST_CASE(a_lower_token_breaks_i3)
{
    broken_world world;
    const redlock::lease none;
    world.rules.begin(claim_with(none, world.in, 5), {});
    BOOST_TEST((world.broken() == nothing));
    world.rules.begin(claim_with(none, world.in, 4), world.rules.highest("r0"));
    BOOST_TEST((world.broken() == std::set<std::string>{"I3"}));
}

BOOST_AUTO_TEST_CASE(the_same_token_twice_breaks_i3)
{
    broken_world world;
    const redlock::lease none;
    world.rules.begin(claim_with(none, world.in, 5), {});
    world.rules.begin(claim_with(none, world.in, 5), world.rules.highest("r0"));
    BOOST_TEST((world.broken() == std::set<std::string>{"I3"}));
}

BOOST_AUTO_TEST_CASE(a_write_over_another_one_breaks_i4)
{
    broken_world world;
    const auto token = fencing_token::from_value(5);
    const auto version = world.rules.read_store("r0", token);
    BOOST_TEST(world.rules.write_store("r0", token, *version));
    BOOST_TEST((world.broken() == nothing));
    BOOST_TEST(world.rules.write_store("r0", token, *version));
    BOOST_TEST((world.broken() == std::set<std::string>{"I4"}));
}

BOOST_AUTO_TEST_CASE(a_plain_del_breaks_i5)
{
    broken_world world;
    BOOST_TEST(!world.put(1, {"SET", "r0", "mine", "NX", "PX", "100"}).is_error());
    BOOST_TEST((world.broken() == nothing));
    BOOST_TEST(world.put(2, {"DEL", "r0"}).number == 1);
    BOOST_TEST((world.broken() == std::set<std::string>{"I5"}));
}

BOOST_AUTO_TEST_CASE(a_set_over_a_live_key_breaks_i5)
{
    broken_world world;
    BOOST_TEST(!world.put(1, {"SET", "r0", "mine", "NX", "PX", "100"}).is_error());
    BOOST_TEST(!world.put(2, {"SET", "r0", "theirs", "PX", "100"}).is_error());
    BOOST_TEST((world.broken() == std::set<std::string>{"I5"}));
}

BOOST_AUTO_TEST_CASE(a_key_without_a_ttl_breaks_i6)
{
    broken_world world;
    BOOST_TEST(!world.put(1, {"SET", "r0", "mine", "NX"}).is_error());
    BOOST_TEST((world.broken() == std::set<std::string>{"I6"}));
}

BOOST_AUTO_TEST_CASE(a_key_that_is_left_breaks_i6)
{
    broken_world world;
    BOOST_TEST(!world.put(1, {"SET", "r0", "mine", "NX", "PX", "100"}).is_error());
    world.rules.i6_no_key_is_left(true);
    BOOST_TEST((world.broken() == std::set<std::string>{"I6"}));
}

BOOST_AUTO_TEST_CASE(a_call_that_does_not_complete_breaks_i8)
{
    broken_world world;
    call_book calls;
    calls.add(std::make_shared<call<error_code>>());
    world.rules.i8_every_call_has_completed_once(calls);
    BOOST_TEST((world.broken() == std::set<std::string>{"I8"}));
}

BOOST_AUTO_TEST_CASE(a_call_that_completes_twice_breaks_i8)
{
    broken_world world;
    call_book calls;
    const auto started = std::make_shared<call<error_code>>();
    calls.add(started);
    for (int i = 0; i < 2; ++i)
    {
        ++started->completions;
        calls.note_completion(*started);
    }
    world.rules.i8_every_call_has_completed_once(calls);
    BOOST_TEST((world.broken() == std::set<std::string>{"I8"}));
}

BOOST_AUTO_TEST_CASE(an_acquisition_that_fails_in_peace_breaks_i9)
{
    broken_world world;
    world.rules.i9_is_alive(false, "timed out");
    BOOST_TEST((world.broken() == std::set<std::string>{"I9"}));
}

BOOST_AUTO_TEST_CASE(a_wait_without_an_end_breaks_i9)
{
    broken_world world;
    world.rules.i9_waits_in_bounds(100ms, 100ms);
    BOOST_TEST((world.broken() == nothing));
    world.rules.i9_waits_in_bounds(101ms, 100ms);
    BOOST_TEST((world.broken() == std::set<std::string>{"I9"}));
}

BOOST_AUTO_TEST_CASE(a_burst_that_a_stall_delays_for_long_breaks_i11)
{
    broken_world world;
    world.rules.i11_goodput_returns(2s, 1s, 500ms);
    world.rules.i11_goodput_returns(500ms, 100ms, 500ms);
    BOOST_TEST((world.broken() == nothing));
    world.rules.i11_goodput_returns(2s + 1ns, 1s, 500ms);
    BOOST_TEST((world.broken() == std::set<std::string>{"I11"}));
}

BOOST_AUTO_TEST_CASE(a_burst_without_a_stall_that_takes_long_breaks_i11)
{
    broken_world world;
    world.rules.i11_goodput_returns(501ms, 0ms, 500ms);
    BOOST_TEST((world.broken() == std::set<std::string>{"I11"}));
}

BOOST_AUTO_TEST_CASE(a_client_that_is_granted_less_than_half_breaks_i12)
{
    broken_world world;
    world.rules.i12_shares_are_alike(std::array<std::size_t, 3>{100, 50, 70});
    world.rules.i12_shares_are_alike(std::array<std::size_t, 2>{39, 0});  // Too few to say.
    BOOST_TEST((world.broken() == nothing));
    world.rules.i12_shares_are_alike(std::array<std::size_t, 3>{100, 49, 70});
    BOOST_TEST((world.broken() == std::set<std::string>{"I12"}));
}

BOOST_AUTO_TEST_CASE(a_view_that_contradicts_a_valid_claim_breaks_i14)
{
    broken_world world;
    const redlock::lease none;
    const claim holds = claim_with(none, world.in, 7);
    world.rules.i14_a_view_fits(holds, {.state = holding_state::undecided});
    world.rules.i14_a_view_fits(holds, {.state = holding_state::held, .token = holds.token});
    world.rules.i14_a_view_fits(holds, {.state = holding_state::held});
    BOOST_TEST((world.broken() == nothing));
    world.rules.i14_a_view_fits(holds, {.state = holding_state::free});
    BOOST_TEST((world.broken() == std::set<std::string>{"I14"}));
}

BOOST_AUTO_TEST_CASE(a_view_with_the_token_of_another_breaks_i14)
{
    broken_world world;
    const redlock::lease none;
    const claim holds = claim_with(none, world.in, 7);
    world.rules.i14_a_view_fits(
        holds, {.state = holding_state::held, .token = fencing_token::from_value(8)}
    );
    BOOST_TEST((world.broken() == std::set<std::string>{"I14"}));
}

BOOST_AUTO_TEST_CASE(a_claim_that_outlives_its_revocation_breaks_i15)
{
    broken_world world;
    const redlock::lease none;
    const claim holds = claim_with(none, world.in, 7);
    world.rules.i15_ends_by("r0", fencing_token::from_value(8), -1ns);
    world.rules.i15_ends_by("r0", holds.token, 0ns);
    world.rules.i15_a_revoked_claim_has_ended(holds);
    BOOST_TEST((world.broken() == nothing));
    world.rules.i15_ends_by("r0", holds.token, -1ns);
    world.rules.i15_a_revoked_claim_has_ended(holds);
    BOOST_TEST((world.broken() == std::set<std::string>{"I15"}));
}

BOOST_AUTO_TEST_CASE(a_grant_before_the_time_that_a_release_keeps_breaks_i17)
{
    broken_world world;
    const redlock::lease none;
    const auto token = fencing_token::from_value(5);
    world.rules.i17_keeps_until("r0", token, world.node.now());
    world.rules.begin(claim_with(none, world.in, 7), {});
    BOOST_TEST((world.broken() == nothing));
    world.rules.i17_keeps_until("r0", token, world.node.now() + 1us);
    world.rules.begin(claim_with(none, world.in, 8), {});
    BOOST_TEST((world.broken() == std::set<std::string>{"I17"}));
}

BOOST_AUTO_TEST_CASE(a_grant_in_the_grace_of_a_lost_claim_breaks_i16)
{
    broken_world world;
    const redlock::lease none;
    const claim lost = claim_with(none, world.in, 7);
    world.rules.i16_begin_grace("r0", lost.token, 1ns);
    world.rules.i16_begin_grace("r1", fencing_token::from_value(6), 1ns);
    world.rules.begin(lost, {});  // Another lease of the same hold.
    world.rules.end_grace(lost);
    world.rules.begin(claim_with(none, world.in, 8), {});
    BOOST_TEST((world.broken() == nothing));
    world.rules.i16_begin_grace("r0", lost.token, 1ns);
    world.rules.begin(claim_with(none, world.in, 9), {});
    BOOST_TEST((world.broken() == std::set<std::string>{"I16"}));
}

BOOST_AUTO_TEST_CASE(a_key_of_a_released_attempt_breaks_i18)
{
    broken_world world;
    const auto guard = detail::make_guard(world.drawn.config());
    const detail::script_set all = detail::make_scripts(&*guard);
    const std::string& release = script_of(all, detail::verb::finish).text;
    BOOST_TEST(world.put(1, {"EVAL", release, "1", "r0", "-", "abc", "5"}).number == 0);
    BOOST_TEST(!world.put(1, {"SET", "r0", "def 6 - 0 6 ", "NX", "PX", "100"}).is_error());
    BOOST_TEST(world.put(1, {"EVAL", release, "1", "r0", "-", "def", "6"}).number == 1);
    BOOST_TEST(!world.put(1, {"SET", "r1", "abc 5 - 0 5 ", "NX", "PX", "100"}).is_error());
    BOOST_TEST((world.broken() == nothing));
    BOOST_TEST(!world.put(1, {"SET", "r0", "abc 5 - 0 5 ", "NX", "PX", "100"}).is_error());
    BOOST_TEST((world.broken() == std::set<std::string>{"I18"}));
}

BOOST_AUTO_TEST_CASE(a_node_that_forgets_its_releases_does_not_break_i18)
{
    broken_world world;
    const auto guard = detail::make_guard(world.drawn.config());
    const detail::script_set all = detail::make_scripts(&*guard);
    const std::string& release = script_of(all, detail::verb::release).text;
    BOOST_TEST(world.put(1, {"EVAL", release, "1", "r0", "-", "abc", "5"}).number == 0);
    world.node.flush_all();
    BOOST_TEST(!world.put(1, {"SET", "r0", "abc 5 - 0 5 ", "NX", "PX", "100"}).is_error());
    BOOST_TEST((world.broken() == nothing));
}

BOOST_AUTO_TEST_CASE(an_extended_claim_that_is_lost_breaks_i19)
{
    const redlock::lease over;
    const auto broken_by = [&over](auto change) {
        broken_world world;
        world.rules.i19_begin();
        claim held = claim_with(over, world.in, 7);
        held.extended = true;
        change(world, held);
        const auto kept = world.rules.begin(held, {});
        world.rules.check();
        world.rules.end(kept);
        return world.broken();
    };
    BOOST_TEST((broken_by([](auto&, claim& held) { held.extended = false; }) == nothing));
    BOOST_TEST((broken_by([](auto&, claim& held) { held.covered = false; }) == nothing));
    BOOST_TEST((broken_by([](auto&, claim& held) { held.closing = true; }) == nothing));
    const auto revoke = [](broken_world& world, const claim& held) {
        world.rules.i19_excuse(held.resource, held.token);
    };
    BOOST_TEST((broken_by(revoke) == nothing));
    const auto nothing_else = [](auto&, auto&) {};
    BOOST_TEST((broken_by(nothing_else) == std::set<std::string>{"I19"}));
}

BOOST_AUTO_TEST_CASE(a_node_that_lacks_an_extended_claim_for_long_breaks_i19)
{
    broken_world world;
    const redlock::lease held;
    claim made = claim_with(held, world.in, 7);
    made.extended = true;
    const auto kept = world.rules.begin(made, {});
    BOOST_TEST(!world.rules.i19_all_stand(0ns));
    world.time.at(world.drawn.longest_lack(), []() {});
    BOOST_TEST(world.time.step());
    BOOST_TEST(!world.rules.i19_all_stand(0ns));
    BOOST_TEST((world.broken() == nothing));
    world.time.after(1ns, []() {});
    BOOST_TEST(world.time.step());
    BOOST_TEST(!world.rules.i19_all_stand(0ns));
    BOOST_TEST((world.broken() == std::set<std::string>{"I19"}));
}

BOOST_AUTO_TEST_CASE(a_key_of_a_client_that_has_closed_breaks_i13)
{
    broken_world world;
    BOOST_TEST(!world.put(1, {"SET", "r0", "mine", "NX", "PX", "100"}).is_error());
    world.rules.i13_nothing_of_nobody_is_left(2);
    world.rules.i13_nothing_of_nobody_is_left(1, std::array<const server*, 1>{&world.node});
    BOOST_TEST((world.broken() == nothing));
    world.rules.i13_nothing_of_nobody_is_left(1);
    BOOST_TEST((world.broken() == std::set<std::string>{"I13"}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace simulation_tests
