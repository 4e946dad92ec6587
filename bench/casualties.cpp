#include "casualties.hpp"

#include "connection.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <deque>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

namespace bench {
namespace {

using namespace std::chrono_literals;
using clock = scoreboard::clock;

/// Longer than a command of a process that was frozen is on its way, or a lock is held.
constexpr auto settled = 10ms;

/// Looks at the keys of a resource.
class key_reader
{
public:
    key_reader(std::span<const std::uint16_t> ports, const std::string& resource)
        : question_(make_command({"GET", resource}))
    {
        for (const std::uint16_t port : ports)
            nodes_.emplace_back(port, buffer_sizes{.output = 4096, .input = 4096});
    }

    // Returns whether a node has a key that does not change, as while its owner is frozen.
    bool has_stuck_key()
    {
        std::this_thread::sleep_for(settled);
        const std::vector<std::string> before = read();
        std::this_thread::sleep_for(settled);
        const std::vector<std::string> after = read();
        for (std::size_t node = 0; node < before.size(); ++node)
            if (!before[node].empty() && before[node] == after[node])
                return true;
        return false;
    }

private:
    std::vector<std::string> read()
    {
        std::vector<std::string> keys;
        for (connection& node : nodes_)
            keys.push_back(node.call(question_));
        return keys;
    }

    std::string question_;
    std::deque<connection> nodes_;
};

constexpr std::size_t most_tries = 1000;

// Strikes a process while it waits, and returns how often that had to be put off. One that is
// struck with keys is a holder, and what comes of that is a matter of the ttl. The scoreboard does
// not know it right after its grant and before its release, but the nodes do.
std::size_t strike(
    child& victim,
    std::size_t process,
    fate its_fate,
    const scoreboard& board,
    key_reader& keys
)
{
    for (std::size_t spared = 0; spared < most_tries; ++spared)
    {
        victim.freeze();
        if (!board.holds(process) && !keys.has_stuck_key())
        {
            if (its_fate == fate::killed)
                victim.signal(SIGKILL);
            return spared;
        }
        victim.signal(SIGCONT);
        std::this_thread::sleep_for(1ms);
    }
    throw std::runtime_error("a victim never waits");
}

// Returns the numbers of processes in random order.
std::vector<std::size_t> shuffled_numbers(std::size_t processes, std::mt19937_64& random)
{
    std::vector<std::size_t> numbers(processes);
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    std::ranges::shuffle(numbers, random);
    return numbers;
}

}  // namespace

std::size_t strike_each(
    contest_processes& processes,
    std::size_t victims,
    fate of_victims,
    const scoreboard& board,
    std::span<const std::uint16_t> ports
)
{
    std::mt19937_64 random(std::random_device{}());
    const std::vector<std::size_t> numbers = shuffled_numbers(processes.all.size(), random);

    // So that some time is left to see what comes of it.
    const clock::duration period = (board.stop() - board.start()) / 4 * 3;
    std::uniform_int_distribution<clock::rep> any_moment(0, period.count());
    std::vector<clock::duration> moments;
    for (std::size_t victim = 0; victim < victims; ++victim)
        moments.emplace_back(any_moment(random));
    std::ranges::sort(moments);

    key_reader keys(ports, processes.resource);
    std::size_t spared = 0;
    for (std::size_t victim = 0; victim < victims; ++victim)
    {
        const std::size_t process = numbers[victim];
        std::this_thread::sleep_until(board.start() + moments[victim]);
        spared += strike(processes.all[process], process, of_victims, board, keys);
        processes.struck[process] = true;
    }
    return spared;
}

std::size_t strike_together(
    contest_processes& processes,
    std::size_t victims,
    fate of_victims,
    const scoreboard& board,
    std::span<const std::uint16_t> ports
)
{
    std::mt19937_64 random(std::random_device{}());
    std::vector<std::size_t> chosen = shuffled_numbers(processes.all.size(), random);
    chosen.resize(victims);

    key_reader keys(ports, processes.resource);
    for (std::size_t spared = 0; spared < most_tries; ++spared)
    {
        for (const std::size_t process : chosen)
            processes.all[process].freeze();
        const bool one_holds =
            std::ranges::any_of(chosen, [&](std::size_t process) { return board.holds(process); });
        if (!one_holds && !keys.has_stuck_key())
        {
            for (const std::size_t process : chosen)
            {
                processes.struck[process] = true;
                if (of_victims == fate::killed)
                    processes.all[process].signal(SIGKILL);
            }
            return spared;
        }
        for (const std::size_t process : chosen)
            processes.all[process].signal(SIGCONT);
        std::this_thread::sleep_for(settled);
    }
    throw std::runtime_error("the victims never wait all at once");
}

}  // namespace bench
