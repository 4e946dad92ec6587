#ifndef REDLOCK_TEST_SIM_RANDOMNESS_HPP
#define REDLOCK_TEST_SIM_RANDOMNESS_HPP

#include <cstdint>

namespace redlock::sim {

/// All randomness of the library gives the same numbers again for the same seed. For the whole
/// process.
void seed_randomness(std::uint64_t seed);

}  // namespace redlock::sim

#endif
