#include "sim/trace.hpp"

#include <cstdio>

namespace redlock::sim {

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
