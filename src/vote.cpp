#include <redlock/vote.hpp>

namespace redlock {

const char* to_string(vote value) noexcept
{
    switch (value)
    {
    case vote::granted: return "granted";
    case vote::denied: return "denied";
    case vote::refused: return "refused";
    case vote::unknown: return "unknown";
    }
    return "unknown";
}

}  // namespace redlock
