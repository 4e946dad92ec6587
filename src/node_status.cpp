#include <redlock/node_status.hpp>

namespace redlock {

const char* to_string(node_state value) noexcept
{
    switch (value)
    {
    case node_state::connecting: return "connecting";
    case node_state::ready: return "ready";
    case node_state::down: return "down";
    case node_state::rejected: return "rejected";
    case node_state::quarantined: return "quarantined";
    }
    return "unknown";
}

}  // namespace redlock
