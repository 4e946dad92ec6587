#ifndef REDLOCK_TEST_SUPPORT_MALFORMED_REPLIES_HPP
#define REDLOCK_TEST_SUPPORT_MALFORMED_REPLIES_HPP

#include "wire/resp.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace redlock::test {

/// What no server may send.
struct malformed_reply
{
    std::string_view name;
    std::string bytes;  ///< Enough of them to tell: a reader need not wait for more.
    detail::resp::error why;
};

inline std::string repeated(std::string_view text, std::size_t count)
{
    std::string all;
    all.reserve(text.size() * count);
    for (std::size_t i = 0; i < count; ++i)
        all += text;
    return all;
}

/// Wrong beginnings and ends.
inline std::vector<malformed_reply> malformed_lines()
{
    using namespace std::string_literals;
    using detail::resp::error;

    const std::string kibibyte(1024, 'x');
    return {
        {"another protocol", "HTTP/1.1 400 Bad Request\r\n", error::unknown_type},
        {"a line without a type", "OK\r\n", error::unknown_type},
        {"an empty line", "\r\n", error::unknown_type},
        {"a zero byte", "\0"s, error::unknown_type},
        {"a TLS alert", "\x15\x03\x03\x00\x02\x02\x46"s, error::unknown_type},
        {"a line that ends with LF alone", "+OK\n", error::bad_line_end},
        {"a line that ends with CR CR LF", "+OK\r\r\n", error::bad_line_end},
        {"a CR within a line", "+O\rK\r\n", error::bad_line_end},
        {"a type and LF alone", "+\n", error::bad_line_end},
        {"a line that does not end", "-" + repeated(kibibyte, 65), error::line_too_long},
        {"a length that does not end", "$" + std::string(65 * 1024, '0'), error::line_too_long},
        {"a streamed string", "$?\r\n;4\r\nabcd\r\n;0\r\n", error::streamed},
        {"a streamed array", "*?\r\n:1\r\n.\r\n", error::streamed},
        {"an end of a stream", ".\r\n", error::streamed},
        {"a chunk of a stream", ";4\r\nabcd\r\n", error::streamed},
    };
}

inline std::vector<malformed_reply> malformed_strings()
{
    using namespace std::string_literals;
    using detail::resp::error;

    return {
        {"an empty length", "$\r\n", error::bad_length},
        {"a length that is a word", "$five\r\nvalue\r\n", error::bad_length},
        {"a length with a blank", "$ 5\r\nvalue\r\n", error::bad_length},
        {"a length with a plus sign", "$+5\r\nvalue\r\n", error::bad_length},
        {"a length that is a fraction", "$1.5\r\n", error::bad_length},
        {"a length that is a minus sign", "$-\r\n", error::bad_length},
        {"a length with a zero byte", "$5\0\r\nvalue\r\n"s, error::bad_length},
        {"a negative length", "$-2\r\n", error::negative_length},
        {"an error of negative length", "!-1\r\n", error::negative_length},
        {"a length of -2^63", "$-9223372036854775808\r\n", error::negative_length},
        {"a length above the limit", "$1048577\r\n", error::string_too_long},
        {"a length of 2^31", "$2147483648\r\n", error::string_too_long},
        {"a length of 2^63 - 1", "$9223372036854775807\r\n", error::string_too_long},
        {"a length of 2^63", "$9223372036854775808\r\n", error::string_too_long},
        {"a length of 2^64 - 1", "$18446744073709551615\r\n", error::string_too_long},
        {"a length of 2^64", "$18446744073709551616\r\n", error::string_too_long},
        {"a length of fifty digits", "$" + std::string(50, '9') + "\r\n", error::string_too_long},
        {"a string longer than its length", "$2\r\nvalue\r\n", error::bad_string_end},
        {"a string that ends with LF alone", "$5\r\nvalue\n\n", error::bad_string_end},
        {"a string that ends with CR alone", "$5\r\nvalue\r+OK\r\n", error::bad_string_end},
        {"a string shorter than its length", "$6\r\nvalue\r\n+OK\r\n", error::bad_string_end},
    };
}

inline std::vector<malformed_reply> malformed_aggregates()
{
    using detail::resp::error;

    const std::string kibibyte(1024, 'x');
    return {
        {"an empty size", "*\r\n", error::bad_size},
        {"a size that is a word", "*many\r\n", error::bad_size},
        {"a negative size", "*-2\r\n", error::negative_size},
        {"a map of negative size", "%-1\r\n", error::negative_size},
        {"a size above the limit", "*65537\r\n", error::too_many_elements},
        {"a map of more pairs than the limit", "%32769\r\n", error::too_many_elements},
        {"a size of 2^63", "*9223372036854775808\r\n", error::too_many_elements},
        {"a map of 2^63 pairs", "%9223372036854775808\r\n", error::too_many_elements},
        {"too deep nesting", repeated("*1\r\n", 17), error::too_deep},
        {"endless nesting", repeated("*1\r\n", 10'000), error::too_deep},
        {"endless nesting in an attribute", repeated("|1\r\n", 10'000), error::too_deep},
        {"endless attributes", repeated("|1\r\n+k\r\n+v\r\n", 400'000), error::reply_too_long},
        {"an endless reply",
         "*65536\r\n" + repeated("$65536\r\n" + repeated(kibibyte, 64) + "\r\n", 65),
         error::reply_too_long},
        {"a push within a reply", "*1\r\n>1\r\n+message\r\n", error::nested_push},
        {"a push within an attribute", "|1\r\n>1\r\n", error::nested_push},
    };
}

inline std::vector<malformed_reply> malformed_scalars()
{
    using detail::resp::error;

    return {
        {"an empty number", ":\r\n", error::bad_number},
        {"a number of 2^63", ":9223372036854775808\r\n", error::bad_number},
        {"a number below -2^63", ":-9223372036854775809\r\n", error::bad_number},
        {"a number with a blank", ":1 \r\n", error::bad_number},
        {"a number with two signs", ":+-1\r\n", error::bad_number},
        {"a number that is a word", ":one\r\n", error::bad_number},
        {"an empty double", ",\r\n", error::bad_double},
        {"a double that is a point", ",.\r\n", error::bad_double},
        {"a double with an empty exponent", ",1e\r\n", error::bad_double},
        {"a double with a rest", ",1.5x\r\n", error::bad_double},
        {"an empty big number", "(\r\n", error::bad_big_number},
        {"a big number with a fraction", "(1.5\r\n", error::bad_big_number},
        {"a boolean that is neither", "#x\r\n", error::bad_boolean},
        {"a boolean that is a word", "#true\r\n", error::bad_boolean},
        {"a null with a value", "_0\r\n", error::bad_null},
        {"a verbatim string without a format", "=3\r\nabc\r\n", error::bad_verbatim_string},
        {"a verbatim string without a colon", "=5\r\ntxt.a\r\n", error::bad_verbatim_string},
    };
}

/// All kinds, each by itself.
inline std::vector<malformed_reply> malformed_replies()
{
    std::vector<malformed_reply> all;
    for (const auto& some :
         {malformed_lines(), malformed_strings(), malformed_aggregates(), malformed_scalars()})
        all.insert(all.end(), some.begin(), some.end());
    return all;
}

/// Replies that are well formed, but more than one command gets.
struct unasked_reply
{
    std::string_view name;
    std::string bytes;
};

inline std::vector<unasked_reply> unasked_replies()
{
    return {
        {"a second reply", "+OK\r\n+OK\r\n"},
        {"a second reply that has only begun", "+OK\r\n$100\r\n"},
        {"an error behind a reply", "+OK\r\n-ERR unknown command\r\n"},
        {"a list behind a reply", "+OK\r\n*2\r\n:1\r\n:2\r\n"},
        {"a null behind a reply", "+OK\r\n_\r\n"},
    };
}

}  // namespace redlock::test

#endif
