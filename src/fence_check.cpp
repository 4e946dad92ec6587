#include <redlock/fence_check.hpp>

namespace redlock {

fence_check::fence_check(fencing_token highest) noexcept : highest_(highest.value()) {}

bool fence_check::accept(fencing_token token) noexcept
{
    // An empty token would equal the highest of a resource that has seen none.
    if (!token)
        return false;

    std::uint64_t seen = highest_.load();
    while (seen < token.value())
    {
        if (highest_.compare_exchange_weak(seen, token.value()))
            return true;
    }
    return seen == token.value();
}

fencing_token fence_check::highest() const noexcept
{
    return fencing_token::from_value(highest_.load());
}

}  // namespace redlock
