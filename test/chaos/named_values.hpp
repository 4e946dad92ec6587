#ifndef REDLOCK_TEST_CHAOS_NAMED_VALUES_HPP
#define REDLOCK_TEST_CHAOS_NAMED_VALUES_HPP

#include <redlock/time.hpp>

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

/// Structs as arguments of a program, a name and a value for each member. A function `each_option`
/// beside the struct calls another one with the name and the member of each: the one list of them.
namespace redlock::test {

template <class Integer>
Integer read_number(std::string_view text)
{
    Integer value{};
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (ec != std::errc() || end != text.data() + text.size())
        throw std::invalid_argument("not a number: " + std::string(text));
    return value;
}

inline void read_value(std::string& into, const std::string& text)
{
    into = text;
}

inline void read_value(std::filesystem::path& into, const std::string& text)
{
    into = text;
}

inline void read_value(milliseconds& into, const std::string& text)
{
    into = milliseconds(read_number<milliseconds::rep>(text));
}

inline void read_value(bool& into, const std::string& text)
{
    into = read_number<int>(text) != 0;
}

template <class Integer>
void read_value(Integer& into, const std::string& text)
{
    into = read_number<Integer>(text);
}

inline std::string text_of(const std::string& value)
{
    return value;
}

inline std::string text_of(const std::filesystem::path& value)
{
    return value.string();
}

inline std::string text_of(milliseconds value)
{
    return std::to_string(value.count());
}

inline std::string text_of(std::uint64_t value)
{
    return std::to_string(value);
}

template <class Options>
[[nodiscard]] std::vector<std::string> to_arguments(const Options& options)
{
    std::vector<std::string> all;
    each_option(options, [&all](const char* name, const auto& value) {
        all.emplace_back(name);
        all.push_back(text_of(value));
    });
    return all;
}

/// Throws if an argument is not one of `to_arguments`.
template <class Options>
[[nodiscard]] Options from_arguments(const std::vector<std::string>& arguments)
{
    Options options;
    for (std::size_t index = 0; index < arguments.size(); index += 2)
    {
        bool known = false;
        each_option(options, [&](std::string_view name, auto& value) {
            if (name != arguments[index])
                return;
            read_value(value, arguments.at(index + 1));
            known = true;
        });
        if (!known)
            throw std::invalid_argument("no such option: " + arguments[index]);
    }
    return options;
}

}  // namespace redlock::test

#endif
