#include "node/sha1.hpp"

#include <boost/uuid/detail/sha1.hpp>

#include <array>
#include <cstddef>
#include <cstdio>

namespace redlock::detail {

namespace {

/// @tparam Number Boost returns five of 32 bits, and since 1.86 twenty bytes.
template <class Number, std::size_t count>
std::string in_hex(const Number (&digest)[count])
{
    std::string made;
    for (const Number each : digest)
    {
        std::array<char, 9> part{};
        std::snprintf(part.data(), part.size(), "%0*x", int{2 * sizeof each}, unsigned{each});
        made += part.data();
    }
    return made;
}

}  // namespace

std::string hex_sha1(std::string_view text)
{
    boost::uuids::detail::sha1 of;
    of.process_bytes(text.data(), text.size());
    boost::uuids::detail::sha1::digest_type digest;
    of.get_digest(digest);
    return in_hex(digest);
}

}  // namespace redlock::detail
