#ifndef REDLOCK_TEST_SIM_ENDINGS_HPP
#define REDLOCK_TEST_SIM_ENDINGS_HPP

#include <redlock/fencing.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "sim/plan.hpp"
#include "sim/server.hpp"

namespace redlock::sim {

/// An attempt that a node was told is over.
struct ended_attempt
{
    std::string key;  ///< The lock key.
    std::string id;
    fencing_token token;
};

/// Knows which commands are releases in guarded mode, those of clients with older scripts included.
class endings
{
public:
    explicit endings(const plan& of);

    /// The attempts that a command has released. Those that it answers with an error are left out.
    [[nodiscard]] std::vector<ended_attempt> read(const command_run& run) const;

private:
    /// Where a script finds its arguments: see vote_each.lua.
    struct layout
    {
        std::size_t common;
        std::size_t own;
        std::size_t more;
    };

    std::map<std::string, layout, std::less<>> known_;  ///< By text and by hash.
};

}  // namespace redlock::sim

#endif
