#ifndef REDLOCK_TEST_CHAOS_HISTORY_HPP
#define REDLOCK_TEST_CHAOS_HISTORY_HPP

#include <redlock/fencing.hpp>
#include <redlock/time.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::test {

/// CLOCK_BOOTTIME: all processes of a machine share it, and a suspension does not stop it.
struct boot_clock
{
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<boot_clock>;
    static constexpr bool is_steady = true;

    [[nodiscard]] static time_point now() noexcept;
};

using moment = boot_clock::time_point;

/// When an operation returned that never did.
inline constexpr moment never = moment::max();

/// Converts a deadline of the library, which is on the clock of timers.
[[nodiscard]] moment boot_time_of(time_point deadline) noexcept;

/// What a worker asked for.
enum class action : std::uint8_t
{
    acquire,
    extend,
    check,  ///< Asked the lease whether it is valid, and until when.
    lose,   ///< Waited for the loss of the lease.
    release,
    read,   ///< Read from the store.
    write,  ///< Wrote to the store.
};

inline constexpr std::size_t action_count = 7;

enum class outcome : std::uint8_t
{
    ok,       ///< Granted, extended, valid, lost, accepted.
    refused,  ///< The answer was no.
    unknown,  ///< There was no answer.
};

/// Lower-case names, for people.
[[nodiscard]] const char* to_string(action value) noexcept;
[[nodiscard]] const char* to_string(outcome value) noexcept;

/** What one worker did once.

    `invoked` is read and logged before anything is sent, `returned` after the answer has come. The
    operation took effect in between, if at all.
*/
struct operation
{
    action what = action::acquire;
    outcome result = outcome::unknown;
    std::uint32_t resource = 0;
    std::uint64_t id = 0;       ///< One in the run: the worker's number and a count of its own.
    std::uint64_t attempt = 0;  ///< Id of the acquisition that it belongs to.
    moment invoked{};
    moment returned = never;
    fencing_token token{};      ///< Of the lease. An acquisition has it when it is granted.
    milliseconds ttl{0};        ///< Asked for by an acquisition or an extension.
    milliseconds grace{0};      ///< Asked for by an acquisition.
    moment deadline{};          ///< Told by an acquisition, an extension or a check that was ok.
    std::uint64_t version = 0;  ///< Read: the one that it saw. Write: the one that was read before.
    std::uint64_t written = 0;  ///< The version that a write made.
    std::uint32_t rounds = 0;   ///< Rounds that an acquisition took.
    bool automatic = false;     ///< The lease of an acquisition is extended automatically.

    friend bool operator==(const operation&, const operation&) = default;
};

/// The number of the worker that did something.
[[nodiscard]] inline std::uint32_t worker_of(std::uint64_t id) noexcept
{
    return static_cast<std::uint32_t>(id >> 32);
}

/// One write that the store has accepted.
struct store_entry
{
    std::uint32_t resource = 0;
    std::uint64_t write = 0;  ///< Id of the operation.
    fencing_token token{};
    std::uint64_t base = 0;     ///< The version that the writer had read.
    std::uint64_t version = 0;  ///< The version that the write made.

    friend bool operator==(const store_entry&, const store_entry&) = default;
};

/// What happened in a run.
struct history
{
    std::vector<operation> operations{};
    std::vector<store_entry> store{};  ///< In the order of each resource.
    std::vector<std::string> notes{};  ///< What went wrong, in words.
};

/// The acquisitions that were granted.
[[nodiscard]] std::vector<operation> granted(const history& all);

/** Lines of a worker's log. Each ends in a line feed and is written at once, so a worker may be
    killed at any time.
*/
[[nodiscard]] std::string invoked_line(const operation& what);
[[nodiscard]] std::string returned_line(const operation& what);
[[nodiscard]] std::string note_line(std::uint32_t worker, std::string_view text);

/// Whether a line of a log tells of an acquisition that was granted.
[[nodiscard]] bool tells_of_a_grant(std::string_view line) noexcept;

/// Adds what one worker logged. The last line may be incomplete.
/// Throws `std::invalid_argument` if another one is not as above.
void read_log(std::string_view text, history& into);

}  // namespace redlock::test

#endif
