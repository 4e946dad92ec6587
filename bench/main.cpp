// Compares what the library does in a second with what a bare client does on the same servers.

#include "absence.hpp"
#include "burst.hpp"
#include "comparison.hpp"
#include "contention.hpp"
#include "crowd.hpp"
#include "faults.hpp"
#include "inquiries.hpp"
#include "isolated.hpp"
#include "leases.hpp"
#include "long_line.hpp"
#include "loop.hpp"
#include "options.hpp"
#include "pairs.hpp"
#include "placement.hpp"
#include "result.hpp"
#include "scenario.hpp"
#include "vacancy.hpp"
#include "waiter.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t node_count = 5;

/// Longer than leases are held.
constexpr std::chrono::minutes time_limit{5};

using bench::options;
using bench::scale;

void print(const std::string& table, const std::string& json_lines)
{
    std::fputs(table.c_str(), stderr);
    std::fputs(json_lines.c_str(), stdout);
    std::fflush(stdout);  // What a child inherits in the buffer, it would print again.
}

std::vector<std::uint16_t> ports_of(redlock::test::redis_servers& servers)
{
    std::vector<std::uint16_t> ports;
    for (const redlock::test::redis_server& server : servers)
        ports.push_back(server.port());
    return ports;
}

// The functions below return whether all went well.

bool run_pairs(
    const options& chosen,
    const bench::placement& where,
    redlock::test::redis_servers& servers
)
{
    bench::pair_nodes nodes{.plain = ports_of(servers), .with_overlap = {}, .servers = {}};
    std::optional<redlock::test::redis_servers> others;
    if (chosen.wants_overlap())
        nodes.with_overlap = ports_of(others.emplace(node_count));
    for (auto* const some : {&servers, others ? &*others : nullptr})
        for (std::size_t at = 0; some && at < some->size(); ++at)
            nodes.servers.push_back((*some)[at].pid());
    const bench::report found = bench::compare_pairs(chosen, where, nodes);
    print(to_table(found), to_json_lines(found));
    return std::ranges::none_of(found.rows, [](const auto& row) { return row.summary.errors; });
}

// A hundred thousand leases, as long as an operator would watch.
bool hold_leases(const options& chosen, std::span<const std::uint16_t> ports)
{
    using namespace std::chrono_literals;
    const bool quick = chosen.size == scale::quick;
    const bench::leases_plan plan{
        .leases = quick ? 10'000U : 100'000U,
        .ttl = quick ? 6s : 30s,
        .held_for = quick ? 12s : 120s,
    };
    bool none_lost = true;
    for (const char* mode : {"guarded", "plain"})
    {
        const auto found = bench::run_isolated<bench::leases_row>(time_limit, [&] {
            return bench::measure_leases(mode, ports, plan);
        });
        print(to_table(found), to_json_line(found));
        none_lost &= found.lost == 0;
    }
    return none_lost;
}

std::chrono::seconds choose_duration(const options& chosen, std::size_t usual)
{
    return std::chrono::seconds(chosen.seconds.value_or(usual));
}

bench::crowd choose_crowd(const options& chosen, const bench::crowd& usual)
{
    return chosen.crowds.empty() ? usual : chosen.crowds.front();
}

bool contend(const options& chosen, std::span<const std::uint16_t> ports)
{
    const bench::contention_plan plan{
        .ports = ports,
        .mode = chosen.mode,
        .duration = choose_duration(chosen, chosen.size == scale::quick ? 3 : 10),
    };
    const bench::crowd many = choose_crowd(chosen, {.processes = 64, .tasks = 1});
    const std::vector<bench::crowd> usual{{8, 1}, {8, 8}, {64, 1}, {256, 1}};
    bool well = true;
    const auto tell = [&](const std::vector<bench::contention_row>& rows) {
        print(to_table(rows), to_json_lines(rows));
        for (const bench::contention_row& row : rows)
            well &= row.violations + row.errors == 0;
    };
    if (chosen.names("contended"))
        tell(measure_contended(plan));
    if (chosen.names("contended-procs"))
        tell(measure_contended_processes(plan, chosen.crowds.empty() ? usual : chosen.crowds));
    if (chosen.names("killed-waiters"))
        tell({measure_casualties(plan, many, bench::fate::killed)});
    if (chosen.names("frozen-waiters"))
        tell({measure_casualties(plan, many, bench::fate::frozen)});
    return well;
}

/// A row of the table about crowds.
struct crowd_case
{
    bench::crowd contenders;
    bench::scenario what;
};

std::vector<crowd_case> choose_cases(const options& chosen)
{
    std::vector<crowd_case> cases;
    if (chosen.crowds.empty() && chosen.scenarios.empty())
    {
        for (const char* text :
             {"",
              "compilers=2",
              "nodes=3,compilers=2",
              "killed=64",
              "frozen=64",
              "missing=1",
              "missing=2",
              "slow=20",
              "lost=3"})
            cases.push_back({{256, 1}, bench::parse_scenario(text)});
        for (const char* text : {"nodes=3", "nodes=3,clocks=10"})
            cases.push_back({{16, 1}, bench::parse_scenario(text)});
        for (const char* text : {"", "far=16,delay=10", "far=16,delay=40"})
            cases.push_back({{128, 1}, bench::parse_scenario(text)});
        for (const bench::crowd& each : {bench::crowd{8, 150}, bench::crowd{8, 375}})
            cases.push_back({each, bench::parse_scenario("wait=60")});
        return cases;
    }
    std::vector<bench::crowd> crowds = chosen.crowds;
    std::vector<bench::scenario> scenarios = chosen.scenarios;
    if (crowds.empty())
        crowds.push_back({256, 1});
    if (scenarios.empty())
        scenarios.emplace_back();
    for (const bench::crowd& each : crowds)
        for (const bench::scenario& what : scenarios)
            cases.push_back({each, what});
    return cases;
}

bool gather(const options& chosen)
{
    const bench::crowd_plan plan{
        .mode = chosen.mode,
        .duration = choose_duration(chosen, chosen.size == scale::quick ? 4 : 10),
    };
    print(bench::crowd_heading(), "");
    bool well = true;
    for (std::size_t round = 0; round < chosen.rounds.value_or(1); ++round)
    {
        for (const crowd_case& each : choose_cases(chosen))
        {
            const auto row = bench::measure_crowd(plan, each.contenders, each.what);
            print(to_table(row), to_json_line(row));
            well &= row.found.violations == 0;
        }
    }
    return well;
}

bool wait_in_vain(const options& chosen, std::span<const std::uint16_t> ports)
{
    const std::size_t tasks = choose_crowd(chosen, {.processes = 1, .tasks = 1000}).tasks;
    const auto row = bench::measure_waiting(ports, chosen.mode, tasks, choose_duration(chosen, 10));
    print(to_table(row), to_json_line(row));
    return row.acquired + row.errors == 0;
}

bool meet_vacancies(const options& chosen, std::span<const std::uint16_t> ports)
{
    using bench::vacancy_cause;
    static constexpr std::array causes{
        std::pair{"killed-holder", vacancy_cause::killed_holder},
        std::pair{"foreign-release", vacancy_cause::foreign_release},
        std::pair{"expiry", vacancy_cause::expiry},
    };
    bool well = true;
    for (const auto& [name, cause] : causes)
    {
        if (!chosen.names(name))
            continue;
        const auto row = bench::measure_vacancy(
            ports,
            {
                .cause = cause,
                .mode = chosen.mode,
                .waiters = choose_crowd(chosen, {.processes = 8, .tasks = 1}),
                .times = chosen.times.value_or(chosen.size == scale::quick ? 20 : 100),
            }
        );
        print(to_table(row), to_json_line(row));
        well &= row.failed == 0;
    }
    return well;
}

bool meet_faults(const options& chosen, redlock::test::redis_servers& servers)
{
    const std::size_t pairs = chosen.size == scale::quick ? 2'000 : 10'000;
    const auto rows = bench::measure_faults(servers, chosen.rounds.value_or(5), pairs);
    print(bench::to_table(rows), bench::to_json_lines(rows));
    return std::ranges::none_of(rows, [](const auto& row) { return row.errors != 0; });
}

bool tell_burst(
    redlock::test::redis_servers& servers,
    const bench::burst_plan& plan,
    std::size_t times
)
{
    const std::vector rows{bench::measure_burst(servers, plan, times)};
    print(to_table(rows), to_json_lines(rows));
    return rows[0].not_granted + rows[0].neighbours_lost + rows[0].left == 0;
}

bool burst(
    const options& chosen,
    redlock::test::redis_servers& three,
    redlock::test::redis_servers& five
)
{
    using namespace std::chrono_literals;
    const bool quick = chosen.size == scale::quick;
    const std::size_t times = chosen.times.value_or(quick ? 3 : 5);
    bool well = true;
    for (const bench::crowd& each : chosen.crowds)
    {
        const bench::burst_plan plan{
            .mode = chosen.mode, .processes = each.processes, .acquisitions = each.tasks
        };
        well &= tell_burst(three, plan, times);
    }
    if (!chosen.crowds.empty())
        return well;
    for (const auto mode : {redlock::mode::guarded, redlock::mode::plain})
    {
        for (redlock::test::redis_servers* servers : {&three, &five})
        {
            for (const std::size_t count : {1'000U, 10'000U, 100'000U})
            {
                if (!quick || count < 100'000U)
                    well &= tell_burst(*servers, {.mode = mode, .acquisitions = count}, times);
            }
        }
        for (const bench::burst_plan& each : {
                 bench::burst_plan{.mode = mode, .acquisitions = 10'000, .away = 10ms},
                 {.mode = mode, .processes = 2, .acquisitions = 20'000},
                 {.mode = mode, .processes = 8, .acquisitions = 3'000},
             })
            well &= tell_burst(three, each, times);
    }
    return well;
}

bool stall(const options& chosen, redlock::test::redis_servers& three)
{
    using namespace std::chrono_literals;
    const bool quick = chosen.size == scale::quick;
    const std::size_t times = chosen.times.value_or(quick ? 1 : 5);
    bool well = true;
    for (const auto mode : {redlock::mode::guarded, redlock::mode::plain})
    {
        for (const auto duration : {300ms, 1000ms, 3000ms})
        {
            for (const std::size_t acquisitions : {2'000U, 10'000U})
            {
                const bench::burst_plan plan{
                    .mode = mode, .acquisitions = acquisitions, .stall = duration
                };
                well &= tell_burst(three, plan, times);
            }
        }
        const auto row =
            bench::measure_stalled_leases(three, mode, quick ? 20'000 : 100'000, 3000ms);
        print(to_table(row), to_json_line(row));
        well &= row.lost == 0;
    }
    return well;
}

bool line_up(const options& chosen, redlock::test::redis_servers& three)
{
    const bool quick = chosen.size == scale::quick;
    bool well = true;
    for (const auto mode : {redlock::mode::guarded, redlock::mode::plain})
    {
        const auto row = bench::measure_long_line(three, mode, quick ? 5'000 : 50'000);
        print(to_table(row), to_json_line(row));
        well &= !row.neighbour_lost;
    }
    return well;
}

bool go_away(const options& chosen, redlock::test::redis_servers& three)
{
    const bool quick = chosen.size == scale::quick;
    bool well = true;
    for (const bench::absence how : {bench::absence::frozen, bench::absence::restarted})
    {
        const auto row = bench::measure_absence(three, how, quick ? 10'000 : 100'000);
        print(to_table(row), to_json_line(row));
        well &= row.well();
    }
    return well;
}

bool inquire(const options& chosen, redlock::test::redis_servers& three)
{
    const bool quick = chosen.size == scale::quick;
    const auto rows = bench::measure_inquiries(three, quick ? 2'000 : 20'000);
    print(to_table(rows), to_json_lines(rows));
    return std::ranges::all_of(rows, &bench::inquiries_row::well);
}

// On three nodes, as most have them, and on five.
bool press(const options& chosen, redlock::test::redis_servers& five)
{
    redlock::test::redis_servers three(3);
    bench::initialize_nodes(ports_of(three));
    bool well = true;
    if (chosen.names("burst"))
        well &= burst(chosen, three, five);
    if (chosen.names("stall"))
        well &= stall(chosen, three);
    if (chosen.names("long-line"))
        well &= line_up(chosen, three);
    if (chosen.names("absence"))
        well &= go_away(chosen, three);
    if (chosen.names("inquiries"))
        well &= inquire(chosen, three);
    return well;
}

bool run_all(const options& chosen)
{
    const bench::placement where = chosen.apart ? bench::keep_apart() : bench::share_all();
    bench::move_to(where.servers);
    redlock::test::redis_servers servers(node_count);
    const std::vector<std::uint16_t> ports = ports_of(servers);
    bench::initialize_nodes(ports);

    bool well = true;
    if (chosen.wants_pairs())
        well &= run_pairs(chosen, where, servers);
    if (chosen.names("leases"))
        well &= hold_leases(chosen, ports);
    well &= contend(chosen, ports);
    if (chosen.names("crowd"))
        well &= gather(chosen);
    if (chosen.names("waiting"))
        well &= wait_in_vain(chosen, ports);
    well &= meet_vacancies(chosen, ports);
    if (chosen.names("burst") || chosen.names("stall") || chosen.names("long-line") ||
        chosen.names("absence") || chosen.names("inquiries"))
        well &= press(chosen, servers);
    if (chosen.wants_faults())  // The last one: servers that were killed have lost their mark.
        well &= meet_faults(chosen, servers);
    return well;
}

}  // namespace

int main(int argc, char** argv)
{
    try
    {
        const options chosen = bench::parse_options(argc, argv);
        if (chosen.context)
            bench::loop::use(chosen.context->kind);
        return run_all(chosen) ? 0 : 1;
    }
    catch (const std::exception& failure)
    {
        std::fprintf(stderr, "redlock_bench: %s\n", failure.what());
        return 1;
    }
}
