#ifndef REDLOCK_SRC_CLIENT_EVENTS_HPP
#define REDLOCK_SRC_CLIENT_EVENTS_HPP

#include <redlock/config.hpp>
#include <redlock/metrics.hpp>
#include <redlock/observer.hpp>

#include "client/client_loop.hpp"
#include "client/hold.hpp"
#include "client/lines.hpp"
#include "client/round.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

namespace redlock::detail {

/// Counts what a client does, and reports it to the observer and the log. Called on the strand,
/// read from any thread.
class events
{
public:
    events(const client_config& config, const client_loop& loop) noexcept
        : config_(config), loop_(loop)
    {
    }

    void round_ended(const round& asked, error_code outcome, core::instant now) noexcept;
    void waiting(const waiter& who) noexcept;
    void acquired(const lease& held, std::size_t rounds, core::nanoseconds waited) noexcept;
    void not_acquired(
        std::string_view resource,
        error_code outcome,
        std::size_t rounds,
        core::instant started
    ) noexcept;
    void extended(const hold& held, error_code outcome, core::instant now) noexcept;
    void lost(const hold& held) noexcept;
    void revoked(const hold& held, core::instant now) noexcept;
    void given_back() noexcept { add(released_); }
    void released(const hold& held, release_outcome outcome) noexcept;
    void node_changed(const node_status& status) noexcept;

    void woken() noexcept { add(woken_); }
    void set_held(std::size_t count) noexcept { held_.store(count, std::memory_order_relaxed); }
    void set_at_risk(std::size_t count) noexcept
    {
        at_risk_.store(count, std::memory_order_relaxed);
    }

    /// Logs what is wrong with an operation.
    void problem(
        log_level level,
        std::string_view operation,
        std::string_view resource,
        std::string_view what
    ) const;

    /// Logs that an acquisition wasn't admitted. Rarely, no matter how many there are.
    void overload(std::string_view resource, std::string_view what);

    /// Writes a line to the log.
    void tell(log_level level, std::string line) const;

    [[nodiscard]] metrics read() const noexcept;

private:
    using counter = std::atomic<std::uint64_t>;

    /// Only one thread writes at a time, so an atomic exchange would only cost more.
    static void add(counter& to) noexcept
    {
        to.store(to.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }

    /// Reads the clocks, so it's called only if there is an observer.
    [[nodiscard]] std::chrono::microseconds time_since(core::instant started) const noexcept;

    const client_config& config_;
    const client_loop& loop_;
    time_point next_overload_line_{};
    counter rounds_ = 0;
    counter acquired_ = 0;
    counter contended_ = 0;
    counter failed_ = 0;
    counter extended_ = 0;
    counter extensions_failed_ = 0;
    counter lost_ = 0;
    counter revoked_ = 0;
    counter released_ = 0;
    counter held_ = 0;
    counter at_risk_ = 0;
    counter acquire_rounds_ = 0;
    counter rounds_lost_ = 0;
    counter woken_ = 0;
    std::array<counter, std::tuple_size_v<decltype(metrics::waits)>> waits_{};
};

}  // namespace redlock::detail

#endif
