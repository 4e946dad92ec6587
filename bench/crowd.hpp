#ifndef REDLOCK_BENCH_CROWD_HPP
#define REDLOCK_BENCH_CROWD_HPP

#include <redlock/config.hpp>

#include "contention.hpp"
#include "scenario.hpp"
#include "scoreboard.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// How clients of one kind got on. Shares are multiples of what each would have if all the clients
/// of the row had as much.
struct kind_of_client
{
    std::size_t clients{0};
    double share{0};  ///< Of the mean one.
    double share_min{0};
    double share_max{0};
};

/// What many clients that want one resource found.
struct crowd_row
{
    scenario what;
    contention_row found;              ///< Of parties that are clients.
    std::vector<double> per_second{};  ///< Hand-overs in each second.
    double node_cpu_us_per_pair{0};    ///< Of all nodes together.

    /// Those that are far or miss nodes, and the others. Nobody struck is among them.
    kind_of_client weak{};
    kind_of_client strong{};

    /// Hand-overs a second before and after clients were struck or queues were lost, without the
    /// first second of each.
    double before_per_s{0};
    double after_per_s{0};

    /// How long it took until half a second began with a rate of 0.8 of that before. Negative: this
    /// did not happen.
    std::optional<double> recovered_after_s{};

    /// The best second, and the slowest one after the first.
    /// @{
    [[nodiscard]] double best_second() const;
    [[nodiscard]] double slowest_second() const;
    /// @}
};

struct crowd_plan
{
    redlock::mode mode;
    std::chrono::seconds duration;
};

/** Measures clients that want one resource, with an empty critical section, on servers of its own.
    All begin at once.

    @param contenders Processes, and the clients of each. A client has its own connections and one
        task.
*/
[[nodiscard]] crowd_row measure_crowd(
    const crowd_plan& plan,
    const crowd& contenders,
    const scenario& what
);

/// Formats the head of a table for people, and a line of it.
/// @{
[[nodiscard]] std::string crowd_heading();
[[nodiscard]] std::string to_table(const crowd_row& row);
/// @}

/// Formats a JSON object in a line, for programs.
[[nodiscard]] std::string to_json_line(const crowd_row& row);

}  // namespace bench

#endif
