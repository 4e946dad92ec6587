#ifndef REDLOCK_TEST_SUPPORT_REDIS_GROUP_HPP
#define REDLOCK_TEST_SUPPORT_REDIS_GROUP_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/posix.hpp"
#include "support/redis_server.hpp"

namespace redlock::test {

/// How often Sentinels look and tell.
enum class sentinel_pace : std::uint8_t
{
    /// They make a replica of a master that they did not choose after ten seconds.
    as_shipped,
    /// After two. No other time of a failover depends on it by more than a second.
    hurried,
};

struct redis_group_options
{
    std::size_t replicas = 1;
    unsigned min_replicas = 1;  ///< Of every member: `min-replicas-to-write`.
    unsigned max_lag = 1;       ///< `min-replicas-max-lag`, in seconds.
    std::size_t sentinels = 3;
    std::string sentinel_password{};  ///< Empty: none.
    sentinel_pace pace = sentinel_pace::hurried;
};

/** A master, its replicas, and Sentinels that watch them, all on loopback ports.

    Clients may log in as the user "locks" with the password "secret", so that a test can lock out
    replicas and Sentinels, which use the default user.
*/
class redis_group
{
public:
    /// The name of the master at the Sentinels.
    static constexpr const char* name = "mymaster";

    /// Starts everything. Throws if the group is not complete in time.
    explicit redis_group(redis_group_options options = {});
    redis_group(const redis_group&) = delete;
    redis_group& operator=(const redis_group&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
    [[nodiscard]] redis_server& member(std::size_t index) { return members_.at(index); }

    /// Of all Sentinels: `redis+sentinel://locks:secret@HOST:PORT,.../mymaster`.
    [[nodiscard]] std::string url() const;

    /// The member that most Sentinels take for the master.
    [[nodiscard]] std::size_t master();

    /// Waits until the Sentinels know another master than this one. @return Whether they do.
    [[nodiscard]] bool moves_from(std::size_t old, std::chrono::milliseconds within);

    /// Waits until all members are replicas of the master, and all Sentinels know them. @return
    /// Whether they are.
    [[nodiscard]] bool settles(std::chrono::milliseconds within);

    /// Sends a command to one of the Sentinels.
    std::string ask_sentinel(std::size_t index, const std::vector<std::string>& words);

    /// Makes the others lose a member, which its clients reach all the while.
    void cut_off(std::size_t index);

    /// Ends that.
    void reconnect(std::size_t index);

    /// Hands the role of the master over to a replica, as an operator does: Sentinels are not
    /// asked. Returns when it has the role.
    void hand_over(std::size_t from, std::size_t to);

private:
    struct sentinel
    {
        temp_folder folder{};
        loopback_port port{};
        child_process process{};
    };

    void start_sentinel(sentinel& one);
    void hurry(std::size_t index);
    [[nodiscard]] bool is_settled();

    redis_group_options options_;
    std::deque<redis_server> members_;
    std::deque<sentinel> sentinels_;
};

}  // namespace redlock::test

#endif
