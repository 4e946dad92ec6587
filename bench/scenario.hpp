#ifndef REDLOCK_BENCH_SCENARIO_HPP
#define REDLOCK_BENCH_SCENARIO_HPP

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

/// What a crowd meets, such as nodes whose clocks differ. All zero: nothing.
struct scenario
{
    std::string text;      ///< As on the command line, empty if nothing is asked for.
    std::size_t nodes{5};  ///< At least 1.

    /// From the clock of the first node to that of the last one, in milliseconds. The others lie
    /// between, at equal distances, and clients have the time of the middle.
    std::size_t clocks{0};

    std::size_t far{0};     ///< Processes behind a line that is slow in both directions.
    std::size_t delay{40};  ///< Of that line, each way, in milliseconds.

    /// Nodes that every second process cannot connect to. Each of them misses others, in turn.
    std::size_t missing{0};

    /// The first node runs for one millisecond in so many, and is stopped for the others.
    std::size_t slow{0};

    /// Nodes that forget who waits, when half of the time has passed.
    std::size_t lost{0};

    std::size_t compilers{0};  ///< Processes that want all of a CPU in the first second.
    std::size_t killed{0};     ///< Processes that are killed when half of the time has passed,
    std::size_t frozen{0};     ///< or frozen, all at the same moment.
    std::size_t wait{5};       ///< For how long they ask for the lock, in seconds.
};

/** Reads a scenario such as `nodes=3,clocks=10`: names of members above, without `text`.

    @throws std::invalid_argument If it is none.
*/
[[nodiscard]] scenario parse_scenario(std::string_view text);

}  // namespace bench

#endif
