#include <redlock/note.hpp>

#include <algorithm>
#include <ostream>
#include <stdexcept>
#include <string>

namespace redlock {

note::note(from_text, std::string_view text) : size_(static_cast<std::uint8_t>(text.size()))
{
    if (text.size() > max_size)
        throw std::invalid_argument(
            "redlock: note has " + std::to_string(text.size()) + " bytes, must have at most " +
            std::to_string(max_size)
        );
    std::ranges::copy(text, text_.begin());
}

std::ostream& operator<<(std::ostream& out, const note& from)
{
    return out << from.text();
}

}  // namespace redlock
