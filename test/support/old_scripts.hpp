#ifndef REDLOCK_TEST_SUPPORT_OLD_SCRIPTS_HPP
#define REDLOCK_TEST_SUPPORT_OLD_SCRIPTS_HPP

#include <redlock/config.hpp>

#include "node/verbs.hpp"

#include <string>

namespace redlock::test {

/** The guarded scripts of an older version, as a client of that time sends them.

    Clients of two versions meet on the same nodes whenever a program is updated. So whatever a
    script leaves on a node has to make sense to these, and the other way round.
*/
struct old_scripts
{
    std::string admit;
    std::string acquire;
    std::string extend;
    std::string release;
    std::string leave;
    std::string keep{};    ///< Empty for c70efbe.
    std::string revoke{};  ///< The same.
};

/// Those of commit c70efbe.
[[nodiscard]] old_scripts make_old_scripts(const client_config& config);

[[nodiscard]] old_scripts make_scripts_of_9f1c7e8(const client_config& config);

/// The settings in a marker, as clients of both have them, and how all such settings begin.
struct old_marker
{
    std::string begin;
    std::string fingerprint;
};

[[nodiscard]] old_marker make_old_marker(const client_config& config);

/** What makes a client of today run the scripts of c70efbe: what their clients did not send is
    dropped in front of them.

    @param config In guarded mode.
*/
[[nodiscard]] detail::script_set make_old_script_set(const client_config& config);

}  // namespace redlock::test

#endif
