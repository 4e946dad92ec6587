#ifndef REDLOCK_SRC_CLIENT_MONITOR_HPP
#define REDLOCK_SRC_CLIENT_MONITOR_HPP

#include <redlock/metrics.hpp>
#include <redlock/observer.hpp>

#include "client/hold.hpp"
#include "client/lines.hpp"
#include "client/round.hpp"
#include "loop/clock.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <tuple>

namespace redlock::detail {

/// Counts what a client does, and tells the observer. Told on the strand, read from any thread.
class monitor
{
public:
    monitor(std::shared_ptr<redlock::observer> told, std::shared_ptr<clock> time)
        : observer_(std::move(told)), time_(std::move(time))
    {
    }

    void round_ended(const vote_round& asked, error_code outcome, core::instant now) noexcept;
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
    void given_back() noexcept { add(released_); }
    void released(const hold& held, release_outcome outcome) noexcept;
    void node_changed(const node_status& status) noexcept;

    void woken() noexcept { add(woken_); }
    void set_held(std::size_t count) noexcept { held_.store(count, std::memory_order_relaxed); }

    [[nodiscard]] metrics read() const noexcept;

private:
    using counter = std::atomic<std::uint64_t>;

    /// One thread at a time writes: an exchange would cost more and bring nothing.
    static void add(counter& to) noexcept
    {
        to.store(to.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }

    /// Reads the clocks, so it is called only if somebody is told.
    [[nodiscard]] std::chrono::microseconds time_since(core::instant started) const noexcept;

    std::shared_ptr<redlock::observer> observer_;
    std::shared_ptr<clock> time_;
    counter rounds_ = 0;
    counter acquired_ = 0;
    counter contended_ = 0;
    counter failed_ = 0;
    counter extended_ = 0;
    counter extensions_failed_ = 0;
    counter lost_ = 0;
    counter released_ = 0;
    counter held_ = 0;
    counter acquire_rounds_ = 0;
    counter rounds_lost_ = 0;
    counter woken_ = 0;
    std::array<counter, std::tuple_size_v<decltype(metrics::waits)>> waits_{};
};

}  // namespace redlock::detail

#endif
