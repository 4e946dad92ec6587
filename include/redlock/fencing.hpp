#ifndef REDLOCK_FENCING_HPP
#define REDLOCK_FENCING_HPP

#include <redlock/detail/export.hpp>

#include <compare>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace redlock {

/** The number of one acquisition, greater than that of every acquisition of the same resource that
    had finished before it started.

    Send it to the protected resource with the first access, even a read. A resource that remembers
    the highest token it has seen and refuses lower ones is safe from a holder that acts late.
    docs/fencing.md has recipes.

    Compare and store tokens, but don't count with them: there are gaps. An empty token has the
    value 0 and is lower than all others. Every check must refuse it.
*/
class fencing_token
{
public:
    /// An empty token, like that of an empty lease and of every lease in plain mode.
    constexpr fencing_token() noexcept = default;

    /// A token read back from storage. @param value Zero makes an empty one.
    [[nodiscard]] static constexpr fencing_token from_value(std::uint64_t value) noexcept
    {
        fencing_token result;
        result.value_ = value;
        return result;
    }

    /// The value to store: less than 2^53, so it fits a signed 64 bit column and a double.
    [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }

    /// Whether the token isn't empty.
    constexpr explicit operator bool() const noexcept { return value_ != 0; }

    /// Compares the values.
    friend constexpr auto operator<=>(fencing_token, fencing_token) noexcept = default;

private:
    std::uint64_t value_ = 0;
};

/// The value in decimal, "none" for an empty token.
[[nodiscard]] REDLOCK_EXPORT std::string to_string(fencing_token token);

/// Prints `to_string(token)`.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream& out, fencing_token token);

}  // namespace redlock

#endif
