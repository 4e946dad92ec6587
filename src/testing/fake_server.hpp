#ifndef REDLOCK_SRC_TESTING_FAKE_SERVER_HPP
#define REDLOCK_SRC_TESTING_FAKE_SERVER_HPP

#include <redlock/fencing.hpp>
#include <redlock/note.hpp>

#include "node/node.hpp"

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testing/world.hpp"

namespace redlock::testing {

/// The keys of a fake server.
class fake_store
{
public:
    /// @param ttl `forever`: no ttl.
    /// @param foreign It belongs to another program; no client of the test has set it.
    /// @param more What follows the id in the value.
    void put(
        const std::string& key,
        const std::string& id,
        milliseconds ttl,
        nanoseconds now,
        bool foreign = true,
        std::string more = {}
    )
    {
        keys_[key] = {id, std::move(more), expiry(ttl, now), foreign};
    }

    /// What an administrator's DEL does.
    void erase(const std::string& key) { keys_.erase(key); }

    /// What FLUSHALL does.
    void clear() { keys_.clear(); }

    /// The same, but as if others had held what was there since: no extension sets it again.
    void lose(const std::string& key)
    {
        lost_.insert(keys_[key].id);
        keys_.erase(key);
    }
    void lose_all()
    {
        while (!keys_.empty())
            lose(std::string(keys_.begin()->first));
    }
    [[nodiscard]] bool has_lost(const std::string& id) const { return lost_.contains(id); }

    /// Lets an existing key live this long, unless it lives longer.
    void extend(const std::string& key, milliseconds ttl, nanoseconds now);

    /// How long the key has left, rounded up; `forever` without a ttl, zero without a key.
    [[nodiscard]] milliseconds remaining(const std::string& key, nanoseconds now) const;

    /// The id of the holder, empty without a key.
    [[nodiscard]] std::string value(const std::string& key, nanoseconds now) const;

    /// The whole value, empty without a key.
    [[nodiscard]] std::string whole_value(const std::string& key, nanoseconds now) const;

    /// Replaces what follows the id in the value. The key must exist.
    void say(const std::string& key, std::string more) { keys_.at(key).more = std::move(more); }

    /// Keys that a client has set and that haven't expired.
    [[nodiscard]] std::size_t count_set(nanoseconds now) const;

private:
    struct entry
    {
        std::string id;
        std::string more;
        nanoseconds expires;
        bool foreign;
    };

    static nanoseconds expiry(milliseconds ttl, nanoseconds now)
    {
        return ttl == forever ? nanoseconds::max() : now + ttl;
    }

    [[nodiscard]] const entry* find(const std::string& key, nanoseconds now) const;

    std::map<std::string, entry> keys_;
    std::set<std::string> lost_;  ///< Ids.
};

/// Which holds of a resource are over, as in over.lua. Tokens, or zero.
struct fake_mark
{
    std::uint64_t released = 0;
    std::uint64_t freed = 0;
    std::set<std::uint64_t> revoked{};
};

/// What a fake server adds to its keys in guarded mode, as in the guarded scripts.
struct fake_guard
{
    std::map<std::string, std::uint64_t> fences;  ///< By lock key.
    std::map<std::string, fake_mark> over;        ///< By lock key. None of them expires.
    std::chrono::microseconds window{500'000};
    std::chrono::microseconds clock_offset{0};  ///< The node's clock minus the world's.
    nanoseconds quarantined_until{0};
    milliseconds quarantine{60'000};  ///< Of a node that has lost its marker.
    bool marked = true;
};

/// A place in the queue of a server.
struct fake_place
{
    std::uint64_t arrival;
    std::string client;

    auto operator<=>(const fake_place&) const = default;
};

/// The place that goes first, for a moment.
struct fake_reservation
{
    fake_place first;
    nanoseconds expires;
};

/// The channels of a client.
class fake_listener
{
public:
    virtual ~fake_listener() = default;

    /// @return Whether the client has a connection.
    virtual bool tell(const detail::news& what) = 0;
};

/// The queues of the resources of a fake server, as in queue.lua.
struct fake_queues
{
    std::map<std::string, std::vector<fake_place>> waiting;  ///< By lock key, sorted.
    std::map<std::string, fake_reservation> reserved;
    std::set<std::string> flagged;  ///< A client waits for these, or has waited.
    milliseconds reservation{50};

    /// How long to keep a lock key for a client that is far away. By key and client.
    std::map<std::pair<std::string, std::string>, milliseconds> distant;

    std::map<std::string, std::weak_ptr<fake_listener>> channels;  ///< By client.
};

/// A server without a wire, which the fake nodes of several clients may share.
struct fake_server
{
    fake_store store;
    fake_guard guard;
    fake_queues queues;

    /// The channels of the clients that are told when a key changes, once.
    std::map<std::string, std::set<std::string>> tracked;

    /// Does what the scripts do.
    /// @param client The name of its channel.
    /// @param now In the world's time.
    [[nodiscard]] detail::reply answer(
        const detail::question& asked,
        const std::string& client,
        nanoseconds now
    );

    /// Another program takes a resource, even if it is held.
    void take_elsewhere(
        const std::string& key,
        milliseconds ttl,
        const note& says,
        nanoseconds now
    );

    /// Marks the hold of a resource so that it's no longer extended, if it has a token.
    void revoke(const std::string& key, nanoseconds now);

    /// Loses all keys and what belongs to them. Nobody is told.
    void forget();

    /// Notifies the clients that track a key. @param by Isn't notified.
    void tell_change(const std::string& key, const std::string& by = {});
};

}  // namespace redlock::testing

#endif
