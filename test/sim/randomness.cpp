#include "sim/randomness.hpp"

#include "loop/randomness.hpp"

#include <span>

#include "sim/dice.hpp"

namespace redlock::sim {

namespace {

dice source(0);

void fill(std::span<unsigned char> to)
{
    for (std::size_t at = 0; at < to.size(); at += 8)
    {
        std::uint64_t bits = source.bits();
        for (std::size_t i = at; i < at + 8 && i < to.size(); ++i, bits >>= 8)
            to[i] = static_cast<unsigned char>(bits);
    }
}

}  // namespace

void seed_randomness(std::uint64_t seed)
{
    detail::draw_random_from(fill);
    source = dice(seed);
}

}  // namespace redlock::sim
