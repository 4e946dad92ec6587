#ifndef REDLOCK_TEST_CHAOS_CHECKER_HPP
#define REDLOCK_TEST_CHAOS_CHECKER_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "chaos/claim.hpp"

namespace redlock::test {

/// What the fencing tokens of claims must be.
enum class tokens : std::uint8_t
{
    none,        ///< Nothing: plain mode has none.
    increasing,  ///< Greater than the token of every claim granted before this one was asked for.
};

/// How two claims on one resource contradict each other.
enum class breach : std::uint8_t
{
    overlap,        ///< The first has not ended when the second is granted.
    same_token,     ///< They have the same token.
    lower_token,    ///< The second was asked for after the first was granted, and has less.
    missing_token,  ///< The second has no token. The first is the same one.
};

/// Lower-case words, for people.
[[nodiscard]] const char* to_string(breach value) noexcept;

struct violation
{
    breach what;
    claim first;
    claim second;

    friend bool operator==(const violation&, const violation&) = default;
};

/** Checks a history against what mutual exclusion and fencing promise.

    Exact, not a search: a mutex with deadlines is correct if and only if the claims on each
    resource are disjoint. A claim ends before its end, so the next may be granted at that instant,
    and one that was granted after its own deadline claims nothing.

    @return What is wrong, resource by resource. Takes n log n time; of the claims that one claim
    contradicts it names one of each kind.
*/
[[nodiscard]] std::vector<violation> check(const std::vector<claim>& claims, tokens expected);

/// The first violations in words, with times in milliseconds since the first claim was granted.
[[nodiscard]] std::string describe(
    const std::vector<violation>& violations,
    const std::vector<claim>& claims,
    std::size_t at_most = 5
);

}  // namespace redlock::test

#endif
