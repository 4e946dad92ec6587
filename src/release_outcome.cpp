#include <redlock/release_outcome.hpp>

namespace redlock {

const char* to_string(release_outcome value) noexcept
{
    switch (value)
    {
    case release_outcome::released: return "released";
    case release_outcome::already_gone: return "already gone";
    case release_outcome::unconfirmed: return "unconfirmed";
    case release_outcome::still_held: return "still held";
    case release_outcome::barely_kept: return "barely kept";
    }
    return "unknown";
}

}  // namespace redlock
