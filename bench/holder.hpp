#ifndef REDLOCK_BENCH_HOLDER_HPP
#define REDLOCK_BENCH_HOLDER_HPP

#include <redlock/config.hpp>

#include "child.hpp"
#include "shared_memory.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>

namespace bench {

/** A process that acquires a resource with the library and holds it until its ttl is over.

    It lives until it is killed.
*/
class holder
{
public:
    using clock = std::chrono::steady_clock;

    /// Returns when the process has the lease.
    /// @throws std::runtime_error If it does not get it within 30 s.
    holder(
        std::span<const std::uint16_t> ports,
        redlock::mode mode,
        const std::string& resource,
        std::chrono::milliseconds ttl
    );

    /// When it got the lease.
    [[nodiscard]] clock::time_point since() const;

    void kill() const;

private:
    shared_memory<std::atomic<clock::rep>> since_;
    child process_;
};

}  // namespace bench

#endif
