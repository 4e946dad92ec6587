#ifndef REDLOCK_TEST_SIM_SERVER_HPP
#define REDLOCK_TEST_SIM_SERVER_HPP

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/answer.hpp"
#include "sim/dice.hpp"
#include "sim/keyspace.hpp"
#include "sim/running_clock.hpp"
#include "sim/schedule.hpp"
#include "sim/script_engine.hpp"
#include "sim/trace.hpp"

namespace redlock::sim {

class server;

/// What a server is short of, so that it answers with errors.
enum class impairment : std::uint8_t
{
    none,
    loading,
    busy,
    out_of_memory,
    misconf,
    read_only,
    no_replicas,
    master_down,
    no_permission,
};

inline constexpr std::size_t impairment_count = 9;

[[nodiscard]] const char* to_string(impairment value) noexcept;

/// What a server knows of one connection. A shared one may subscribe and track keys.
struct session : std::enable_shared_from_this<session>
{
    unsigned client = 0;
    bool resp3 = false;
    unsigned database = 0;
    bool logged_in = false;
    std::string input{};              ///< Not a whole command yet.
    std::string output{};             ///< Replies and pushes that are not sent yet.
    std::function<void()> on_push{};  ///< Sends the output.

    std::set<std::string, std::less<>> channels{};

    // CLIENT TRACKING.
    bool tracks = false;
    bool skips_own = false;    ///< Changes that the connection makes itself.
    bool caches_next = false;  ///< The keys that the next command reads are tracked.
    std::set<std::string, std::less<>> tracked{};
};

/// A key that a command changes.
struct key_change
{
    const server& where;
    std::string_view key;
    const entry* before;       ///< Null: there was none that lived.
    const entry* after;        ///< Null: it is deleted.
    const arguments& command;  ///< As it came from the client.
    unsigned client;
};

/// A command that has run.
struct command_run
{
    server& where;
    const arguments& command;
    const answer& replied;
};

/** One Redis server: commands in, replies out.

    Has the commands that the library and its scripts use, the errors that Redis has for them, and
    its rules of expiry. Its keys expire by a wall clock of its own. What it tells a connection
    without being asked gets into the output of the session.
*/
class server
{
public:
    struct options
    {
        std::string name = "n1";
        std::string password{};
        running_clock wall{};
        bool durable = false;  ///< What CONFIG says, and whether a crash loses anything.
        bool crashes = true;   ///< Whether it remembers what to lose in a crash.
        bool keeps_replication_id = false;  ///< Even where it becomes a master, which is wrong.
    };

    /// @param changed Is told of each change of a key, before it is made.
    /// @param ran Is told of each command.
    server(
        schedule& time,
        script_engine& scripts,
        trace& told,
        options how,
        std::uint64_t seed,
        std::function<void(const key_change&)> changed = {},
        std::function<void(const command_run&)> ran = {}
    );
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    /// Takes bytes of a connection. @return The replies to the commands that are whole now.
    [[nodiscard]] std::string receive(session& from, std::string_view bytes);

    /// How much it has done since this was asked last: commands, and one with several keys counts
    /// for as many.
    [[nodiscard]] std::size_t take_work() noexcept { return std::exchange(work_, 0); }

    /// Error replies so far, without those of an impairment and those to hashes of no script.
    [[nodiscard]] std::size_t errors() const noexcept { return errors_; }

    /// Runs one command.
    [[nodiscard]] answer execute(session& from, const arguments& command);

    /// Learns that a connection has ended. Until then it counts as one that hears.
    void hang_up(const session& gone);

    // What happens to it.
    void impair(impairment by);
    void set_clock(nanoseconds by);
    void flush_all();
    void remove(std::string_view key);
    void flush_scripts();

    /// Loses its connections, and of its keys what was changed less than `lost` ago. Its next life
    /// has another run id, and begins at `back_at`.
    void crash(nanoseconds lost, nanoseconds back_at);
    void start();

    /// Becomes a replica, which has what its master has, and keeps its connections.
    void copy(const server& master);

    /// Becomes a master, with what it has.
    void promote();

    /// Becomes a master with what another one had `lag` ago, as the replica that it was.
    void take_over(const server& from, nanoseconds lag);

    // What the simulator sees.
    [[nodiscard]] const std::string& name() const noexcept { return how_.name; }
    [[nodiscard]] const std::string& run_id() const noexcept { return run_id_; }
    [[nodiscard]] const std::string& replication_id() const noexcept { return replication_id_; }
    [[nodiscard]] bool durable() const noexcept { return how_.durable; }
    [[nodiscard]] bool is_replica() const noexcept { return replica_; }

    /// Whether its data came from another server since it started.
    [[nodiscard]] bool was_replica() const noexcept { return was_replica_; }
    [[nodiscard]] bool up() const noexcept { return up_; }
    [[nodiscard]] nanoseconds back_at() const noexcept { return back_at_; }
    [[nodiscard]] impairment impaired() const noexcept { return impaired_; }
    [[nodiscard]] const running_clock& wall() const noexcept { return how_.wall; }

    /// Counts its lives. What was sent to one does not reach the next.
    [[nodiscard]] unsigned life() const noexcept { return life_; }

    /// By its clock, since the epoch.
    [[nodiscard]] std::chrono::microseconds now() const noexcept;
    [[nodiscard]] std::int64_t now_ms() const noexcept { return now().count() / 1000; }

    /// A key of database 0 that lives. Null: there is none.
    [[nodiscard]] const entry* look(std::string_view key) const;

    /// The world's time at which a key is gone, if nothing happens to it.
    [[nodiscard]] nanoseconds gone_at(const entry& key) const noexcept;

    /// All keys of database 0, those that have expired included.
    [[nodiscard]] const auto& keys() const { return databases_.begin()->second.all(); }

    /// Puts a key there as if it had always been.
    void plant(std::string_view key, std::string value);

    /// Notes something beside the data, for so long by its clock. It goes wherever the data goes,
    /// and is lost with them. Commands do not see it.
    void note_with_data(std::string_view what, milliseconds for_how_long);
    [[nodiscard]] bool has_noted(std::string_view what) const;

private:
    struct call
    {
        session& from;
        const arguments& with;
        bool in_script;

        [[nodiscard]] bool speaks_resp3() const noexcept { return from.resp3 && !in_script; }
    };

    struct command_spec
    {
        std::string_view name;
        int arity;  ///< With the name. Negative: at least so many.
        unsigned flags;
        answer (server::*run)(const call&);
    };

    static constexpr unsigned writes = 1;
    static constexpr unsigned deny_oom = 2;
    static constexpr unsigned no_script = 4;
    static constexpr unsigned while_loading = 8;
    static constexpr unsigned while_busy = 16;
    static constexpr unsigned while_stale = 32;
    static constexpr unsigned before_login = 64;
    static constexpr unsigned reads = 128;          ///< The key that is the first argument.
    static constexpr unsigned reads_all = 256;      ///< All arguments are keys.
    static constexpr unsigned keeps_caching = 512;  ///< Comes before what is to be tracked.

    static const command_spec* find_command(std::string_view name);

    answer run_command(const call& what);
    std::optional<answer> refuse(const command_spec& what, const call& by) const;
    std::optional<answer> refuse_write(const command_spec& what, bool in_script) const;

    answer ping(const call& by);
    answer hello(const call& by);
    answer auth(const call& by);
    answer select(const call& by);
    answer info(const call& by);
    answer config(const call& by);
    answer acl(const call& by);
    answer role(const call& by);
    answer time(const call& by);
    answer flush(const call& by);
    answer script(const call& by);
    answer eval(const call& by);
    answer evalsha(const call& by);
    answer set(const call& by);
    answer get(const call& by);
    answer mget(const call& by);
    answer del(const call& by);
    answer exists(const call& by);
    answer pttl(const call& by);
    answer pexpire(const call& by);
    answer pexpireat(const call& by);
    answer rpush(const call& by);

    // server_sets.cpp
    using found_set = std::pair<const sorted_set*, std::optional<answer>>;

    /// The set that a command is about. Null: there is none, or it is of another type.
    found_set find_set(const call& by);
    void keep_set(const call& by, sorted_set left);
    answer zadd(const call& by);
    answer zrem(const call& by);
    answer zpopmin(const call& by);
    answer zrange(const call& by);
    answer zrank(const call& by);
    answer zcard(const call& by);
    answer zscore(const call& by);

    // server_pubsub.cpp
    answer subscribe(const call& by);
    answer publish(const call& by);
    answer client(const call& by);
    answer client_tracking(const call& by);
    answer client_caching(const call& by);
    void listen(session& from);
    void push(session& to, std::vector<answer> what);
    void track_reads(const command_spec& what, const call& by);
    void invalidate(std::string_view key);
    void invalidate_all();
    void plan_expiry(const std::string& key, unsigned database);
    void expire(std::string_view key, unsigned database);

    void draw_run_id();
    void renew_replication_id();
    answer log_in(session& from, std::string_view user, std::string_view password);
    answer run_script(const script_engine::compiled& script, const call& by);
    answer expire_at(const call& by, std::int64_t when);
    keyspace& database(const call& by) { return databases_[by.from.database]; }

    /// A key that lives. Null: there is none.
    entry* find(const call& by, std::string_view key);
    void put(const call& by, std::string_view key, entry after);
    void erase(const call& by, std::string_view key);
    void tell(const call& by, std::string_view key, const entry* after);
    void note(const session& from, const arguments& command, const answer& replied);

    schedule& time_;
    script_engine& scripts_;
    trace& trace_;
    options how_;
    dice dice_;
    std::function<void(const key_change&)> changed_;
    std::function<void(const command_run&)> ran_;

    std::map<unsigned, keyspace> databases_;
    std::vector<std::shared_ptr<session>> listeners_;
    session* at_work_ = nullptr;  ///< Whose command runs.
    std::set<const script_engine::compiled*> loaded_;
    std::string run_id_;
    std::string replication_id_;
    std::string former_replication_id_ = std::string(40, '0');
    unsigned promotions_ = 0;
    std::int64_t started_ = 0;  ///< By its clock, in seconds.
    unsigned life_ = 0;
    bool up_ = true;
    bool replica_ = false;
    bool was_replica_ = false;
    nanoseconds back_at_{0};
    impairment impaired_ = impairment::none;
    bool script_wrote_ = false;
    std::size_t work_ = 0;
    std::size_t errors_ = 0;
    arguments received_;                  ///< Kept for its memory.
    const arguments* command_ = nullptr;  ///< That of the client, while it runs.
};

}  // namespace redlock::sim

#endif
