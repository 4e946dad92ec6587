#ifndef REDLOCK_SRC_CLIENT_VALIDATE_HPP
#define REDLOCK_SRC_CLIENT_VALIDATE_HPP

#include <redlock/config.hpp>
#include <redlock/detail/demand.hpp>

#include "core/validity.hpp"

#include <string>

namespace redlock::detail {

/// Checks every field against its limits.
/// @throws std::invalid_argument naming the field and the value, passwords left out.
void validate(const client_config& config);

// What is wrong with an argument: its name, its value and the limit. Empty: nothing.

[[nodiscard]] std::string problem_of_ttl(const client_config& config, const core::lifetime& lives);
[[nodiscard]] std::string problem_of_resource(const client_config& config, const demand& wanted);
[[nodiscard]] std::string problem_of_acquisition(const client_config& config, const demand& wanted);

}  // namespace redlock::detail

#endif
