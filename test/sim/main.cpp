// Runs schedules of the simulator, and tells which broke a rule.

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/simulation.hpp"

namespace {

using namespace redlock::sim;

struct options
{
    std::uint64_t schedules = 1000;
    std::uint64_t seed = 1;
    std::string profile = "respecting";
    std::vector<std::string> disturb{};  ///< What disturbs a crowd. Empty: that is drawn.
    std::vector<std::string> expect{};   ///< Rules that have to be broken.
    std::vector<std::string> allow{};    ///< Others that may be.
    std::vector<std::string> replace{};  ///< Words of scripts and what stands in their place.
    bool trace = false;
    bool figures = false;
    bool go_on = false;
};

/// What was seen in all schedules.
struct totals
{
    std::uint64_t schedules = 0;
    std::uint64_t events = 0;
    std::uint64_t claims = 0;
    std::uint64_t woken = 0;
    std::uint64_t broken = 0;
    std::uint64_t hash = 0;
    std::array<std::uint64_t, fault_count> faults{};
    nanoseconds longest_lack{0};
    std::map<std::string, std::uint64_t> rules;  ///< In how many schedules each was broken.

    void add(const outcome& of)
    {
        ++schedules;
        events += of.events;
        claims += of.claims;
        woken += of.woken;
        hash = hash * 31 + of.hash;
        for (std::size_t i = 0; i < fault_count; ++i)
            faults[i] += of.faults[i];
        longest_lack = std::max(longest_lack, of.longest_lack);
        broken += !of.violations.empty();
        std::set<std::string> broken_rules;
        for (const violation& each : of.violations)
            broken_rules.insert(each.rule);
        for (const std::string& rule : broken_rules)
            ++rules[rule];
    }
};

void tell(const options& how, std::uint64_t seed, const outcome& of)
{
    for (const violation& each : of.violations)
    {
        std::cout << "seed " << seed << " of " << how.profile << ": " << each.rule << " at "
                  << static_cast<double>(each.when.count()) / 1e6 << " ms: " << each.words << '\n';
        if (!how.trace)
            break;
    }
}

void tell(const totals& all, double seconds)
{
    std::cout << all.schedules << " schedules, " << all.events << " events, " << all.claims
              << " leases, " << all.broken << " schedules with a broken rule, hash " << std::hex
              << all.hash << std::dec << ", " << seconds << " s, "
              << static_cast<std::uint64_t>(static_cast<double>(all.schedules) / seconds)
              << " schedules/s\n  rounds of who was woken: " << all.woken << '\n';
    for (std::size_t i = 0; i < fault_count; ++i)
        std::cout << "  " << to_string(static_cast<fault>(i)) << ": " << all.faults[i] << '\n';
    if (all.longest_lack > nanoseconds(0))
    {
        const auto lack = std::chrono::ceil<milliseconds>(all.longest_lack);
        std::cout << "  longest lack of an extended hold: " << lack.count() << " ms\n";
    }
    for (const auto& [rule, count] : all.rules)
        std::cout << "broken in " << count << " schedules: " << rule << '\n';
}

/// Whether those rules were broken that had to be, and no others than may be.
bool as_expected(const options& how, const totals& all)
{
    bool yes = true;
    for (const std::string& rule : how.expect)
    {
        if (all.rules.contains(rule))
            continue;
        yes = false;
        std::cout << "was not broken: " << rule << '\n';
    }
    for (const auto& [rule, count] : all.rules)
    {
        const bool may_be = std::ranges::find(how.expect, rule) != how.expect.end() ||
                            std::ranges::find(how.allow, rule) != how.allow.end();
        yes = yes && may_be;
    }
    return yes;
}

/// A crowd that is disturbed as it was asked for.
redlock::sim::plan disturbed_crowd(const options& how, std::uint64_t seed)
{
    std::vector<disturbance> by;
    for (const std::string& name : how.disturb)
    {
        const auto found = to_disturbance(name);
        if (!found)
            throw std::invalid_argument("nothing disturbs by '" + name + "'");
        by.push_back(*found);
    }
    dice chance(seed);
    return draw_crowd(by, chance);
}

int run(const options& how)
{
    const auto of = to_profile(how.profile);
    if (!of)
        throw std::invalid_argument("there is no profile '" + how.profile + "'");
    script_engine scripts;
    for (std::size_t i = 0; i + 1 < how.replace.size(); i += 2)
        scripts.replace(how.replace[i], how.replace[i + 1]);
    totals all;
    const auto begun = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < how.schedules; ++i)
    {
        const auto change = [&how, seed = how.seed + i](redlock::sim::plan& drawn) {
            if (!how.disturb.empty())
                drawn = disturbed_crowd(how, seed);
        };
        simulation drawn(scripts, how.seed + i, *of, how.trace ? &std::cout : nullptr, change);
        const outcome seen = drawn.run();
        all.add(seen);
        if (how.figures)
            std::cout << "seed " << how.seed + i << ": " << seen.figures << '\n';
        if (!seen.violations.empty())
        {
            if (how.expect.empty() || how.trace)
                tell(how, how.seed + i, seen);
            if (!how.go_on && how.expect.empty())
                break;
        }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    tell(all, took.count());
    if (!how.replace.empty() && scripts.replacements() == 0)
        throw std::invalid_argument("no script has the words to replace");
    return as_expected(how, all) ? 0 : 1;
}

}  // namespace

int main(int count, char** values)
{
    options how;
    CLI::App app(
        "Runs schedules of the simulator. Ends with 1 if a rule was broken, or if one was "
        "not that had to be."
    );
    app.add_option("--schedules", how.schedules, "How many, with seeds from --seed on");
    app.add_option("--seed", how.seed, "The first seed");
    app.add_option("--profile", how.profile, "What may go wrong: see test/sim/plan.hpp");
    app.add_option("--disturb", how.disturb, "What disturbs a crowd, such as far_clients,frozen")
        ->delimiter(',');
    app.add_option("--expect", how.expect, "Rules that have to be broken, such as I1,I2")
        ->delimiter(',');
    app.add_option("--allow", how.allow, "Other rules that may be broken")->delimiter(',');
    app.add_option("--replace", how.replace, "Words of the nodes' scripts, and others for them")
        ->expected(2);
    app.add_flag("--trace", how.trace, "Tell what happens");
    app.add_flag("--figures", how.figures, "Tell how fast and how fair each crowd was");
    app.add_flag("--go-on", how.go_on, "Do not stop at the first broken rule");
    CLI11_PARSE(app, count, values);
    try
    {
        return run(how);
    }
    catch (const std::exception& failure)
    {
        std::cerr << failure.what() << '\n';
        return 2;
    }
}
