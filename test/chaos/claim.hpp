#ifndef REDLOCK_TEST_CHAOS_CLAIM_HPP
#define REDLOCK_TEST_CHAOS_CLAIM_HPP

#include <redlock/fencing.hpp>
#include <redlock/time.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::test {

/** One acquisition: from `granted` to `end` somebody says that nobody else has the resource.

    Times are those of the monotonic clock, which all processes of a machine share.
*/
struct claim
{
    std::uint32_t worker = 0;  ///< Process id.
    std::uint32_t resource = 0;
    std::size_t rounds = 1;  ///< Rounds made until it was granted.
    time_point invoked{};    ///< Read before the operation that was granted began.
    time_point granted{};    ///< Read after that operation had completed.
    time_point end{};        ///< The deadline, or the time before the release began if earlier.
    fencing_token token{};

    friend bool operator==(const claim&, const claim&) = default;
};

/// What workers did.
struct history
{
    std::vector<claim> claims{};
    std::vector<std::string> notes{};  ///< What went wrong, in words.
};

/** Lines of a worker's log. Each ends in a line feed and is written at once, so a worker may be
    killed at any time: what it claimed then ends at the deadline.
*/
[[nodiscard]] std::string granted_line(const claim& what);
[[nodiscard]] std::string released_line(time_point when);
[[nodiscard]] std::string note_line(std::uint32_t worker, std::string_view text);

/// Adds what one worker logged. The last line may be incomplete.
/// Throws `std::invalid_argument` if another one is not as above.
void read_log(std::string_view text, history& into);

}  // namespace redlock::test

#endif
