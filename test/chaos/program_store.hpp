#ifndef REDLOCK_TEST_CHAOS_PROGRAM_STORE_HPP
#define REDLOCK_TEST_CHAOS_PROGRAM_STORE_HPP

#include <string>

#include "support/resp_client.hpp"

namespace redlock::test {

/// Writes to a resource in a store that refuses a token below the highest that it has seen.
/// @return Whether it was accepted.
inline bool write_with_token(
    resp_client& store,
    const std::string& resource,
    const std::string& token
)
{
    // Tokens have the same number of digits, and Lua compares numbers below 2^53 exactly.
    constexpr const char* lua = R"(
        if tonumber(ARGV[1]) < tonumber(redis.call('HGET', KEYS[1], 'token') or 0) then return 0 end
        redis.call('HSET', KEYS[1], 'token', ARGV[1])
        return redis.call('HINCRBY', KEYS[1], 'writes', 1)
    )";
    return store.command({"EVAL", lua, "1", resource, token}) != "(integer) 0";
}

}  // namespace redlock::test

#endif
