#include <redlock/holding.hpp>

namespace redlock {

const char* to_string(holding_state value) noexcept
{
    switch (value)
    {
    case holding_state::undecided: return "undecided";
    case holding_state::free: return "free";
    case holding_state::held: return "held";
    case holding_state::kept: return "kept";
    }
    return "unknown";
}

}  // namespace redlock
