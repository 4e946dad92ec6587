#include "contention.hpp"

#include "bare_contender.hpp"
#include "casualties.hpp"
#include "contender.hpp"
#include "contest.hpp"

#include <functional>
#include <map>
#include <stdexcept>
#include <thread>
#include <utility>

namespace bench {
namespace {

/// What happens between start and stop. Returns how often it was put off.
using disturbance =
    std::function<std::size_t(contest_processes& processes, const scoreboard& board)>;

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

    set_times(board, plan.duration);
    std::this_thread::sleep_until(board.start());
    const double cpu_before = cpu_seconds(processes);
    if (disturb)
        row.spared = disturb(processes, board);
    std::this_thread::sleep_until(board.stop());
    const double cpu = row.victims == 0 ? cpu_seconds(processes) - cpu_before : 0;

    const redlock::mode asking = row.impl == "redlock" ? plan.mode : redlock::mode::guarded;
    row.waiting_commands = count_while_waiting(board, plan.ports, asking);
    end_processes(processes);

    row.seconds = std::chrono::duration<double>(plan.duration).count();
    sum_up(row, board, processes);
    row.cpu_us_per_pair = ratio(cpu * 1e6, static_cast<double>(row.pairs));
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
        contend(board, process, {.ports = plan.ports, .mode = plan.mode, .resource = resource});
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
