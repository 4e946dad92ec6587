#ifndef REDLOCK_SRC_WIRE_RESP_HPP
#define REDLOCK_SRC_WIRE_RESP_HPP

#include <redlock/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

/// The protocol of Redis, RESP2 and RESP3, as a server speaks it.
namespace redlock::detail::resp {

enum class type : std::uint8_t
{
    simple_string,
    simple_error,
    number,
    blob_string,
    array,
    null,  ///< RESP3's null, or the null string or null array of RESP2.
    boolean,
    double_number,
    big_number,
    blob_error,
    verbatim_string,
    map,
    set,
    attribute,
    push,
};

/// Whether its parts follow.
[[nodiscard]] constexpr bool is_aggregate(type kind) noexcept
{
    return kind == type::array || kind == type::map || kind == type::set ||
           kind == type::attribute || kind == type::push;
}

[[nodiscard]] constexpr bool is_error(type kind) noexcept
{
    return kind == type::simple_error || kind == type::blob_error;
}

/** One value of a reply, or the head of an aggregate.

    A reply is a sequence of parts, each aggregate before its elements. Only the first has depth 0.
*/
struct part
{
    type kind = type::null;
    std::size_t size = 0;   ///< Elements of an aggregate; a pair in a map counts two. Else 0.
    std::size_t depth = 0;  ///< Number of aggregates around it.

    /// The text, without its frame, the format of a verbatim string, or the plus sign of a number.
    /// A boolean is "t" or "f". Empty for a null or an aggregate.
    std::string_view value;
    std::int64_t number = 0;  ///< What a number is. Else 0.

    bool pushed = false;  ///< Belongs to a push, which doesn't answer a command.
    bool last = false;    ///< Completes its reply or push.

    friend bool operator==(const part&, const part&) = default;
};

/// Bytes in a string, not counting its frame.
inline constexpr std::size_t max_string = std::size_t{1024} * 1024;

/// Bytes in a line: a simple string or error, a number, a length.
inline constexpr std::size_t max_line = std::size_t{64} * 1024;

/// Elements in one aggregate.
inline constexpr std::size_t max_elements = std::size_t{64} * 1024;

/// Depth of nested aggregates.
inline constexpr std::size_t max_depth = 16;

/// Bytes in a reply with its attributes. This also limits the number of parts, since each has at
/// least three bytes.
inline constexpr std::size_t max_reply = std::size_t{4} * 1024 * 1024;

/// How a server breaks the protocol, or exceeds one of our limits.
enum class error
{
    unknown_type = 1,
    streamed,  ///< RESP3 has strings and aggregates of unknown size, which no server sends.
    bad_line_end,
    line_too_long,
    bad_length,
    negative_length,
    string_too_long,
    bad_string_end,
    bad_size,
    negative_size,
    too_many_elements,
    too_deep,
    bad_number,
    bad_double,
    bad_big_number,
    bad_boolean,
    bad_null,
    bad_verbatim_string,
    nested_push,
    reply_too_long,
    unasked,  ///< A reply to a command when none was sent.
};

[[nodiscard]] const boost::system::error_category& error_category() noexcept;

[[nodiscard]] inline error_code make_error_code(error value) noexcept
{
    return {static_cast<int>(value), error_category()};
}

}  // namespace redlock::detail::resp

template <>
struct boost::system::is_error_code_enum<redlock::detail::resp::error> : std::true_type
{
};

#endif
