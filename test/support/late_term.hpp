#ifndef REDLOCK_TEST_SUPPORT_LATE_TERM_HPP
#define REDLOCK_TEST_SUPPORT_LATE_TERM_HPP

#include <redlock/lead.hpp>
#include <redlock/lease.hpp>
#include <redlock/time.hpp>

#include "client/watchdog.hpp"

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

namespace redlock::test {

// What `on_overrun` was told. It has to be a function.
inline std::atomic<int> begun = 0;
inline std::atomic<int> ended = 0;
inline std::atomic<std::thread::id> told_on{std::thread::id()};
inline std::atomic<bool> blocks = false;

inline void note_overrun(const overrun&) noexcept
{
    told_on = std::this_thread::get_id();
    ++begun;
    while (blocks)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++ended;
}

/// A term whose lease is over: it overruns after `stop_before`.
struct late_term
{
    explicit late_term(milliseconds stop_before)
        : watched(over, {.stop_before = stop_before, .on_overrun = note_overrun})
    {
        begun = 0;
        ended = 0;
        blocks = false;
        entry.emplace(watched);
    }

    const lease over{};
    detail::watched_term watched;
    std::optional<detail::watchdog::entry> entry;
};

}  // namespace redlock::test

#endif
