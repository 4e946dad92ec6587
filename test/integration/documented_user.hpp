#ifndef REDLOCK_TEST_INTEGRATION_DOCUMENTED_USER_HPP
#define REDLOCK_TEST_INTEGRATION_DOCUMENTED_USER_HPP

#include <redlock/config.hpp>

#include <string>
#include <vector>

#include "support/client_runner.hpp"
#include "support/loop.hpp"
#include "support/redis_server.hpp"

/// A user who may do nothing but what docs/configuration.md says.
namespace redlock::test::documented_user {

inline constexpr const char* prefix = "locks:";
inline constexpr const char* resource = "orders:42";
inline constexpr const char* password = "s3cret/@:%";

/// The line of docs/configuration.md, with our prefix and without the password.
extern const std::vector<std::string> least_privilege;

/// What waiting in queues needs besides.
extern const std::vector<std::string> least_privilege_of_queues;

/// What guarded mode needs.
[[nodiscard]] std::vector<std::string> least_privilege_of_guarded();

[[nodiscard]] std::vector<std::string> joined(
    std::vector<std::string> one,
    const std::vector<std::string>& other
);

/// Makes the user of the tests, with these rules and nothing else.
void set_user(redis_server& server, const std::vector<std::string>& rules);

[[nodiscard]] client_config as_user(const redis_server& server);
[[nodiscard]] client_config as_guarded_user(const redis_server& server);

/// Whether one client gets what another one gives back while it waits.
[[nodiscard]] bool passes_on(loop& context, client_runner& first, client_runner& second);

/// Whether all operations work, including those after a SCRIPT FLUSH. If not, `why` says it.
[[nodiscard]] bool all_works(redis_server& server, const client_config& config, std::string& why);

}  // namespace redlock::test::documented_user

#endif
