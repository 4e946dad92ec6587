#ifndef REDLOCK_DETAIL_HASHED_NAME_HPP
#define REDLOCK_DETAIL_HASHED_NAME_HPP

#include <compare>
#include <cstddef>
#include <functional>
#include <string_view>

namespace redlock::detail {

/** A view of a resource's name and its hash, by which names are ordered.

    What is found by name stands in trees: a hash table of a hundred thousand entries takes 20 ms to
    grow, which is longer than a handler may. Comparing hashes makes them as fast.
*/
class hashed_name
{
public:
    hashed_name() = default;

    /*implicit*/ hashed_name(std::string_view name) noexcept
        : hashed_name(std::hash<std::string_view>()(name), name)
    {
    }

    hashed_name(std::size_t hash, std::string_view name) noexcept : hash_(hash), name_(name) {}

    [[nodiscard]] std::size_t hash() const noexcept { return hash_; }

    [[nodiscard]] std::string_view text() const noexcept { return name_; }

    friend std::strong_ordering operator<=>(const hashed_name&, const hashed_name&) = default;

private:
    std::size_t hash_ = 0;
    std::string_view name_;
};

}  // namespace redlock::detail

#endif
