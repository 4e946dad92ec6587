#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_TIMING_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_TIMING_HPP

#include <redlock/observer.hpp>

#include <chrono>
#include <deque>
#include <string>
#include <utility>

#include <prometheus/histogram.h>

namespace chat {

/// Measures how long the lock nodes take to grant a lease. The wait for a predecessor, which may
/// take forever, doesn't count.
class acquisition_times : public redlock::observer
{
public:
    explicit acquisition_times(prometheus::Histogram& to) : to_(to) {}

    void on_round(const redlock::round_event& round) noexcept override;

private:
    prometheus::Histogram& to_;
};

/// Measures how long messages of this server's members take to come back from a room's log.
class delivery_times
{
public:
    using clock = std::chrono::steady_clock;

    explicit delivery_times(prometheus::Histogram& to) : to_(to) {}

    /// The inbox has it. @param when When the member said it.
    void on_said(std::string id, clock::time_point when);

    /// The log has it.
    void on_message(const std::string& id);

private:
    prometheus::Histogram& to_;
    std::deque<std::pair<std::string, clock::time_point>> said_;  ///< In the order of the inbox.
};

}  // namespace chat

#endif
