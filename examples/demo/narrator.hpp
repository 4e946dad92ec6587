#ifndef REDLOCK_EXAMPLES_DEMO_NARRATOR_HPP
#define REDLOCK_EXAMPLES_DEMO_NARRATOR_HPP

#include <redlock.hpp>

#include <chrono>
#include <string>

namespace demo {

/// Prints the headline of a step. In bold on a terminal, unless `NO_COLOR` is set.
void headline(int step, const std::string& text);

/** Prints one fact of the story.

    @throws std::runtime_error with the text, if it does not hold.
*/
void fact(bool holds, const std::string& text);

/// Prints what each node answered, one line for each.
void print_votes(const redlock::diagnostics& report);

/// "9897 ms", or "0.41 ms" for short durations.
[[nodiscard]] std::string in_ms(std::chrono::nanoseconds duration);

}  // namespace demo

#endif
