#include "sim/answer.hpp"

#include <charconv>

namespace redlock::sim {

namespace {

void add_number(std::string& to, char first, std::int64_t number)
{
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    to += first;
    to.append(digits, end);
    to += "\r\n";
}

void add_blob(std::string& to, char first, std::string_view before, std::string_view text)
{
    add_number(to, first, static_cast<std::int64_t>(before.size() + text.size()));
    to.append(before).append(text).append("\r\n");
}

}  // namespace

void encode(const answer& from, bool resp3, std::string& to)
{
    using enum answer::kind;

    switch (from.what)
    {
    case status: to.append("+").append(from.text).append("\r\n"); break;
    case error: to.append("-").append(from.text).append("\r\n"); break;
    case integer: add_number(to, ':', from.number); break;
    case bulk: add_blob(to, '$', {}, from.text); break;
    case null: to += resp3 ? "_\r\n" : "$-1\r\n"; break;
    case verbatim:
        if (resp3)
            add_blob(to, '=', "txt:", from.text);
        else
            add_blob(to, '$', {}, from.text);
        break;
    case real:
        if (resp3)
            to.append(",").append(from.text).append("\r\n");
        else
            add_blob(to, '$', {}, from.text);
        break;
    case array:
    case pushed:
    case map:
    {
        const bool as_map = resp3 && from.what == map;
        const char first = as_map ? '%' : from.what == pushed ? '>' : '*';
        const std::size_t size = from.elements.size();
        add_number(to, first, static_cast<std::int64_t>(as_map ? size / 2 : size));
        for (const answer& each : from.elements)
            encode(each, resp3, to);
        break;
    }
    }
}

}  // namespace redlock::sim
