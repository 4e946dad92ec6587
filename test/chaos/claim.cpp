#include "chaos/claim.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <stdexcept>

namespace redlock::test {

namespace {

std::int64_t number(time_point when)
{
    return std::chrono::nanoseconds(when.time_since_epoch()).count();
}

template <class Integer>
Integer read_number(std::istream& from)
{
    Integer value{};
    if (!(from >> value))
        throw std::invalid_argument("a number is missing");
    return value;
}

time_point read_time(std::istream& from)
{
    return time_point(std::chrono::nanoseconds(read_number<std::int64_t>(from)));
}

claim read_claim(std::istream& from)
{
    claim what;
    what.worker = read_number<std::uint32_t>(from);
    what.resource = read_number<std::uint32_t>(from);
    what.rounds = read_number<std::size_t>(from);
    what.invoked = read_time(from);
    what.granted = read_time(from);
    what.end = read_time(from);
    what.token = fencing_token::from_value(read_number<std::uint64_t>(from));
    return what;
}

void read_line(const std::string& line, history& into)
{
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "granted")
        into.claims.push_back(read_claim(words));
    else if (kind == "released" && !into.claims.empty())
        into.claims.back().end = std::min(into.claims.back().end, read_time(words));
    else if (kind == "note")
        into.notes.push_back(line.substr(5));
    else
        throw std::invalid_argument("not a line of a worker's log");
}

}  // namespace

std::string granted_line(const claim& what)
{
    std::ostringstream out;
    out << "granted " << what.worker << ' ' << what.resource << ' ' << what.rounds << ' '
        << number(what.invoked) << ' ' << number(what.granted) << ' ' << number(what.end) << ' '
        << what.token.value() << '\n';
    return out.str();
}

std::string released_line(time_point when)
{
    return "released " + std::to_string(number(when)) + '\n';
}

std::string note_line(std::uint32_t worker, std::string_view text)
{
    return "note " + std::to_string(worker) + ": " + std::string(text) + '\n';
}

void read_log(std::string_view text, history& into)
{
    for (;;)
    {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos)
            return;
        read_line(std::string(text.substr(0, end)), into);
        text.remove_prefix(end + 1);
    }
}

}  // namespace redlock::test
