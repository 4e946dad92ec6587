#ifndef REDLOCK_TEST_CHAOS_CREW_HPP
#define REDLOCK_TEST_CHAOS_CREW_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>

#include "chaos/history.hpp"
#include "chaos/wall_clock.hpp"
#include "chaos/worker_options.hpp"
#include "support/child_process.hpp"
#include "support/posix.hpp"

namespace redlock::test {

/// Worker processes and their logs. Killed with the object.
class crew
{
public:
    /// @param first_number Of the workers, which no other crew of the run may use.
    explicit crew(std::uint32_t first_number = 1) : first_number_(first_number) {}

    /// Starts one more, whose wall clock is off. @param options Log and number are chosen here.
    void hire(const worker_options& options, std::chrono::nanoseconds skew = {});

    [[nodiscard]] std::size_t size() const noexcept { return workers_.size(); }

    /// The wall clock of a worker.
    [[nodiscard]] wall_clock& clock(std::size_t index) { return workers_.at(index).clock; }

    /// The process of a worker.
    [[nodiscard]] child_process& process(std::size_t index) { return workers_.at(index).process; }

    /// Starts a worker anew that was killed. It goes on in another log.
    void rehire(std::size_t index) { start(workers_.at(index)); }

    /// Waits until all have ended. @return Whether they have.
    [[nodiscard]] bool end_within(std::chrono::milliseconds time);

    /// Waits until the workers have made so many acquisitions. @return Whether they have.
    [[nodiscard]] bool reaches(std::size_t claims, std::chrono::milliseconds within);

    /// Waits until each worker has made so many more. @return Whether they have.
    [[nodiscard]] bool each_makes(std::size_t claims, std::chrono::milliseconds within);

    /// How many acquisitions there are until now.
    [[nodiscard]] std::size_t claims();

    /// Kills all.
    void kill();

    /// What all of them did until now.
    [[nodiscard]] history read() const;

    /// Adds it to what others did.
    void read_into(history& all) const;

    /// What they said, which is nothing if all went well.
    [[nodiscard]] std::string output() const { return read_file(folder_.path() / "output"); }

    /// Where the logs are.
    [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_.path(); }

private:
    struct member
    {
        worker_options options{};
        wall_clock clock{};
        child_process process{};
        std::uintmax_t counted = 0;  ///< Bytes of the log.
        std::size_t claims = 0;
    };

    void start(member& one);
    static void count_claims(member& one);

    std::uint32_t first_number_;
    temp_folder folder_;
    std::deque<member> workers_;
    std::deque<std::filesystem::path> logs_;
};

}  // namespace redlock::test

#endif
