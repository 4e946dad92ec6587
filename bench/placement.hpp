#ifndef REDLOCK_BENCH_PLACEMENT_HPP
#define REDLOCK_BENCH_PLACEMENT_HPP

#include <sched.h>

namespace bench {

/** Which CPUs the measured client and the servers run on.

    On few CPUs they compete, and where the kernel happens to put them decides as much as what they
    do. Apart, the client has a CPU for itself, as it has where the servers are other machines.
*/
struct placement
{
    ::cpu_set_t client;
    ::cpu_set_t servers;
};

/// All of them on all CPUs that this process may use.
[[nodiscard]] placement share_all();

/// The client on the first of these CPUs, the servers on the others.
/// @throws std::runtime_error If there is only one.
[[nodiscard]] placement keep_apart();

/// Moves this process, and those it starts from now on.
void move_to(const ::cpu_set_t& cpus);

}  // namespace bench

#endif
