#ifndef REDLOCK_TEST_CHAOS_MODE_HPP
#define REDLOCK_TEST_CHAOS_MODE_HPP

#include <redlock/config.hpp>
#include <redlock/fencing.hpp>
#include <redlock/lease.hpp>
#include <redlock/time.hpp>

#include <string>

namespace redlock::test {

/// What protects the claims of a run.
struct protection
{
    std::string mode = "plain";    ///< Or "guarded".
    milliseconds ttl_max{30'000};  ///< For guarded mode.
    bool durable_nodes = false;    ///< Whether clients are told that nodes forget nothing.
};

/// Throws `std::invalid_argument` if there is no such mode.
void protect(client_config& config, const protection& how);

/// Tells nodes that start for the first time that they have nothing to remember.
void initialize_nodes(const client_config& config);

/// The fencing token of a lease, empty in plain mode.
[[nodiscard]] fencing_token token_of(const lease& held);

}  // namespace redlock::test

#endif
