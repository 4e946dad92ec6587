#include "loop/forks.hpp"

#include "loop/platform.hpp"

namespace redlock::detail {

home::home() noexcept : forks_(platform::fork_count()) {}

bool home::is_here() const noexcept
{
    return forks_ == platform::fork_count();
}

}  // namespace redlock::detail
