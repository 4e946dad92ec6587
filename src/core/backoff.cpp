#include "core/backoff.hpp"

#include <boost/assert.hpp>

#include <algorithm>

namespace redlock::core {

backoff::backoff(nanoseconds first, nanoseconds cap) noexcept
    : first_(std::min(first, cap)), cap_(cap), bound_(first_)
{
    BOOST_ASSERT(first_ >= nanoseconds(1));
}

nanoseconds backoff::next(std::uint64_t draw) noexcept
{
    const auto bound = static_cast<std::uint64_t>(bound_.count());
    bound_ = bound_ > cap_ / 2 ? cap_ : bound_ * 2;
    return nanoseconds(static_cast<nanoseconds::rep>(draw % bound + 1));
}

}  // namespace redlock::core
