#ifndef REDLOCK_TEST_CHAOS_LATE_WRITES_HPP
#define REDLOCK_TEST_CHAOS_LATE_WRITES_HPP

#include <redlock/fencing.hpp>

#include "fenced_lua.hpp"

#include <string>
#include <vector>

/// What the holder that writes late, and the test that lets it, have in common.
namespace redlock::test {

inline constexpr const char* late_resource = "account";

/// Writes a value to the store, which checks the token or does not.
inline std::vector<std::string> write_command(
    fencing_token token,
    const std::string& value,
    bool checked
)
{
    if (!checked)
        return {"HSET", late_resource, "value", value};
    return {"EVAL", fenced_lua, "1", late_resource, to_string(token), value};
}

}  // namespace redlock::test

#endif
