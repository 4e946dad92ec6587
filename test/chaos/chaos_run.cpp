#include "chaos/chaos_run.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <poll.h>

#include "chaos/nemesis.hpp"
#include "chaos/stage.hpp"
#include "support/eventually.hpp"

namespace redlock::test {

namespace {

using namespace std::chrono_literals;

/// How long the nemesis rests at most between two acts, and how often everything is healed.
constexpr int longest_rest = 200;
constexpr std::chrono::seconds time_between_calms = 60s;

constexpr std::chrono::seconds time_to_recover = 60s;

/// How many leases have to outlive the restart of all nodes in turn.
constexpr std::uint32_t kept = 4;

bool is_guarded(const chaos_settings& settings)
{
    return settings.mode == "guarded";
}

void check_settings(const chaos_settings& settings)
{
    const std::array known{"none", "fencing", "quarantine", "compare"};
    if (std::ranges::find(known, settings.without) == known.end())
        throw std::invalid_argument("nothing is called '" + settings.without + "'");
    if (!is_guarded(settings) && settings.without == "fencing")
        throw std::invalid_argument("plain mode has no tokens");
    if (!is_guarded(settings) && settings.rolling != 0)
        throw std::invalid_argument("plain mode doesn't say when a node may vote again");
}

/// Nodes of plain mode must keep everything. In guarded mode each finds something else again.
std::vector<redis_storage> storage_for(const chaos_settings& settings)
{
    using enum redis_storage;
    if (settings.without == "quarantine")
        return {none, none, none, none, none};
    if (!is_guarded(settings))
        return {every_write, every_write, every_write, every_write, every_write};
    return {none, every_second, every_write, none, every_second};
}

stage_options options_for(const chaos_settings& settings)
{
    stage_options options;
    options.storage = storage_for(settings);
    options.workers = settings.workers;
    options.polling = settings.polling;
    options.fenced = is_guarded(settings);
    options.kept = settings.rolling != 0 ? kept : 0;
    options.spread = milliseconds(settings.spread);
    if (settings.without == "quarantine" && is_guarded(settings))
        options.guard = restart_guard::bypassed;
    worker_options& work = options.work;
    work.how.mode = settings.mode;
    work.how.ttl_max = 1s;
    work.how.durable_nodes = true;
    work.tasks = settings.tasks;
    work.resources = settings.resources;
    work.ttl = 500ms;
    work.node_timeout = 100ms;
    work.wait = 100ms;
    work.hold = 3ms;
    work.long_hold = 900ms;
    work.one_long_of = 32;
    work.extends = true;
    if (is_guarded(settings))
    {
        work.grace = 200ms;
        work.at_least = 100ms;
        work.revokes = true;
    }
    work.store_checks = settings.without != "fencing";
    work.deletes = settings.without == "compare";
    if (settings.without != "none")
        work.one_long_of = 8;
    return options;
}

/// Those of a control are what it takes, so that it fails soon.
std::vector<std::string> faults_for(const chaos_settings& settings)
{
    std::vector<std::string> names;
    std::istringstream list(settings.faults);
    for (std::string name; std::getline(list, name, ',');)
        names.push_back(name);
    if (!names.empty())
        return names;
    if (settings.without == "fencing")
        return {"pause worker", "pause node", "delay"};
    if (settings.without == "quarantine")
        return {"restart without data", "all down", "pause worker"};
    if (settings.without == "compare")
        return {"pause worker", "delay"};
    return {};
}

tokens tokens_of(const chaos_settings& settings)
{
    return is_guarded(settings) ? tokens::increasing : tokens::none;
}

void keep_logs(stage& on, const nemesis& harm, const std::filesystem::path& folder)
{
    if (folder.empty())
        return;
    std::filesystem::create_directories(folder);
    for (const crew* const each : {&on.workers(), &on.keepers()})
    {
        for (const auto& file : std::filesystem::directory_iterator(each->folder()))
        {
            // Both have one that is called so.
            const bool is_log = file.path().filename() != "output";
            if (file.is_regular_file() && (is_log || each == &on.workers()))
                std::filesystem::copy(
                    file.path(),
                    folder / file.path().filename(),
                    std::filesystem::copy_options::overwrite_existing
                );
        }
    }
    std::ofstream(folder / "nemesis") << harm.diary();
}

void print_progress(stage& on, deadline_point start)
{
    const std::chrono::duration<double> passed = deadline_clock::now() - start;
    std::cout << "after " << static_cast<int>(passed.count()) << " s: " << on.workers().claims()
              << " acquisitions" << std::endl;
}

/// Restarts all nodes as docs/operations.md says: the next one when all have all leases again.
/// @return Whether that came to pass each time.
bool restart_in_turn(stage& on, nemesis& harm, chaos_report& report)
{
    const auto have_all = [&on] { return on.all_nodes_have_what_is_kept(); };
    if (!eventually(have_all, time_to_recover))
        return false;
    rolling_restart& now = report.rolling.emplace_back();
    now.begin = boot_clock::now();
    for (std::size_t node = 0; node < on.node_count(); ++node)
    {
        harm.restart_in_turn(node);
        if (!eventually(have_all, time_to_recover))
            return false;
    }
    now.end = boot_clock::now();
    return true;
}

std::size_t count_losses(const stage& on, const chaos_report& report)
{
    const auto without_cause = [&](const operation& one) {
        return one.what == action::lose && one.resource >= on.first_kept() &&
               std::ranges::any_of(report.rolling, [&one](const rolling_restart& each) {
                   return each.begin <= one.invoked && one.invoked <= each.end;
               });
    };
    return static_cast<std::size_t>(std::ranges::count_if(report.all.operations, without_cause));
}

/// Does harm until it is time to end. @return Whether the workers recovered each time.
bool do_harm(stage& on, nemesis& harm, chaos_report& report)
{
    const chaos_settings& settings = report.settings;
    const bool is_control = settings.without != "none";
    const auto start = deadline_clock::now();
    const auto end = start + std::chrono::seconds(settings.seconds);
    const auto is_over = [&] {
        const bool enough =
            settings.acquisitions != 0 && on.workers().claims() >= settings.acquisitions;
        return enough || deadline_clock::now() >= end;
    };
    auto look = start + 1s;
    auto calm = start + time_between_calms;
    const std::chrono::seconds between(settings.rolling);
    auto rolling = between > 0s ? start + between : deadline_point::max();
    std::mt19937_64 random(settings.seed);
    while (!is_over())
    {
        harm.act();
        ::poll(nullptr, 0, static_cast<int>(random() % longest_rest));
        if (is_control && deadline_clock::now() >= look)
        {
            if (!check(on.read(), tokens_of(settings)).empty())
                return true;
            look = deadline_clock::now() + 1s;
        }
        const bool rolls = deadline_clock::now() >= rolling;
        if (deadline_clock::now() < calm && !rolls)
            continue;
        harm.heal_all();
        print_progress(on, start);
        if (!on.workers().each_makes(3, time_to_recover))
            return false;
        calm = deadline_clock::now() + time_between_calms;
        if (!rolls)
            continue;
        if (!restart_in_turn(on, harm, report))
            return false;
        rolling = deadline_clock::now() + between;
    }
    harm.heal_all();
    return on.workers().each_makes(3, time_to_recover);
}

}  // namespace

chaos_report run_chaos(const chaos_settings& settings)
{
    check_settings(settings);
    chaos_report report;
    report.settings = settings;
    if (settings.seed == 0)
        report.settings.seed = std::random_device()();
    std::cout << "seed " << report.settings.seed << std::endl;

    const auto start = deadline_clock::now();
    stage on(options_for(settings));
    nemesis harm(on, settings.mode, faults_for(settings), report.settings.seed);
    try
    {
        report.live = do_harm(on, harm, report);
    }
    catch (const std::exception& failure)
    {
        report.live = false;
        report.output = std::string("nemesis: ") + failure.what() + '\n' + harm.last_notes();
    }
    report.all = on.read();
    on.workers().kill();
    on.keepers().kill();
    report.lost_without_cause = count_losses(on, report);
    report.violations = check(report.all, tokens_of(settings));
    report.faults = harm.counts();
    report.output += on.workers().output() + on.keepers().output();
    report.seconds = std::chrono::duration<double>(deadline_clock::now() - start).count();
    keep_logs(on, harm, settings.keep);
    return report;
}

std::string describe(const chaos_report& report)
{
    std::map<std::string, std::size_t> counts;
    for (const operation& one : report.all.operations)
        ++counts[std::string(to_string(one.what)) + ' ' + to_string(one.result)];
    std::ostringstream out;
    out << "seed " << report.settings.seed << ", " << report.settings.mode << " mode, without "
        << report.settings.without << ", " << report.seconds << " s\n";
    out << granted(report.all).size() << " acquisitions by " << report.settings.workers
        << " workers, " << report.settings.polling << " of them polling, with "
        << report.settings.tasks << " tasks, " << report.all.store.size()
        << " writes in the store\n";
    for (const auto& [name, count] : counts)
        out << "    " << name << ": " << count << '\n';
    out << "faults:\n";
    for (const auto& [name, count] : report.faults)
        out << "    " << name << ": " << count << '\n';
    out << report.rolling.size() << " times all nodes restarted in turn, "
        << report.lost_without_cause << " leases lost without cause\n";
    out << (report.live ? "live\n" : "NOT LIVE\n") << report.output;
    out << describe(report.violations, report.all);
    return out.str();
}

}  // namespace redlock::test
