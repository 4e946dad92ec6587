#include "contention.hpp"

#include "bare_contender.hpp"
#include "casualties.hpp"
#include "child.hpp"
#include "contender.hpp"
#include "node_commands.hpp"
#include "pairs.hpp"
#include "result.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>

namespace bench {
namespace {

using namespace std::chrono_literals;
using clock = scoreboard::clock;

constexpr std::chrono::minutes time_limit{5};
constexpr auto connecting_limit = 60s;

/// After contention it is checked for so long whether two hold at once. Then what waiting costs is
/// measured, when the contenders have settled.
constexpr auto checking = 1s;
constexpr auto settling = 500ms;
constexpr auto holding = 2s;

/// What a process does: contends on a resource with its number on the scoreboard.
using contest =
    std::function<void(scoreboard& board, std::size_t process, const std::string& resource)>;

/// What happens between start and stop. Returns how often it was put off.
using disturbance =
    std::function<std::size_t(contest_processes& processes, const scoreboard& board)>;

double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

double mean(const std::vector<float>& values)
{
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    return ratio(sum, static_cast<double>(values.size()));
}

double cpu_seconds(const contest_processes& processes)
{
    std::chrono::duration<double> sum{0};
    for (const child& each : processes.all)
        sum += each.cpu_time();
    return sum.count();
}

contest_processes start_processes(
    scoreboard& board,
    const contest& run,
    const std::string& resource
)
{
    contest_processes processes{.resource = resource, .all = {}, .struck = {}};
    for (std::size_t process = 0; process < board.contenders().processes; ++process)
        processes.all.emplace_back(time_limit, [&] { run(board, process, resource); });
    processes.struck.resize(processes.all.size());

    const clock::time_point give_up = clock::now() + connecting_limit;
    while (board.ready() < processes.all.size())
    {
        if (clock::now() > give_up)
            throw std::runtime_error("contenders do not get ready");
        std::this_thread::sleep_for(5ms);
    }
    return processes;
}

void end_processes(contest_processes& processes)
{
    for (std::size_t process = 0; process < processes.all.size(); ++process)
        if (!processes.struck[process] && !processes.all[process].join())
            throw std::runtime_error("a contender failed");
}

// Of those who could work all the time.
std::vector<std::uint64_t> pairs_of_survivors(
    const scoreboard& board,
    const contest_processes& processes
)
{
    std::vector<std::uint64_t> pairs = board.pairs_of_parties();
    if (processes.all.size() == 1)
        return pairs;
    std::size_t process = 0;
    std::erase_if(pairs, [&](std::uint64_t) { return processes.struck[process++]; });
    return pairs;
}

void sum_up(contention_row& row, const scoreboard& board, const contest_processes& processes)
{
    const std::vector<std::uint64_t> all = board.pairs_of_parties();
    row.pairs = std::accumulate(all.begin(), all.end(), std::uint64_t{0});
    const auto pairs = static_cast<double>(row.pairs);

    const std::vector<std::uint64_t> parties = pairs_of_survivors(board, processes);
    const auto [least, greatest] = std::ranges::minmax(parties);
    const std::uint64_t sum = std::accumulate(parties.begin(), parties.end(), std::uint64_t{0});
    const double fair = static_cast<double>(sum) / static_cast<double>(parties.size());
    row.share_min = ratio(static_cast<double>(least), fair);
    row.share_max = ratio(static_cast<double>(greatest), fair);

    const std::vector<float> waits = board.sorted_waits_ms();
    row.handovers_per_s = static_cast<double>(board.handovers()) / row.seconds;
    row.rounds_per_pair = ratio(static_cast<double>(board.rounds()), pairs);
    row.wait_mean_ms = mean(waits);
    row.wait_p50_ms = percentile(waits, 50);
    row.wait_p99_ms = percentile(waits, 99);
    row.wait_max_ms = board.longest_wait_ms();
    row.failed = board.failed();
    row.violations = board.violations();
    row.errors = board.errors();
}

// Measures what `row` names, and fills in the rest of it.
contention_row measure(
    contention_row row,
    const contention_plan& plan,
    const contest& run,
    const disturbance& disturb = nullptr
)
{
    static int measurement = 0;  // The keys of the one before may still be there.
    scoreboard board(row.contenders);
    contest_processes processes =
        start_processes(board, run, row.name + ":" + std::to_string(++measurement));

    const clock::time_point start = clock::now() + 100ms;
    const clock::time_point stop = start + plan.duration;
    const clock::time_point hold = stop + checking;
    board.start(start, stop, hold, hold + settling + holding);
    std::this_thread::sleep_until(start);
    const double cpu_before = cpu_seconds(processes);
    if (disturb)
        row.spared = disturb(processes, board);
    std::this_thread::sleep_until(stop);
    const double cpu = row.victims == 0 ? cpu_seconds(processes) - cpu_before : 0;

    const redlock::mode asking = row.impl == "redlock" ? plan.mode : redlock::mode::guarded;
    std::this_thread::sleep_until(hold + settling);
    const std::uint64_t commands_before = count_commands(plan.ports, asking);
    std::this_thread::sleep_until(board.end());
    const std::uint64_t commands = count_commands(plan.ports, asking) - commands_before;
    end_processes(processes);

    row.seconds = std::chrono::duration<double>(plan.duration).count();
    sum_up(row, board, processes);
    row.cpu_us_per_pair = ratio(cpu * 1e6, static_cast<double>(row.pairs));
    row.waiting_commands = static_cast<double>(commands) / static_cast<double>(plan.ports.size()) /
                           std::chrono::duration<double>(holding).count();
    return row;
}

contention_row measure_redlock(
    const char* name,
    const contention_plan& plan,
    const crowd& contenders,
    std::size_t victims = 0,
    const disturbance& disturb = nullptr
)
{
    contention_row row;
    row.name = name;
    row.impl = "redlock";
    row.mode = to_string(plan.mode);
    row.contenders = contenders;
    row.victims = victims;
    const auto run = [&](scoreboard& board, std::size_t process, const std::string& resource) {
        contend(board, process, plan.ports, plan.mode, resource);
    };
    return measure(std::move(row), plan, run, disturb);
}

contention_row measure_limit(const contention_plan& plan, waiting how, std::size_t processes)
{
    contention_row row;
    row.name = "contended-procs";
    row.impl = "limit";
    row.mode = "plain";
    row.waiting = to_string(how);
    row.contenders = {.processes = processes, .tasks = 1};
    const auto run = [&](scoreboard& board, std::size_t process, const std::string& resource) {
        contend_bare(board, process, plan.ports, how, resource);
    };
    return measure(std::move(row), plan, run);
}

}  // namespace

std::vector<contention_row> measure_contended(const contention_plan& plan)
{
    std::vector<contention_row> rows;
    rows.push_back(measure_redlock("contended", plan, {.processes = 1, .tasks = 1}));
    const double uncontended = rows.back().pairs_per_s();
    rows.push_back(measure_redlock("contended", plan, {.processes = 1, .tasks = 8}));
    rows.back().ratio_to_uncontended = ratio(rows.back().pairs_per_s(), uncontended);
    return rows;
}

std::vector<contention_row> measure_contended_processes(
    const contention_plan& plan,
    const std::vector<crowd>& crowds
)
{
    std::vector<contention_row> rows;
    std::map<std::size_t, double> limits;  // By processes: the bare client has one task.
    for (const crowd& contenders : crowds)
    {
        const std::size_t processes = contenders.processes;
        if (!limits.contains(processes))
        {
            rows.push_back(measure_limit(plan, waiting::queue, processes));
            limits[processes] = rows.back().handovers_per_s;
        }
        rows.push_back(measure_redlock("contended-procs", plan, contenders));
        rows.back().ratio_to_limit = ratio(rows.back().handovers_per_s, limits[processes]);
        if (contenders.tasks > 1)
            continue;
        rows.push_back(measure_limit(plan, waiting::tracking, processes));
        rows.push_back(measure_limit(plan, waiting::polling, processes));
    }
    return rows;
}

contention_row measure_casualties(
    const contention_plan& plan,
    const crowd& contenders,
    fate of_victims
)
{
    const char* const name = of_victims == fate::killed ? "killed-waiters" : "frozen-waiters";
    const std::size_t victims = contenders.processes / 4;
    if (victims == 0)
        throw std::invalid_argument("no quarter of so few processes can be killed");
    const auto disturb = [&](contest_processes& processes, const scoreboard& board) {
        return strike_each(processes, victims, of_victims, board, plan.ports);
    };
    return measure_redlock(name, plan, contenders, victims, disturb);
}

}  // namespace bench
