#ifndef REDLOCK_DETAIL_PRINTING_HPP
#define REDLOCK_DETAIL_PRINTING_HPP

#include <concepts>
#include <iosfwd>
#include <type_traits>

namespace redlock {

namespace detail {

/// An enumeration with a name for each value, such as `node_state`.
template <class T>
concept named_enum = std::is_enum_v<T> && requires(T value) {
    { to_string(value) } -> std::same_as<const char*>;
};

}  // namespace detail

/// Prints `to_string(value)` for each enumeration of this namespace with names.
template <class Traits, detail::named_enum Enum>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, Enum value)
{
    return out << to_string(value);
}

}  // namespace redlock

#endif
