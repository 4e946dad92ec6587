#ifndef REDLOCK_TEST_SIM_KEYSPACE_HPP
#define REDLOCK_TEST_SIM_KEYSPACE_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::sim {

using std::chrono::nanoseconds;

/// The value of one key.
struct entry
{
    static constexpr std::int64_t never = -1;

    std::string value;
    bool is_string = true;            ///< Or a list, of which only the size is known.
    std::int64_t expires = never;     ///< By the server's clock, in milliseconds since the epoch.
    unsigned writer = 0;              ///< The client that set it.

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
};

}  // namespace redlock::sim

#endif
