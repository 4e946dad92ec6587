#ifndef REDLOCK_TEST_SIM_KEYSPACE_HPP
#define REDLOCK_TEST_SIM_KEYSPACE_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace redlock::sim {

using std::chrono::nanoseconds;

/// Of a list only the size is known.
struct counted_list
{
    std::size_t size = 0;

    bool operator==(const counted_list&) const = default;
};

/// Members in the order of their scores, and of their names where those are equal.
class sorted_set
{
public:
    struct member
    {
        double score = 0;
        std::string name;

        auto operator<=>(const member&) const = default;
    };

    /// @return The member's rank. The size: it is not there.
    [[nodiscard]] std::size_t rank(std::string_view name) const;

    void insert(member added);
    void erase(std::size_t rank);

    [[nodiscard]] const auto& members() const noexcept { return members_; }
    [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }

    bool operator==(const sorted_set&) const = default;

private:
    std::vector<member> members_;
};

/// The value of one key.
struct entry
{
    static constexpr std::int64_t never = -1;

    std::variant<std::string, counted_list, sorted_set> value;
    std::int64_t expires = never;  ///< By the server's clock, in milliseconds since the epoch.
    unsigned writer = 0;           ///< The client that set it.

    /// Null: it is no string.
    [[nodiscard]] const std::string* text() const noexcept
    {
        return std::get_if<std::string>(&value);
    }

    /// The rule of Redis: a key lives until its last millisecond is over.
    [[nodiscard]] bool expired(std::int64_t now) const noexcept
    {
        return expires != never && now > expires;
    }
};

/// The keys of one database, and what was there before: a server that crashes loses what is new.
class keyspace
{
public:
    /// A key that lives at `now`, by the server's clock. Null: there is none.
    [[nodiscard]] entry* find(std::string_view key, std::int64_t now);

    /// @param when By the world's clock.
    void set(std::string_view key, entry value, nanoseconds when);
    void erase(std::string_view key, nanoseconds when);
    void clear(nanoseconds when);

    /// Undoes what was done after `when`.
    void roll_back(nanoseconds when);

    /// Nothing is ever undone, so nothing needs to be noted.
    void forget_changes() noexcept { notes_changes_ = false; }

    /// Notes that an entry is about to be changed in place.
    void note_change(std::string_view key, nanoseconds when);

    [[nodiscard]] const auto& all() const noexcept { return keys_; }

private:
    struct change
    {
        nanoseconds when;
        std::string key;
        std::optional<entry> before;
    };

    std::map<std::string, entry, std::less<>> keys_;
    std::vector<change> journal_;
    bool notes_changes_ = true;
};

}  // namespace redlock::sim

#endif
