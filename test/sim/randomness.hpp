#ifndef REDLOCK_TEST_SIM_RANDOMNESS_HPP
#define REDLOCK_TEST_SIM_RANDOMNESS_HPP

#include <cstdint>

namespace redlock::sim {

/// The generator of OpenSSL, from which the library has its attempt ids and its jitter, gives the
/// same numbers again for the same seed. For the whole process.
void seed_randomness(std::uint64_t seed);

}  // namespace redlock::sim

#endif
