#include "scoreboard.hpp"

#include <boost/interprocess/anonymous_shared_memory.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <new>
#include <stdexcept>
#include <type_traits>

namespace bench {
namespace {

using namespace std::chrono_literals;
using clock = scoreboard::clock;

constexpr std::size_t most_parties = 4096;
constexpr std::size_t most_periods = 3000;

/// More than the servers can do in any measurement.
constexpr std::size_t most_waits = 2'000'000;

float milliseconds_between(clock::time_point from, clock::time_point to)
{
    return std::chrono::duration<float, std::milli>(to - from).count();
}

clock::time_point to_time(const std::atomic<clock::rep>& from)
{
    return clock::time_point(clock::duration(from.load()));
}

clock::rep to_count(clock::time_point time)
{
    return time.time_since_epoch().count();
}

}  // namespace

struct scoreboard::shared
{
    std::atomic<clock::rep> start{0};
    std::atomic<clock::rep> stop{0};
    std::atomic<clock::rep> hold{0};
    std::atomic<clock::rep> end{0};
    std::atomic<std::size_t> ready{0};

    std::atomic<std::size_t> holders{0};
    std::atomic<std::size_t> last_holder{0};  // Zero: nobody, or the contender's number.
    std::atomic<std::size_t> last_party{most_parties};
    std::atomic<std::uint64_t> violations{0};
    std::atomic<std::uint64_t> handovers{0};
    std::array<std::atomic<std::uint64_t>, most_periods> handovers_of_periods;
    std::atomic<std::uint64_t> rounds{0};
    std::atomic<std::uint64_t> failed{0};
    std::atomic<std::uint64_t> errors{0};
    std::atomic<float> longest_wait_ms{0};
    std::array<std::atomic<std::uint64_t>, most_parties> pairs;
    std::atomic<std::size_t> wait_count{0};
    std::array<float, most_waits> waits_ms;
};

scoreboard::scoreboard(const crowd& contenders)
    : scoreboard(contenders, contenders.processes > 1 ? party::process : party::task)
{
}

scoreboard::scoreboard(const crowd& contenders, party counted)
    : contenders_(contenders),
      counted_(counted),
      memory_(boost::interprocess::anonymous_shared_memory(sizeof(shared))),
      shared_(::new(memory_.get_address()) shared)
{
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
    static_assert(std::atomic<float>::is_always_lock_free);
    static_assert(std::is_trivially_destructible_v<shared>);
    if (parties() > most_parties)
        throw std::invalid_argument("more contenders than the scoreboard has room for");
}

void scoreboard::report_ready() noexcept
{
    ++shared_->ready;
}

std::size_t scoreboard::ready() const noexcept
{
    return shared_->ready;
}

void scoreboard::start(
    clock::time_point start,
    clock::time_point stop,
    clock::time_point hold,
    clock::time_point end
) noexcept
{
    shared_->stop = to_count(stop);
    shared_->hold = to_count(hold);
    shared_->end = to_count(end);
    shared_->start = to_count(start);  // The last one, because it tells that the others are there.
}

scoreboard::clock::duration scoreboard::start_poll() const noexcept
{
    const auto processes = static_cast<clock::rep>(contenders_.processes);
    return std::max<clock::duration>(20ms, processes * 200us);
}

bool scoreboard::has_start() const noexcept
{
    return shared_->start != 0;
}

clock::time_point scoreboard::start() const noexcept
{
    return to_time(shared_->start);
}

clock::time_point scoreboard::stop() const noexcept
{
    return to_time(shared_->stop);
}

clock::time_point scoreboard::hold() const noexcept
{
    return to_time(shared_->hold);
}

clock::time_point scoreboard::end() const noexcept
{
    return to_time(shared_->end);
}

clock::time_point scoreboard::keep_until() const noexcept
{
    const clock::time_point now = clock::now();
    if (now < stop())
        return clock::time_point::min();
    return now < hold() ? now + checked_section : end();
}

clock::time_point scoreboard::rest_until() const noexcept
{
    const clock::time_point now = clock::now();
    return now < stop() || now >= hold() ? clock::time_point::min() : now + checked_section;
}

void scoreboard::enter(const contender& who, clock::time_point asked) noexcept
{
    if (shared_->holders++ != 0)
        ++shared_->violations;
    shared_->last_holder = number_of(who);

    const clock::time_point now = clock::now();
    const std::size_t party = party_of(who);
    const std::size_t last = shared_->last_party.exchange(party);
    if (now < stop())
    {
        ++shared_->pairs[party];
        if (last != party && last != most_parties)
            add_handover(now);
        add_wait(milliseconds_between(asked, now));
    }
    raise_longest(asked, now);
}

void scoreboard::leave(const contender& who) noexcept
{
    std::size_t number = number_of(who);
    shared_->last_holder.compare_exchange_strong(number, 0);
    --shared_->holders;
}

bool scoreboard::holds(std::size_t process) const noexcept
{
    const std::size_t holder = shared_->last_holder;
    return holder != 0 && (holder - 1) / contenders_.tasks == process;
}

void scoreboard::give_up(clock::time_point asked) noexcept
{
    const clock::time_point now = clock::now();
    if (now < stop())
        ++shared_->failed;
    raise_longest(asked, now);
}

void scoreboard::add_rounds(std::uint64_t rounds) noexcept
{
    shared_->rounds += rounds;
}

void scoreboard::add_error() noexcept
{
    ++shared_->errors;
}

std::uint64_t scoreboard::violations() const noexcept
{
    return shared_->violations;
}

std::uint64_t scoreboard::handovers() const noexcept
{
    return shared_->handovers;
}

std::vector<std::uint64_t> scoreboard::handovers_of_periods() const
{
    const auto lasted = static_cast<std::size_t>((stop() - start()) / period);
    const auto begin = shared_->handovers_of_periods.begin();
    return {begin, begin + static_cast<std::ptrdiff_t>(std::min(lasted, most_periods))};
}

std::uint64_t scoreboard::rounds() const noexcept
{
    return shared_->rounds;
}

std::uint64_t scoreboard::failed() const noexcept
{
    return shared_->failed;
}

std::uint64_t scoreboard::errors() const noexcept
{
    return shared_->errors;
}

std::vector<std::uint64_t> scoreboard::pairs_of_parties() const
{
    const auto begin = shared_->pairs.begin();
    return {begin, begin + static_cast<std::ptrdiff_t>(parties())};
}

std::vector<float> scoreboard::sorted_waits_ms() const
{
    const std::size_t count = std::min<std::size_t>(shared_->wait_count, most_waits);
    const auto begin = shared_->waits_ms.begin();
    std::vector<float> waits(begin, begin + static_cast<std::ptrdiff_t>(count));
    std::ranges::sort(waits);
    return waits;
}

double scoreboard::longest_wait_ms() const noexcept
{
    return static_cast<double>(shared_->longest_wait_ms.load());
}

std::size_t scoreboard::number_of(const contender& who) const noexcept
{
    return 1 + who.process * contenders_.tasks + who.task;
}

std::size_t scoreboard::party_of(const contender& who) const noexcept
{
    return counted_ == party::process ? who.process : number_of(who) - 1;
}

std::size_t scoreboard::parties() const noexcept
{
    const std::size_t tasks = counted_ == party::process ? 1 : contenders_.tasks;
    return contenders_.processes * tasks;
}

void scoreboard::add_handover(clock::time_point now) noexcept
{
    ++shared_->handovers;
    const auto index = static_cast<std::size_t>((std::max(now, start()) - start()) / period);
    if (index < most_periods)
        ++shared_->handovers_of_periods[index];
}

void scoreboard::add_wait(float wait_ms) noexcept
{
    const std::size_t index = shared_->wait_count++;
    if (index < most_waits)
        shared_->waits_ms[index] = wait_ms;
    else
        add_error();
}

// A wait that goes on at `stop()` counts with what has passed of it. Otherwise a contender that
// never gets the lock would not be seen.
void scoreboard::raise_longest(clock::time_point asked, clock::time_point now) noexcept
{
    const float wait_ms = milliseconds_between(asked, std::min(now, stop()));
    float longest = shared_->longest_wait_ms;
    while (longest < wait_ms && !shared_->longest_wait_ms.compare_exchange_weak(longest, wait_ms))
        continue;
}

}  // namespace bench
