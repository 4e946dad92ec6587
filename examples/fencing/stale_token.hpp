#ifndef REDLOCK_EXAMPLES_FENCING_STALE_TOKEN_HPP
#define REDLOCK_EXAMPLES_FENCING_STALE_TOKEN_HPP

#include <redlock/fencing.hpp>

#include <stdexcept>

namespace recipes {

/// What a resource throws when it refuses an access: the token is empty, or it has seen a higher.
class stale_token : public std::runtime_error
{
public:
    explicit stale_token(redlock::fencing_token highest)
        : std::runtime_error("the resource has seen token " + to_string(highest)), highest_(highest)
    {
    }

    /// The highest token that the resource has seen, empty if it was not asked.
    [[nodiscard]] redlock::fencing_token highest() const noexcept { return highest_; }

private:
    redlock::fencing_token highest_;
};

}  // namespace recipes

#endif
