#include "placement.hpp"

#include "posix.hpp"

#include <stdexcept>

namespace bench {

placement share_all()
{
    ::cpu_set_t all;
    checked(::sched_getaffinity(0, sizeof all, &all), "sched_getaffinity");
    return {.client = all, .servers = all};
}

placement keep_apart()
{
    placement where = share_all();
    if (CPU_COUNT(&where.servers) < 2)
        throw std::runtime_error("--apart needs two CPUs, this process may use one");
    int first = 0;
    while (!CPU_ISSET(first, &where.servers))
        ++first;
    CPU_CLR(first, &where.servers);
    CPU_ZERO(&where.client);
    CPU_SET(first, &where.client);
    return where;
}

void move_to(const ::cpu_set_t& cpus)
{
    checked(::sched_setaffinity(0, sizeof cpus, &cpus), "sched_setaffinity");
}

}  // namespace bench
