#ifndef REDLOCK_SRC_CLIENT_VALIDATE_HPP
#define REDLOCK_SRC_CLIENT_VALIDATE_HPP

#include <redlock/config.hpp>

namespace redlock::detail {

/// Checks every field against its limits.
/// @throws std::invalid_argument naming the field and the value, passwords left out.
void validate(const client_config& config);

}  // namespace redlock::detail

#endif
