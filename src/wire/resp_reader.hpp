#ifndef REDLOCK_SRC_WIRE_RESP_READER_HPP
#define REDLOCK_SRC_WIRE_RESP_READER_HPP

#include "wire/resp.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace redlock::detail::resp {

/** Parses the bytes of one connection as they come.

    The caller keeps what was received and not taken yet, and passes all of it to `next`, which
    takes one part from its front:

        std::string_view input = received;
        while (const auto part = reader.next(input))
            use(*part);
        received.erase(0, received.size() - input.size());
        if (reader.error())
            close(reader.error());

    A part is returned as soon as it is there, before its reply is complete. Replies and pushes
    follow one another; `part::depth` and `part::last` show where each begins and ends. Attributes
    are read and left out.

    How the bytes are split into reads changes neither the parts nor the error. Nothing is
    allocated, and no byte is looked at again because more have come.
*/
class reader
{
public:
    /// The most that `next` leaves in its input while there is no error: the largest part, less one
    /// byte.
    static constexpr std::size_t max_kept = std::max(1 + max_line + 1, max_string + 1);

    /** Takes the next part from the front of `input`.

        @param input Begins where the previous call left it. The call removes what it took, which
        may be something even if there is no part yet.
        @return The part, whose text lies in the input. Empty if more bytes are needed, or if there
        is an `error`.
    */
    [[nodiscard]] std::optional<part> next(std::string_view& input);

    /// What the server did wrong. The error stays, and `next` takes nothing more.
    [[nodiscard]] const error_code& error() const noexcept { return error_; }

    /// Whether a reply or push has begun and isn't complete. Bytes that `next` left in its input
    /// don't count.
    [[nodiscard]] bool in_reply() const noexcept { return reply_size_ > 0; }

private:
    // Each returns false if there is no part, because more bytes are needed or there is an error.
    [[nodiscard]] bool take_line(std::string_view& input, part& to);
    [[nodiscard]] bool read_line(std::string_view line, part& to);
    [[nodiscard]] bool read_length(std::string_view line, part& to);
    [[nodiscard]] bool take_string(std::string_view& input, part& to);
    [[nodiscard]] bool read_size(std::string_view line, part& to);
    [[nodiscard]] bool place(part& taken);
    [[nodiscard]] bool consume(std::string_view& input, std::size_t size) noexcept;
    bool fail(resp::error why) noexcept;
    void begin_reply() noexcept;

    error_code error_;
    std::size_t searched_ = 0;  ///< Bytes of an incomplete line that were searched for its end.
    bool in_string_ = false;    ///< The line with its length is taken.
    type string_kind_ = type::blob_string;
    std::size_t string_size_ = 0;

    std::size_t reply_size_ = 0;  ///< Bytes of the current reply that were taken.
    bool pushed_ = false;         ///< It is a push.
    std::size_t depth_ = 0;
    std::array<std::size_t, max_depth + 1> left_{1};  ///< Elements to come, by depth.
    std::size_t hidden_above_ = max_depth;            ///< Deeper parts belong to an attribute.
};

}  // namespace redlock::detail::resp

#endif
