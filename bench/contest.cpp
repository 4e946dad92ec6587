#include "contest.hpp"

#include "node_commands.hpp"
#include "result.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace bench {
namespace {

using namespace std::chrono_literals;
using clock = scoreboard::clock;

constexpr std::chrono::minutes time_limit{5};
constexpr auto connecting_limit = 120s;
// More of them would leave the nodes no processor, and time out.
constexpr std::size_t connecting_at_once = 256;

constexpr auto checking = 1s;
constexpr auto settling = 500ms;
constexpr auto holding = 2s;

double mean(const std::vector<float>& values)
{
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    return ratio(sum, static_cast<double>(values.size()));
}

// Of those who could work all the time.
std::vector<std::uint64_t> pairs_of_survivors(
    const scoreboard& board,
    const contest_processes& processes
)
{
    std::vector<std::uint64_t> pairs = board.pairs_of_parties();
    const std::size_t parties_of_process = pairs.size() / processes.all.size();
    std::size_t party = 0;
    std::erase_if(pairs, [&](std::uint64_t) {
        return processes.struck[party++ / parties_of_process];
    });
    return pairs;
}

}  // namespace

contest_processes start_processes(
    scoreboard& board,
    const contest& run,
    const std::string& resource
)
{
    contest_processes processes{.resource = resource, .all = {}, .struck = {}};
    const clock::time_point give_up = clock::now() + connecting_limit;
    const auto await_ready = [&](std::size_t expected) {
        while (board.ready() < expected)
        {
            if (clock::now() > give_up)
                throw std::runtime_error("contenders do not get ready");
            std::this_thread::sleep_for(5ms);
        }
    };
    for (std::size_t process = 0; process < board.contenders().processes; ++process)
    {
        await_ready(process - std::min(process, connecting_at_once));
        processes.all.emplace_back(time_limit, [&] { run(board, process, resource); });
    }
    await_ready(processes.all.size());
    processes.struck.resize(processes.all.size());
    return processes;
}

void set_times(scoreboard& board, clock::duration duration)
{
    const clock::time_point start = clock::now() + 2 * board.start_poll();
    const clock::time_point stop = start + duration;
    const clock::time_point hold = stop + checking;
    board.start(start, stop, hold, hold + settling + holding);
}

double count_while_waiting(
    const scoreboard& board,
    std::span<const std::uint16_t> ports,
    redlock::mode mode
)
{
    std::this_thread::sleep_until(board.hold() + settling);
    const std::uint64_t commands_before = count_commands(ports, mode);
    std::this_thread::sleep_until(board.end());
    const std::uint64_t commands = count_commands(ports, mode) - commands_before;
    return static_cast<double>(commands) / static_cast<double>(ports.size()) /
           std::chrono::duration<double>(holding).count();
}

void end_processes(contest_processes& processes)
{
    for (std::size_t process = 0; process < processes.all.size(); ++process)
        if (!processes.struck[process] && !processes.all[process].join())
            throw std::runtime_error("a contender failed");
}

double cpu_seconds(const contest_processes& processes)
{
    std::chrono::duration<double> sum{0};
    for (const child& each : processes.all)
        sum += each.cpu_time();
    return sum.count();
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

double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

}  // namespace bench
