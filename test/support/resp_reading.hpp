#ifndef REDLOCK_TEST_SUPPORT_RESP_READING_HPP
#define REDLOCK_TEST_SUPPORT_RESP_READING_HPP

#include "wire/resp_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::test {

/// A part that outlives the bytes it was read from.
struct read_part
{
    detail::resp::part what;  ///< Its text is in `value`.
    std::string value;

    friend bool operator==(const read_part&, const read_part&) = default;
};

inline std::ostream& operator<<(std::ostream& to, const read_part& part)
{
    return to << "type " << static_cast<int>(part.what.kind) << " size " << part.what.size
              << " depth " << part.what.depth << (part.what.pushed ? " pushed" : "")
              << (part.what.last ? " last" : "") << " '" << part.value << "'";
}

/// What came of some bytes.
struct reading
{
    std::vector<read_part> parts;
    error_code error;
    std::size_t kept = 0;  ///< Bytes that were not taken.
    bool in_reply = false;

    friend bool operator==(const reading&, const reading&) = default;
};

/// A connection without a socket: it keeps what the reader did not take.
class resp_feed
{
public:
    void receive(std::string_view bytes)
    {
        // A block of exactly this size, so that the address sanitizer sees a read behind its end.
        std::vector<char> received;
        received.reserve(kept_.size() + bytes.size());
        received.insert(received.end(), kept_.begin(), kept_.end());
        received.insert(received.end(), bytes.begin(), bytes.end());
        std::string_view input(received.data(), received.size());
        while (const auto part = reader_.next(input))
        {
            told_.parts.push_back({*part, std::string(part->value)});
            told_.parts.back().what.value = {};
        }
        kept_ = std::vector<char>(input.begin(), input.end());
    }

    [[nodiscard]] const reading& told()
    {
        told_.error = reader_.error();
        // How many bytes an error leaves depends on how many came with it.
        told_.kept = reader_.error() ? 0 : kept_.size();
        told_.in_reply = !reader_.error() && reader_.in_reply();
        return told_;
    }

    [[nodiscard]] std::size_t kept() const noexcept { return kept_.size(); }

private:
    detail::resp::reader reader_;
    std::vector<char> kept_;
    reading told_;
};

/// @param next_size Size of the next read, at least 1.
template <class NextSize>
reading read_in_pieces(std::string_view bytes, NextSize next_size)
{
    resp_feed feed;
    while (!bytes.empty())
    {
        const std::size_t size = std::min<std::size_t>(next_size(), bytes.size());
        feed.receive(bytes.substr(0, size));
        bytes.remove_prefix(size);
    }
    return feed.told();
}

inline reading read_whole(std::string_view bytes)
{
    resp_feed feed;
    feed.receive(bytes);
    return feed.told();
}

}  // namespace redlock::test

#endif
