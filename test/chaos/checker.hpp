#ifndef REDLOCK_TEST_CHAOS_CHECKER_HPP
#define REDLOCK_TEST_CHAOS_CHECKER_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "chaos/history.hpp"

namespace redlock::test {

/// What the fencing tokens of leases must be.
enum class tokens : std::uint8_t
{
    none,        ///< Nothing: plain mode has none, and a store cannot be fenced.
    increasing,  ///< Greater than that of every claim before.
};

/// How two operations on one resource contradict each other.
enum class breach : std::uint8_t
{
    overlap,        ///< The first claim has not ended when the second is granted.
    same_token,     ///< They have the same token.
    lower_token,    ///< The second has less, and was asked for after the first was granted.
    token_order,    ///< The second has less, and its claim came after the first one's.
    missing_token,  ///< The lease has no token.
    changed_token,  ///< Operations of one lease have different tokens.

    long_deadline,  ///< The deadline is later than the ttl allows.
    shortened,      ///< An extension moved the deadline back.
    revived,        ///< A lease was extended or valid after it was over.
    not_granted,    ///< Something was done with a lease that was not granted.

    lost_update,     ///< A write did not build on the version before it.
    version_gap,     ///< The versions of the store do not follow each other.
    lower_write,     ///< The store accepted a write after one with a higher token.
    stale_access,    ///< The store accepted an access, after one with a higher token returned.
    unfounded,       ///< The store refused an access although no higher token had come.
    missing_write,   ///< A write was confirmed and is not in the store.
    refused_write,   ///< A write was refused and is in the store.
    repeated_write,  ///< A write is in the store twice.
    foreign_write,   ///< A write is in the store and nobody has made it.
    altered_write,   ///< A write is in the store in another way than it was made or confirmed.
    early_write,     ///< A write is in the store before one that returned before it was invoked.
    stale_read,      ///< A read missed a write that had returned before.
    early_read,      ///< A read saw a write that was invoked after it had returned.
};

/// Lower-case words, for people.
[[nodiscard]] const char* to_string(breach value) noexcept;

struct violation
{
    breach what;
    operation first;
    operation second;  ///< The later one. The same as the first one if only one is wrong.

    friend bool operator==(const violation&, const violation&) = default;
};

/** The time in which one lease says that nobody else has the resource.

    It begins when the acquisition has returned. It ends when the release is invoked, when the loss
    is decided, or at the last deadline that was told, whichever is first. A worker that was killed
    has not released: its claim lasts until the deadline. With a grace, neither a loss nor the
    deadline ends it before the end of that.
*/
struct claim
{
    const operation* acquired;
    moment begin;
    moment end;
};

/// The claims of the leases that were granted.
[[nodiscard]] std::vector<claim> claims_of(const std::vector<operation>& operations);

/** Checks a history against what leases, tokens and a fenced store promise.

    Exact, not a search, in n log n time. A mutex with deadlines is correct if and only if the
    claims on each resource are disjoint: acquisitions take effect when they return, and each claim
    ends before the next begins. The store tells the order of its writes itself, so that only this
    order is compared with the times at which they were made.

    @return What is wrong. Of the operations that one operation contradicts it names one of each
    kind.
*/
[[nodiscard]] std::vector<violation> check(const history& all, tokens expected);

/// The first violations in words, with times in milliseconds since the first operation.
[[nodiscard]] std::string describe(
    const std::vector<violation>& violations,
    const history& all,
    std::size_t at_most = 5
);

}  // namespace redlock::test

#endif
