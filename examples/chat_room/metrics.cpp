#include "chat_room/metrics.hpp"

#include <prometheus/text_serializer.h>

namespace chat {

namespace {

prometheus::Counter& counter(prometheus::Registry& to, const char* name, const char* help)
{
    return prometheus::BuildCounter().Name(name).Help(help).Register(to).Add({});
}

prometheus::Gauge& gauge(prometheus::Registry& to, const char* name, const char* help)
{
    return prometheus::BuildGauge().Name(name).Help(help).Register(to).Add({});
}

prometheus::Histogram& seconds(prometheus::Registry& to, const char* name, const char* help)
{
    const prometheus::Histogram::BucketBoundaries bounds{
        0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10
    };
    return prometheus::BuildHistogram().Name(name).Help(help).Register(to).Add({}, bounds);
}

}  // namespace

metrics::metrics()
    : errors_(prometheus::BuildCounter()
                  .Name("chat_errors_total")
                  .Help("Errors sent to members")
                  .Register(registry_)),
      accepted(counter(registry_, "chat_accepted_total", "Messages that came into an inbox")),
      delivered(counter(registry_, "chat_delivered_total", "Messages sent to members")),
      appended(counter(registry_, "chat_appended_total", "Messages appended as a coordinator")),
      repeated(counter(registry_, "chat_repeated_total", "Messages that were in the log already")),
      refused(
          counter(registry_, "chat_stale_writes_refused_total", "Appends refused for their token")
      ),
      terms(counter(registry_, "chat_terms_total", "Times this server became a coordinator")),
      lost(counter(registry_, "chat_terms_lost_total", "Terms that ended with a lost lease")),
      too_slow(counter(registry_, "chat_too_slow_total", "Members cut off for being too slow")),
      dismissed(counter(
          registry_,
          "chat_dismissed_total",
          "Connections ended because too many did not join"
      )),
      acquisition(seconds(
          registry_,
          "chat_acquisition_seconds",
          "From asking the lock nodes for a room's lease until a quorum granted it"
      )),
      take_over(seconds(
          registry_,
          "chat_take_over_seconds",
          "From a coordinator's last sign of life until this server replaced it"
      )),
      delivery(seconds(
          registry_,
          "chat_delivery_seconds",
          "From a member's message here until this server has it from the log"
      )),
      members(gauge(registry_, "chat_members", "Members on this server")),
      rooms(gauge(registry_, "chat_rooms", "Rooms with members on this server")),
      coordinated(gauge(registry_, "chat_coordinated_rooms", "Rooms this server coordinates")),
      store_up(gauge(registry_, "chat_store_up", "Whether the store answers")),
      nodes_ready(gauge(registry_, "chat_nodes_ready", "Lock nodes that vote"))
{
}

void metrics::count_error(const std::string& code)
{
    errors_.Add({{"code", code}}).Increment();
}

std::string metrics::to_text() const
{
    return prometheus::TextSerializer().Serialize(registry_.Collect());
}

}  // namespace chat
