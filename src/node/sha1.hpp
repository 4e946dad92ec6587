#ifndef REDLOCK_SRC_NODE_SHA1_HPP
#define REDLOCK_SRC_NODE_SHA1_HPP

#include <string>
#include <string_view>

namespace redlock::detail {

/// The name of a script in `EVALSHA`: 40 lower-case hexadecimal digits. No secret depends on it.
[[nodiscard]] std::string hex_sha1(std::string_view text);

}  // namespace redlock::detail

#endif
