#ifndef REDLOCK_TEST_CHAOS_WALL_CLOCK_HPP
#define REDLOCK_TEST_CHAOS_WALL_CLOCK_HPP

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/posix.hpp"

namespace redlock::test {

/** The wall clock of other processes, by how much it is off.

    A process that is started with `environment()` has this clock, and follows when it is set. Its
    monotonic clocks are the true ones. The object must outlive the process.
*/
class wall_clock
{
public:
    /// A clock that is right.
    wall_clock();
    wall_clock(const wall_clock&) = delete;
    wall_clock& operator=(const wall_clock&) = delete;
    ~wall_clock();

    /// Sets the clock to true time plus `offset`, from the next time on that it is looked at.
    void set_offset(std::chrono::nanoseconds offset) noexcept;

    /// Adds this to each offset from now on, none included.
    void set_lead(std::chrono::nanoseconds lead) noexcept;

    /// Variables for the environment of a process.
    [[nodiscard]] std::vector<std::string> environment() const;

private:
    [[nodiscard]] std::filesystem::path file() const { return folder_.path() / "offset"; }

    temp_folder folder_;
    std::chrono::nanoseconds lead_{0};
    std::int64_t* offset_;
};

}  // namespace redlock::test

#endif
