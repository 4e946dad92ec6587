#ifndef REDLOCK_BENCH_SCOREBOARD_HPP
#define REDLOCK_BENCH_SCOREBOARD_HPP

#include <boost/interprocess/mapped_region.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// A task that wants the lock.
struct contender
{
    std::size_t process;
    std::size_t task;  ///< Of the process.
};

/// How many contend.
struct crowd
{
    std::size_t processes;
    std::size_t tasks;  ///< Of each process.
};

/// What shares and hand-overs are counted of.
enum class party : std::uint8_t
{
    process,
    task,
};

/** What contenders in several processes note, in memory that they share.

    Contention lasts from `start()` to `stop()`, with an empty critical section, and only what
    happens there is counted. Violations are the exception, for nobody stays in an empty critical
    section long enough to be met there. So from `stop()` to `hold()` contenders stay in it for
    `checked_section`, and as long away from it, or one would have it all the time. Who has the lock
    at `hold()` keeps it until `end()`, so that it can be seen what waiting for a held lock costs.

    A party is a process, or a task where there is only one process, unless the constructor is told
    otherwise.

    Make it, fork, and let parent and children use it at the same time.
*/
class scoreboard
{
public:
    using clock = std::chrono::steady_clock;

    static constexpr std::chrono::milliseconds checked_section{1};

    /// Hand-overs are also counted by the time in which they happen.
    static constexpr std::chrono::milliseconds period{100};

    explicit scoreboard(const crowd& contenders);
    scoreboard(const crowd& contenders, party counted);

    [[nodiscard]] const crowd& contenders() const noexcept { return contenders_; }

    /// What makes them wait for each other.
    /// @{
    void report_ready() noexcept;
    [[nodiscard]] std::size_t ready() const noexcept;
    void start(
        clock::time_point start,
        clock::time_point stop,
        clock::time_point hold,
        clock::time_point end
    ) noexcept;
    [[nodiscard]] bool has_start() const noexcept;

    /// How often a process that is ready looks for the start. If thousands looked often, they would
    /// leave no processor to those that still connect.
    [[nodiscard]] clock::duration start_poll() const noexcept;
    /// @}

    /// Times of the measurement. @pre `has_start()`
    /// @{
    [[nodiscard]] clock::time_point start() const noexcept;
    [[nodiscard]] clock::time_point stop() const noexcept;
    [[nodiscard]] clock::time_point hold() const noexcept;
    [[nodiscard]] clock::time_point end() const noexcept;
    /// @}

    /// Returns until when the lock is to be kept by who has it now. The past: not at all.
    [[nodiscard]] clock::time_point keep_until() const noexcept;

    /// Returns until when who has released stays away. The past: not at all.
    [[nodiscard]] clock::time_point rest_until() const noexcept;

    /// Notes that a contender has the lock, which it asked for at `asked`.
    void enter(const contender& who, clock::time_point asked) noexcept;

    /// Notes that it gives the lock back. Call it before the release.
    void leave(const contender& who) noexcept;

    /// Returns whether a task of this process has the lock.
    [[nodiscard]] bool holds(std::size_t process) const noexcept;

    /// Notes that an acquisition has failed.
    void give_up(clock::time_point asked) noexcept;

    /// Notes rounds of acquisitions.
    void add_rounds(std::uint64_t rounds) noexcept;

    /// Notes what must not happen.
    void add_error() noexcept;

    /// What has been counted.
    /// @{
    [[nodiscard]] std::uint64_t violations() const noexcept;  ///< Entries beside another holder.
    [[nodiscard]] std::uint64_t handovers() const noexcept;   ///< From one party to another.
    [[nodiscard]] std::vector<std::uint64_t> handovers_of_periods() const;
    [[nodiscard]] std::uint64_t rounds() const noexcept;
    [[nodiscard]] std::uint64_t failed() const noexcept;
    [[nodiscard]] std::uint64_t errors() const noexcept;
    [[nodiscard]] std::vector<std::uint64_t> pairs_of_parties() const;
    [[nodiscard]] std::vector<float> sorted_waits_ms() const;

    /// The longest wait, those included that failed or were not over at `stop()`.
    [[nodiscard]] double longest_wait_ms() const noexcept;
    /// @}

private:
    struct shared;

    [[nodiscard]] std::size_t number_of(const contender& who) const noexcept;
    [[nodiscard]] std::size_t party_of(const contender& who) const noexcept;
    [[nodiscard]] std::size_t parties() const noexcept;
    void add_handover(clock::time_point now) noexcept;
    void add_wait(float wait_ms) noexcept;
    void raise_longest(clock::time_point asked, clock::time_point now) noexcept;

    crowd contenders_;
    party counted_;
    boost::interprocess::mapped_region memory_;
    shared* shared_;
};

}  // namespace bench

#endif
