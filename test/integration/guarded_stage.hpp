#ifndef REDLOCK_TEST_INTEGRATION_GUARDED_STAGE_HPP
#define REDLOCK_TEST_INTEGRATION_GUARDED_STAGE_HPP

#include "scripts.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

/// The scripts of guarded mode, put to a real server.
namespace redlock::test::guarded {

inline constexpr const char* lock = "orders:42";
inline constexpr const char* fence = "redlock:fence:orders:42";
inline constexpr const char* marker = "redlock:marker";
inline constexpr const char* quarantine = "redlock:quarantine";
inline constexpr const char* look = "redlock:look";
inline constexpr std::int64_t window = 500'000;

/// The scripts of a client, as they are or with a change.
struct scripts
{
    std::string acquire;
    std::string extend;
    std::string restore;
    std::string release;
    std::string finish;
    std::string revoke;
    std::string admit = detail::admit_script.text;
    std::string initialize = detail::initialize_script.text;
};

[[nodiscard]] scripts real_scripts();

/// The fingerprint of clients with three nodes.
[[nodiscard]] std::string fingerprint();

/// How the marker of a server ends.
[[nodiscard]] std::string end_for(const std::string& life);

/// A server that may vote, and the scripts put to it.
class stage
{
public:
    /// @param digits Of an attempt id, as which that of a scenario is put: short ones are answered
    /// by the second half of a script alone.
    stage(redis_server& node, const scripts& from, std::size_t digits = 1)
        : node_(node), from_(from), filling_(digits - 1, 'e')
    {
        command({"FLUSHALL"});
        mark("life 1");
    }

    void mark(const std::string& life) { command({"SET", marker, fingerprint() + life}); }
    bool marked(const std::string& life)
    {
        return command({"GET", marker}) == fingerprint() + life;
    }

    std::string command(const std::vector<std::string>& words) { return node_.command(words); }

    std::int64_t now()
    {
        const std::string time = command({"TIME"});
        const std::size_t end = time.find('\n');
        return std::stoll(time.substr(0, end)) * 1'000'000 + std::stoll(time.substr(end + 1));
    }

    std::string acquire(const std::string& id, std::int64_t token)
    {
        return command(
            {"EVAL", from_.acquire, "1", lock, connected_, "60000", "-", value(id, token)}
        );
    }

    std::string extend(const std::string& id, std::int64_t stamp, const std::string& ttl = "90000")
    {
        return announce(id, stamp, "0", "", ttl);
    }

    std::string announce(
        const std::string& id,
        std::int64_t stamp,
        const std::string& announced,
        const std::string& note,
        const std::string& ttl = "90000"
    )
    {
        const std::string when = std::to_string(stamp);
        return command(
            {"EVAL",
             from_.extend,
             "1",
             lock,
             connected_,
             ttl,
             announced,
             note,
             whole(id),
             when,
             when}
        );
    }

    std::string release(const std::string& id, std::int64_t token)
    {
        return command({"EVAL", from_.release, "1", lock, "-", whole(id), std::to_string(token)});
    }

    /// Releases a hold that was extended.
    std::string finish(const std::string& id, std::int64_t token)
    {
        return command({"EVAL", from_.finish, "1", lock, "-", whole(id), std::to_string(token)});
    }

    std::string restore(const std::string& id, std::int64_t token)
    {
        const std::string of = std::to_string(token);
        return command({"EVAL", from_.restore, "1", lock, "1f", of, "a note", whole(id), of});
    }

    std::string revoke(std::int64_t token) { return revoke(token, now()); }

    std::string revoke(std::int64_t token, std::int64_t stamp)
    {
        return command(
            {"EVAL",
             from_.revoke,
             "1",
             lock,
             connected_,
             std::to_string(stamp),
             std::to_string(token)}
        );
    }

    /// A client has met this server. @param life Its incarnation.
    void connect_to(const std::string& life) { connected_ = end_for(life); }

    /// A client connects. @param life The run id of the server.
    /// @param again It has admitted this run id before.
    /// @param mark It marks a node without a marker.
    /// @param more What a client says besides while ttl_max is raised.
    std::string admit(
        const std::string& life,
        bool durable = false,
        bool again = false,
        bool mark = true,
        const std::vector<std::string>& more = {}
    )
    {
        connected_ = end_for(life);
        std::vector<std::string> asked{
            "EVAL",
            from_.admit,
            "2",
            marker,
            quarantine,
            fingerprint(),
            life,
            "60000",
            durable ? "1" : "0",
            again ? "1" : "0",
            mark ? "1" : "0",
        };
        asked.insert(asked.end(), more.begin(), more.end());
        return command(asked);
    }

    bool admits(const std::string& life, bool durable = false)
    {
        return admit(life, durable) == "(integer) 0";
    }

    /// The same, and it does not vote for a while.
    bool quarantines(const std::string& life, bool durable = false, bool again = false)
    {
        const std::string answer = admit(life, durable, again);
        return answer.starts_with("(integer) ") && pttl(quarantine) > 50'000 &&
               std::stoll(answer.substr(std::string("(integer) ").size())) > 50'000;
    }

    /// The same while ttl_max is raised. @param raises The client asks for more than the smaller.
    std::string admit_either(const std::string& life, const std::string& smaller, bool raises)
    {
        return admit(life, false, false, true, {smaller, raises ? "1" : "0"});
    }

    std::string initialize(const char* what, const char* note = "note 1")
    {
        return command(
            {"EVAL",
             from_.initialize,
             "2",
             marker,
             look,
             fingerprint(),
             "life 1",
             what,
             note,
             "60000"}
        );
    }

    /// Looks at a server that carries no marker, and then marks it.
    std::string look_and_mark()
    {
        command({"DEL", marker});
        const std::string looked = initialize("look");
        return looked + initialize("mark");
    }

    bool acquires(const std::string& id, std::int64_t token)
    {
        return acquire(id, token) == "(integer) " + std::to_string(token);
    }

    bool extends(const std::string& id, std::int64_t stamp, const std::string& ttl = "90000")
    {
        return extend(id, stamp, ttl) == "(integer) " + std::to_string(stamp);
    }

    std::string whole(const std::string& id) { return id + filling_; }

    /// What an acquisition sets a key to.
    std::string value(const std::string& id, std::int64_t token)
    {
        const std::string of = std::to_string(token);
        return whole(id) + ' ' + of + " - 0 " + of + ' ';
    }

    /// The value of a key, with the id of a scenario.
    std::string value(const char* key = lock)
    {
        std::string found = command({"GET", key});
        const std::size_t end = std::min(found.find(' '), found.size());
        if (end > filling_.size())
            found.erase(end - filling_.size(), filling_.size());
        return found;
    }

    /// The id of the holder.
    std::string holder(const char* key = lock)
    {
        const std::string found = value(key);
        return found.substr(0, found.find(' '));
    }

    bool free() { return command({"EXISTS", lock}) == "(integer) 0"; }

    std::int64_t pttl(const char* key)
    {
        return std::stoll(command({"PTTL", key}).substr(std::string("(integer) ").size()));
    }

private:
    redis_server& node_;
    const scripts& from_;
    std::string filling_;
    std::string connected_ = end_for("life 1");  ///< The server that the client has met.
};

}  // namespace redlock::test::guarded

#endif
