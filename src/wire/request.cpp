#include "wire/request.hpp"

#include <array>
#include <charconv>

namespace redlock::detail {

namespace {

constexpr std::string_view line_end = "\r\n";

/// Room for the digits of the longest number, and a sign.
using digits = std::array<char, 20>;

template <class Number>
std::string_view write(digits& to, Number number)
{
    const auto end = std::to_chars(to.data(), to.data() + to.size(), number).ptr;
    return {to.data(), static_cast<std::size_t>(end - to.data())};
}

}  // namespace

void request::begin(std::size_t arguments)
{
    add_line('*', arguments);
    ++size_;
}

void request::add(std::string_view text)
{
    add_line('$', text.size());
    payload_.append(text).append(line_end);
}

void request::add_joined(std::initializer_list<std::string_view> parts)
{
    std::size_t size = 0;
    for (const std::string_view part : parts)
        size += part.size();
    add_line('$', size);
    for (const std::string_view part : parts)
        payload_.append(part);
    payload_.append(line_end);
}

void request::add(std::uint64_t number)
{
    digits to;
    add(write(to, number));
}

void request::add_number(std::int64_t number)
{
    digits to;
    add(write(to, number));
}

void request::append(const request& other, std::string_view filling)
{
    const std::string_view from = other.payload_;
    std::size_t copied = 0;
    for (const std::size_t gap : other.gaps_)
    {
        payload_.append(from.substr(copied, gap - copied));
        add(filling);
        copied = gap;
    }
    payload_.append(from.substr(copied));
    size_ += other.size_;
}

void request::clear() noexcept
{
    payload_.clear();
    gaps_.clear();
    size_ = 0;
}

/// Appends the line in one call, because every argument has one.
void request::add_line(char type, std::size_t size)
{
    std::array<char, 23> line;
    line.front() = type;
    char* end = std::to_chars(line.data() + 1, line.data() + 21, size).ptr;
    *end++ = '\r';
    *end++ = '\n';
    payload_.append(line.data(), static_cast<std::size_t>(end - line.data()));
}

}  // namespace redlock::detail
