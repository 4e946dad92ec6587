#ifndef REDLOCK_TEST_SIM_SERVER_WORDS_HPP
#define REDLOCK_TEST_SIM_SERVER_WORDS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/answer.hpp"

namespace redlock::sim {

// How the commands of a simulated server read their arguments, and the errors they share.

inline constexpr const char* syntax_error = "ERR syntax error";
inline constexpr const char* not_an_integer = "ERR value is not an integer or out of range";
inline constexpr const char* wrong_type =
    "WRONGTYPE Operation against a key holding the wrong kind of value";

/// Without a locale, which costs more than all the rest of a command.
[[nodiscard]] bool iequals(std::string_view one, std::string_view other);
[[nodiscard]] std::string in_lower_case(std::string_view text);

[[nodiscard]] std::optional<std::int64_t> to_integer(std::string_view text);

[[nodiscard]] answer wrong_arity(std::string_view command);

}  // namespace redlock::sim

#endif
