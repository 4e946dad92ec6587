#include "chat_room/names.hpp"

#include <boost/beast/core/string.hpp>
#include <boost/regex/pending/unicode_iterator.hpp>
#include <boost/spirit/home/support/char_encoding/unicode.hpp>

#include <cstdint>

namespace chat {

namespace {

namespace ucd = boost::spirit::ucd;
using category = ucd::properties;

constexpr unsigned most_marks = 2;

bool is_seen(std::uint32_t c)
{
    const auto major = ucd::get_major_category(c);
    const auto exact = ucd::get_category(c);
    // What is not assigned yet may be the emoji of next year.
    const bool other = major == category::other && exact != category::unassigned;
    const bool blank = major == category::separator && c != ' ';
    return !other && !blank && !ucd::is_default_ignorable_code_point(c) &&
           !ucd::is_noncharacter_code_point(c);
}

}  // namespace

bool is_person_name(std::string_view name)
{
    using decoded = boost::u8_to_u32_iterator<std::string_view::const_iterator>;
    std::uint32_t before = ' ';
    unsigned marks = most_marks;  // There is nothing yet that could carry one.
    for (decoded at(name.begin(), name.begin(), name.end()),
         end(name.end(), name.begin(), name.end());
         at != end;
         ++at)
    {
        const std::uint32_t c = *at;
        const bool mark = ucd::get_major_category(c) == category::mark;
        if (!is_seen(c) || (c == ' ' && before == ' ') || (mark && marks == most_marks))
            return false;
        marks = mark ? marks + 1 : c == ' ' ? most_marks : 0;
        before = c;
    }
    return before != ' ' && !boost::beast::iequals(name, "You");
}

}  // namespace chat
