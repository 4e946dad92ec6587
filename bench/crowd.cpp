#include "crowd.hpp"

#include "casualties.hpp"
#include "contender.hpp"
#include "contest.hpp"
#include "crowd_faults.hpp"
#include "pairs.hpp"
#include "posix.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <thread>

#include <sys/resource.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using clock = scoreboard::clock;

constexpr double recovered = 0.8;

/// Of hand-overs, as the scoreboard counts them.
constexpr std::size_t periods_a_second = 1s / scoreboard::period;

// Thousands of clients have more connections than a process may have usually.
void raise_descriptor_limit()
{
    ::rlimit limit{};
    checked(::getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
    limit.rlim_cur = limit.rlim_max;
    checked(::setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
}

/// One measurement.
class gathering
{
public:
    gathering(const crowd_plan& plan, const crowd& contenders, const scenario& what)
        : plan_(plan),
          contenders_(contenders),
          what_(what),
          nodes_(what, contenders.processes * contenders.tasks),
          routes_(what, nodes_.ports()),
          board_(contenders, party::task)
    {
    }

    crowd_row run();

private:
    [[nodiscard]] contest_processes start();
    void let_contend(contest_processes& processes, contention_row& found);
    void disturb(contest_processes& processes, contention_row& found);
    void judge_kinds(crowd_row& row, const contest_processes& processes) const;
    void judge_rates(crowd_row& row) const;
    void judge_recovery(crowd_row& row) const;

    const crowd_plan& plan_;
    const crowd& contenders_;
    const scenario& what_;
    crowd_nodes nodes_;
    crowd_routes routes_;
    scoreboard board_;
    std::optional<clock::time_point> disturbed_{};
    double node_cpu_seconds_{0};
};

contest_processes gathering::start()
{
    const auto body = [&](scoreboard& board, std::size_t process, const std::string& resource) {
        const std::vector<std::uint16_t> ports = routes_.ports_for(process);
        const contending how{
            .ports = ports,
            .mode = plan_.mode,
            .resource = resource,
            .wait = std::chrono::seconds(what_.wait),
            .clients = contenders_.tasks,
        };
        contend(board, process, how);
    };
    initialize_nodes(nodes_.ports());
    return start_processes(board_, body, "crowd");
}

// What happens when half of the time has passed.
void gathering::disturb(contest_processes& processes, contention_row& found)
{
    if (what_.killed + what_.frozen + what_.lost == 0)
        return;
    std::this_thread::sleep_until(board_.start() + plan_.duration / 2);
    const auto strike = [&](std::size_t victims, fate its_fate) {
        found.victims += victims;
        if (victims > 0)
            found.spared += strike_together(processes, victims, its_fate, board_, nodes_.ports());
    };
    strike(what_.killed, fate::killed);
    strike(what_.frozen, fate::frozen);
    nodes_.lose_queues(processes.resource, what_.lost);
    disturbed_ = clock::now();
}

void gathering::let_contend(contest_processes& processes, contention_row& found)
{
    set_times(board_, plan_.duration);
    const std::vector<child> compilers = start_compilers(what_.compilers, board_);
    std::optional<slow_node> slowed;
    if (what_.slow > 1)
        slowed.emplace(nodes_.servers()[0], what_.slow);
    std::this_thread::sleep_until(board_.start());

    const double cpu_before = cpu_seconds(processes);
    const double node_cpu_before = nodes_.cpu_seconds();
    disturb(processes, found);
    std::this_thread::sleep_until(board_.stop());
    node_cpu_seconds_ = nodes_.cpu_seconds() - node_cpu_before;
    if (found.victims == 0)
        found.cpu_us_per_pair = 1e6 * (cpu_seconds(processes) - cpu_before);
    std::this_thread::sleep_until(board_.hold());
    slowed.reset();  // It would tell its counts too late.
    found.waiting_commands = count_while_waiting(board_, nodes_.ports(), plan_.mode);
}

crowd_row gathering::run()
{
    crowd_row row{.what = what_, .found = {}};
    contention_row& found = row.found;
    found.name = "crowd";
    found.impl = "redlock";
    found.mode = to_string(plan_.mode);
    found.contenders = contenders_;
    found.seconds = std::chrono::duration<double>(plan_.duration).count();

    contest_processes processes = start();
    let_contend(processes, found);
    end_processes(processes);

    sum_up(found, board_, processes);
    const auto pairs = static_cast<double>(found.pairs);
    found.cpu_us_per_pair = ratio(found.cpu_us_per_pair, pairs);
    row.node_cpu_us_per_pair = ratio(1e6 * node_cpu_seconds_, pairs);
    judge_kinds(row, processes);
    judge_rates(row);
    if (disturbed_)
        judge_recovery(row);
    return row;
}

double mean(const std::vector<double>& values)
{
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    return ratio(sum, static_cast<double>(values.size()));
}

kind_of_client judge(const std::vector<double>& pairs, double fair)
{
    if (pairs.empty())
        return {};
    const auto [least, most] = std::ranges::minmax(pairs);
    return {
        .clients = pairs.size(),
        .share = ratio(mean(pairs), fair),
        .share_min = ratio(least, fair),
        .share_max = ratio(most, fair),
    };
}

void gathering::judge_kinds(crowd_row& row, const contest_processes& processes) const
{
    std::vector<double> all;
    std::vector<double> weak;
    std::vector<double> strong;
    std::size_t client = 0;
    for (const std::uint64_t pairs : board_.pairs_of_parties())
    {
        const std::size_t process = client++ / contenders_.tasks;
        if (processes.struck[process])
            continue;
        all.push_back(static_cast<double>(pairs));
        (routes_.is_weak(process) ? weak : strong).push_back(all.back());
    }
    row.weak = judge(weak, mean(all));
    row.strong = judge(strong, mean(all));
}

void gathering::judge_rates(crowd_row& row) const
{
    std::size_t period = 0;
    for (const std::uint64_t handovers : board_.handovers_of_periods())
    {
        if (period++ % periods_a_second == 0)
            row.per_second.push_back(0);
        row.per_second.back() += static_cast<double>(handovers);
    }
}

void gathering::judge_recovery(crowd_row& row) const
{
    const std::vector<std::uint64_t> counts = board_.handovers_of_periods();
    const std::vector<double> rates(counts.begin(), counts.end());
    const auto rate = [&](std::size_t from, std::size_t to) {
        const auto begin = rates.begin();
        const auto sum =
            std::accumulate(begin + std::ptrdiff_t(from), begin + std::ptrdiff_t(to), 0.0);
        return sum * periods_a_second / static_cast<double>(to - from);
    };
    const clock::duration until = *disturbed_ - board_.start();
    const auto period = static_cast<std::size_t>(until / scoreboard::period);
    constexpr std::size_t half = periods_a_second / 2;
    if (period <= periods_a_second || period + 1 + periods_a_second >= rates.size())
        throw std::runtime_error("too little time for what happens in the middle of it");

    row.before_per_s = rate(periods_a_second, period);
    row.after_per_s = rate(period + 1 + periods_a_second, rates.size());
    row.recovered_after_s = -1;
    for (std::size_t begin = period + 1; begin + half <= rates.size(); ++begin)
    {
        if (rate(begin, begin + half) < recovered * row.before_per_s)
            continue;
        row.recovered_after_s =
            std::chrono::duration<double>(begin * scoreboard::period - until).count();
        return;
    }
}

}  // namespace

double crowd_row::best_second() const
{
    return per_second.empty() ? 0 : std::ranges::max(per_second);
}

double crowd_row::slowest_second() const
{
    return per_second.size() < 2 ? 0 : *std::min_element(per_second.begin() + 1, per_second.end());
}

crowd_row measure_crowd(const crowd_plan& plan, const crowd& contenders, const scenario& what)
{
    if (std::max(what.far, what.killed + what.frozen) > contenders.processes)
        throw std::invalid_argument("a scenario with too few processes: " + what.text);
    raise_descriptor_limit();
    return gathering(plan, contenders, what).run();
}

}  // namespace bench
