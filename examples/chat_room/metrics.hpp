#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_METRICS_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_METRICS_HPP

#include <string>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

namespace chat {

/// What a server counts, for `/metrics`.
class metrics
{
private:
    prometheus::Registry registry_;
    prometheus::Family<prometheus::Counter>& errors_;

public:
    metrics();
    metrics(const metrics&) = delete;
    metrics& operator=(const metrics&) = delete;

    /// An error that was sent to a member.
    void count_error(const std::string& code);

    /// All of it, in the text format of Prometheus.
    [[nodiscard]] std::string to_text() const;

    prometheus::Counter& accepted;       ///< Messages that came into an inbox.
    prometheus::Counter& delivered;      ///< Messages sent to members.
    prometheus::Counter& appended;       ///< As a coordinator.
    prometheus::Counter& repeated;       ///< Taken from an inbox, but already in the log.
    prometheus::Counter& refused;        ///< Appends that were refused because of their token.
    prometheus::Counter& terms;          ///< How often this server became a coordinator.
    prometheus::Counter& lost;           ///< Terms that ended because the lease was lost.
    prometheus::Counter& too_slow;       ///< Members that were cut off.
    prometheus::Counter& dismissed;      ///< Connections that did not join, when too many waited.
    prometheus::Histogram& acquisition;  ///< Seconds of a round that acquired a lease.
    prometheus::Histogram& take_over;    ///< Seconds from the predecessor's last sign of life.
    prometheus::Histogram& delivery;     ///< Seconds from `say` to the log, as this server sees it.
    prometheus::Gauge& members;
    prometheus::Gauge& rooms;
    prometheus::Gauge& coordinated;  ///< Rooms that this server is the coordinator of.
    prometheus::Gauge& store_up;
    prometheus::Gauge& nodes_ready;
};

}  // namespace chat

#endif
