#ifndef REDLOCK_FENCE_CHECK_HPP
#define REDLOCK_FENCE_CHECK_HPP

#include <redlock/detail/export.hpp>
#include <redlock/fencing.hpp>

#include <atomic>
#include <cstdint>

namespace redlock {

/** The highest fencing token that a resource in this process has seen.

    The resource owns one and calls `accept` on every access, even a read. After an access with a
    token it refuses every lower one, because the holder of a newer lease is at work.

    The answer is valid only at the moment of the call. So check and access must be one step that no
    other access can interrupt: under the mutex that guards the data, or on the one strand that
    touches it. Otherwise a holder could be accepted, pause, and act after its successor.

    The object remembers tokens as long as it lives. A resource that outlives the process must store
    the token with its data: see docs/fencing.md.

    @par Thread safety
    Distinct objects: safe. Shared objects: safe.

    @par Example
    @code
    std::int64_t read(redlock::fencing_token token)
    {
        const std::lock_guard lock(mutex_);
        if (!fence_.accept(token))
            throw stale_token(fence_.highest());
        return amount_;
    }
    @endcode
*/
class REDLOCK_EXPORT fence_check
{
public:
    /// Has seen no token.
    fence_check() noexcept = default;

    /// Continues from a stored token. @param highest An empty one means no token.
    explicit fence_check(fencing_token highest) noexcept;

    fence_check(const fence_check&) = delete;
    fence_check& operator=(const fence_check&) = delete;

    /** Compares a token with the highest so far, and records it, in one atomic step.

        @return Whether the access may proceed: the token isn't empty, and isn't lower than any
        token accepted before. The same token is accepted any number of times. A refused token
        leaves no trace.
    */
    [[nodiscard]] bool accept(fencing_token token) noexcept;

    /// The highest token accepted so far, empty if there was none.
    [[nodiscard]] fencing_token highest() const noexcept;

private:
    std::atomic<std::uint64_t> highest_{0};
};

}  // namespace redlock

#endif
