#include <redlock/fencing.hpp>

#include <ostream>

namespace redlock {

std::string to_string(fencing_token token)
{
    return token ? std::to_string(token.value()) : "none";
}

std::ostream& operator<<(std::ostream& out, fencing_token token)
{
    return out << to_string(token);
}

}  // namespace redlock
