#include <redlock/options.hpp>

#include <ostream>

namespace redlock {

std::string to_string(owner value)
{
    return value == owner::none ? "none" : std::to_string(static_cast<std::uint64_t>(value));
}

std::ostream& operator<<(std::ostream& out, owner value)
{
    return out << to_string(value);
}

}  // namespace redlock
