#include "wire/resp.hpp"

#include <string>

namespace redlock::detail::resp {

namespace {

std::string longer_than(const char* what, std::size_t limit, const char* unit)
{
    return std::string(what) + " has more than " + std::to_string(limit) + " " + unit;
}

std::string describe(error value)
{
    switch (value)
    {
    case error::unknown_type: return "a reply begins with no type of RESP";
    case error::streamed: return "a reply is streamed, which is not supported";
    case error::bad_line_end: return "a line does not end with CR LF";
    case error::line_too_long: return longer_than("a line", max_line, "bytes");
    case error::bad_length: return "the length of a string is not a number";
    case error::negative_length: return "the length of a string is negative";
    case error::string_too_long: return longer_than("a string", max_string, "bytes");
    case error::bad_string_end: return "a string does not end where its length says";
    case error::bad_size: return "the size of an aggregate is not a number";
    case error::negative_size: return "the size of an aggregate is negative";
    case error::too_many_elements: return longer_than("an aggregate", max_elements, "elements");
    case error::too_deep:
        return "more than " + std::to_string(max_depth) + " aggregates are in one another";
    case error::bad_number: return "a number is not an integer of 64 bits";
    case error::bad_double: return "a double is not a number";
    case error::bad_big_number: return "a big number is not an integer";
    case error::bad_boolean: return "a boolean is neither t nor f";
    case error::bad_null: return "a null has a value";
    case error::bad_verbatim_string: return "a verbatim string has no format";
    case error::nested_push: return "a push is within a reply";
    case error::unasked: return "a reply to no command";
    case error::reply_too_long: return longer_than("a reply", max_reply, "bytes");
    }
    return "unknown error of a reply";
}

class error_category_type final : public boost::system::error_category
{
public:
    const char* name() const noexcept override { return "redlock.resp"; }

    std::string message(int value) const override { return describe(static_cast<error>(value)); }
};

}  // namespace

const boost::system::error_category& error_category() noexcept
{
    static const error_category_type category;
    return category;
}

}  // namespace redlock::detail::resp
