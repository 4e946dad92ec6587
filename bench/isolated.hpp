#ifndef REDLOCK_BENCH_ISOLATED_HPP
#define REDLOCK_BENCH_ISOLATED_HPP

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>

namespace bench {

/** Calls `measure` in a child process, so that CPU time and heap are its own.

    @return What it wrote, which crosses a pipe as it is.
    @throws std::runtime_error If the child fails or takes longer than `limit`.
*/
template <class Result, class Measure>
[[nodiscard]] Result run_isolated(std::chrono::seconds limit, Measure measure);

// For the template.

void run_in_child(
    std::chrono::seconds limit,
    std::span<std::byte> found,
    const std::function<void()>& measure
);

template <class Result, class Measure>
Result run_isolated(std::chrono::seconds limit, Measure measure)
{
    static_assert(std::is_trivially_copyable_v<Result>);
    Result found{};
    run_in_child(limit, std::as_writable_bytes(std::span(&found, 1)), [&] { found = measure(); });
    return found;
}

}  // namespace bench

#endif
