#include "sim/trace.hpp"

#include <cstdio>

#include "sim/dice.hpp"

namespace redlock::sim {

std::string in_ms(nanoseconds duration)
{
    return std::to_string(std::chrono::ceil<milliseconds>(duration).count()) + " ms";
}

void trace::begin_line(std::string_view who)
{
    const double now = static_cast<double>(of_.elapsed().count()) / 1e6;
    char text[64];
    std::snprintf(
        text, sizeof text, "%12.6f ms  %-10.*s ", now, static_cast<int>(who.size()), who.data()
    );
    *words_ << text;
}

}  // namespace redlock::sim
