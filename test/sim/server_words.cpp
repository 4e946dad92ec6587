#include "sim/server_words.hpp"

#include <algorithm>
#include <charconv>

namespace redlock::sim {

namespace {

constexpr char to_lower(char each) noexcept
{
    return each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
}

}  // namespace

bool iequals(std::string_view one, std::string_view other)
{
    return std::ranges::equal(one, other, {}, to_lower, to_lower);
}

std::string in_lower_case(std::string_view text)
{
    std::string made(text);
    std::ranges::transform(made, made.begin(), to_lower);
    return made;
}

std::optional<std::int64_t> to_integer(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = failure == std::errc() && end == text.data() + text.size();
    // Redis takes neither zeros in front nor a minus sign before a zero.
    if (!whole || std::to_string(value) != text)
        return std::nullopt;
    return value;
}

answer wrong_arity(std::string_view command)
{
    return answer::error(
        "ERR wrong number of arguments for '" + std::string(command) + "' command"
    );
}

}  // namespace redlock::sim
