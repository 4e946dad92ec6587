// What replaces it, the providers of OpenSSL 3, would take a library of its own.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "sim/randomness.hpp"

#include <openssl/rand.h>

#include "sim/dice.hpp"

namespace redlock::sim {

namespace {

dice source(0);

int fill(unsigned char* to, int size)
{
    for (int at = 0; at < size; at += 8)
    {
        std::uint64_t bits = source.bits();
        for (int i = at; i < at + 8 && i < size; ++i, bits >>= 8)
            to[i] = static_cast<unsigned char>(bits);
    }
    return 1;
}

int is_ready()
{
    return 1;
}

}  // namespace

void seed_randomness(std::uint64_t seed)
{
    static const RAND_METHOD method{nullptr, fill, nullptr, nullptr, fill, is_ready};
    static const int installed = ::RAND_set_rand_method(&method);
    static_cast<void>(installed);
    source = dice(seed);
}

}  // namespace redlock::sim
