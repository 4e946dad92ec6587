#include "tool/examination.hpp"

#include "core/one_line.hpp"
#include "core/overlap.hpp"
#include "node/vetting/server_info.hpp"
#include "node/vetting/vetting.hpp"
#include "tool/printing.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>

namespace redlock::tool {

namespace {

using namespace std::chrono_literals;

/// The oldest server that the library is tested with.
constexpr std::pair oldest_version{6, 2};

/// The first two numbers of a version.
std::pair<int, int> version_of(const std::string& text)
{
    std::pair<int, int> made{0, 0};
    std::sscanf(text.c_str(), "%d.%d", &made.first, &made.second);
    return made;
}

/// A command that a client needs, in a form that changes nothing because its keys don't exist.
struct needed_command
{
    std::string_view permission;
    std::vector<std::string_view> words;
    bool for_queues = false;
};

const std::vector<needed_command>& needed_commands()
{
    static const std::vector<needed_command> all{
        {"+get", {"GET", "redlock:doctor"}},
        {"+mget", {"MGET", "redlock:doctor"}},
        {"+set", {"SET", "redlock:doctor", "1", "XX", "PX", "1"}},
        {"+del", {"DEL", "redlock:doctor"}},
        {"+pttl", {"PTTL", "redlock:doctor"}},
        {"+pexpire", {"PEXPIRE", "redlock:doctor", "1"}},
        {"+eval", {"EVAL", "return 1", "0"}},
        {"+evalsha", {"EVALSHA", "0000000000000000000000000000000000000000", "0"}},
        {"+script|load", {"SCRIPT", "LOAD", "return 1"}},
        {"+exists", {"EXISTS", "redlock:doctor"}, true},
        {"+zadd", {"ZADD", "redlock:doctor", "XX", "1", "none"}, true},
        {"+zrem", {"ZREM", "redlock:doctor", "none"}, true},
        {"+zrank", {"ZRANK", "redlock:doctor", "none"}, true},
        {"+zrange", {"ZRANGE", "redlock:doctor", "0", "0"}, true},
        {"+zcard", {"ZCARD", "redlock:doctor"}, true},
        {"+zpopmin", {"ZPOPMIN", "redlock:doctor"}, true},
        {"+publish", {"PUBLISH", "redlock:doctor", ""}, true},
        {"+client|caching", {"CLIENT", "CACHING", "YES"}, true},
        {"+client|tracking", {"CLIENT", "TRACKING", "OFF"}, true},
        // Must be last: in RESP2 few other commands may follow.
        {"+subscribe", {"SUBSCRIBE", "redlock:doctor"}, true},
    };
    return all;
}

/// The questions to a node before the commands of the table, in this order.
enum question : std::size_t
{
    login,
    database,
    server,
    replication,
    memory,
    persistence,
    cluster,
    time_of_day,
    marker,
    quarantine,
    replicas_to_write,
    replicas_max_lag,
    first_needed
};

/// The fields of INFO.
std::map<std::string, std::string> fields_of(const answers& told)
{
    std::map<std::string, std::string> made;
    for (std::size_t at = server; at <= cluster; ++at)
    {
        const std::string text = told.all[at].first();
        for (std::size_t begin = 0; begin < text.size();)
        {
            const std::size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
            const std::string line = text.substr(begin, end - begin);
            if (const auto colon = line.find(':'); colon != line.npos)
                made[line.substr(0, colon)] = line.substr(colon + 1);
            begin = end + 1;
        }
    }
    return made;
}

bool is_forbidden(const detail::texts& told)
{
    return told.error.starts_with("NOPERM");
}

/// Whether an error is more than an expected refusal.
bool is_failure(const std::string& error)
{
    constexpr std::array harmless{"NOPERM", "NOSCRIPT", "ERR CLIENT CACHING"};
    return !error.empty() && std::ranges::none_of(harmless, [&error](const char* code) {
        return error.starts_with(code);
    });
}

bool is_login_fault(const std::string& error)
{
    constexpr std::array codes{"NOAUTH", "WRONGPASS", "NOPERM", "ERR AUTH", "ERR Client sent AUTH"};
    return std::ranges::any_of(codes, [&error](const char* code) {
        return error.starts_with(code);
    });
}

/// Looks at one node's answers, point by point.
class examiner
{
public:
    examiner(const node_config& node, const detail::guard& guarded, const answers& told)
        : node_(node), guarded_(guarded), told_(told)
    {
        found_.name = node.name();
        overlap_ = node.overlap.value_or(milliseconds(0));
    }

    [[nodiscard]] examination examine() &&
    {
        // A Sentinel knows INFO, but hardly any of the other commands.
        if (told_.all.size() > cluster)
            fields_ = fields_of(told_);
        if (told_.all.size() < first_needed)
            return unreached();
        detail::server_info mode;
        mode.mode = field("redis_mode");
        if (const auto wrong = detail::judge_mode(mode))
            return refuse(wrong.text);
        if (is_login_fault(told_.all[login].error))
            return refuse(
                "it refuses the login: " + detail::without_login(told_.all[login].error, node_) +
                ". Check user and password"
            );
        found_.reached = true;
        found_.run_id = field("run_id");
        found_.round_trip = told_.round_trip;
        if (const std::string& why = told_.all[database].error; !why.empty() && node_.database != 0)
        {
            problem(
                "database " + std::to_string(node_.database) + " cannot be used: " + why +
                ". Add +select to the user, or use another database"
            );
            return std::move(found_);
        }
        look_at_server();
        // All else that is wrong with a replica follows from that.
        if (found_.role == "slave")
            return std::move(found_);
        if (core::derives_overlap(node_))
            look_at_replicas();
        look_at_persistence();
        look_at_clock();
        look_at_marker();
        look_at_permissions();
        return std::move(found_);
    }

private:
    examination unreached()
    {
        const std::string why =
            told_.problem.empty() ? std::string("it closed the connection") : told_.problem;
        return refuse(
            "it cannot be reached: " + why +
            ". Is the server running, and are the address, port and firewall right?"
        );
    }

    examination refuse(std::string problem)
    {
        this->problem(std::move(problem));
        return std::move(found_);
    }

    [[nodiscard]] std::string field(const std::string& name) const
    {
        const auto found = fields_.find(name);
        return found == fields_.end() ? std::string() : found->second;
    }

    /// @param votes Whether the node votes anyway.
    void problem(std::string text, bool votes = false)
    {
        found_.problems.push_back(core::on_one_line(std::move(text)));
        found_.votes = found_.votes && votes;
    }

    void remark(std::string text) { found_.remarks.push_back(core::on_one_line(std::move(text))); }

    void look_at_server()
    {
        const std::string& no_info = told_.all[server].error;
        if (is_forbidden(told_.all[server]))
        {
            problem(
                "the user may not call INFO, so clients refuse the node. Add +info to the user. "
                "Its role, memory and disk weren't checked"
            );
            return;
        }
        if (!no_info.empty())
            return problem("INFO fails, so clients refuse the node: " + no_info);
        const std::string redis = field("redis_version");
        const std::string valkey = field("valkey_version");
        found_.version = valkey.empty() ? redis : "valkey " + valkey;
        if (!redis.empty() && version_of(redis) < oldest_version)
            problem("version " + redis + " is too old. Use Redis 6.2 or later, or Valkey");
        found_.role = field("role");
        if (found_.role == "slave" && core::may_fail_over(node_))
            problem("it is a replica: a failover is under way, or its address is stale. Wait");
        else if (found_.role == "slave")
        {
            problem(
                "it is a replica of " + field("master_host") + ":" + field("master_port") +
                ". Nodes must be independent masters: name another server. Don't promote this one, "
                "because it may have lost locks"
            );
        }
        if (field("cluster_enabled") == "1")
            problem(
                "it belongs to a cluster, which moves keys between servers. Use servers without "
                "cluster-enabled"
            );
        const std::string policy = field("maxmemory_policy");
        if (field("maxmemory") != "0" && policy != "noeviction" && !policy.empty())
        {
            problem(
                "it may evict keys and end a lock early, because maxmemory-policy is " + policy +
                ". Set it to noeviction"
            );
        }
        if (field("connected_slaves") != "0" && !field("connected_slaves").empty() &&
            found_.role == "master" && !core::may_fail_over(node_))
        {
            const std::string count = field("connected_slaves");
            remark(
                "it has " + count +
                (count == "1" ? " replica. Don't promote it" : " replicas. Don't promote one") +
                ", because it may have lost locks"
            );
        }
    }

    /// Checks that a failover can't lead to two holders.
    void look_at_replicas()
    {
        detail::server_info info;
        info.version = field("redis_version");
        detail::read_info(info, told_.all[replication].first());
        detail::replica_settings set;
        for (const std::size_t at : {replicas_to_write, replicas_max_lag})
        {
            detail::read_settings(set, told_.all[at].all);
            if (set.error.empty())
                set.error = told_.all[at].error;
        }
        overlap_ = core::overlap_after(set.max_lag);
        if (const auto wrong = detail::judge_replicas(info, set, told_.replicas))
            problem(wrong.text);
        else if (info.replicas.size() < set.to_write)
        {
            problem(
                "it waits for " + std::to_string(set.to_write) + " replicas but has " +
                std::to_string(info.replicas.size()) + ", so it grants nothing. Bring them back"
            );
        }
    }

    [[nodiscard]] std::string in_quarantine() const
    {
        return "a quarantine of " + in_words(guarded_.quarantine + overlap_);
    }

    /// The part of the marker after the settings.
    [[nodiscard]] std::string incarnation() const
    {
        const std::string& run_id = found_.run_id;
        return core::may_fail_over(node_) ? run_id + " " + field("master_replid") : run_id;
    }

    void look_at_persistence()
    {
        const bool file = field("aof_enabled") == "1";
        found_.persistence = fields_.empty() ? "?" : file ? "appendonly" : "none";
        if (found_.persistence == "none")
            remark(
                "it loses its locks in a crash and then sits out a quarantine. Restarts are milder "
                "with appendonly yes"
            );
        if (field("aof_last_write_status") == "err")
            problem(
                "it can't write its file (aof_last_write_status:err), so it refuses writes. Check "
                "its disk"
            );
        if (field("rdb_last_bgsave_status") == "err")
            problem(
                "its last save failed (rdb_last_bgsave_status:err), so it may refuse writes. "
                "Check its disk and its log"
            );
        if (field("loading") == "1")
            problem("it is still loading its data. Wait");
    }

    void look_at_clock()
    {
        const detail::texts& told = told_.all[time_of_day];
        if (told.all.size() != 2)
            return problem("it doesn't report its time: " + told.error + ". Add +time to the user");
        const auto seconds = detail::read_number(std::string_view(told.all[0])).value_or(0);
        const auto fraction = detail::read_number(std::string_view(told.all[1])).value_or(0);
        found_.clock =
            std::chrono::microseconds(seconds * 1'000'000 + fraction) - told_.at[time_of_day];
    }

    void look_at_marker()
    {
        const detail::texts& told = told_.all[marker];
        if (!told.error.empty())
        {
            problem(
                "the marker can't be read: " + told.error + ". Add ~redlock:* and +get to the user"
            );
            return;
        }
        const std::string found = told.first();
        const std::string smaller = guarded_.smaller_fingerprint_of(node_);
        const bool has_smaller = !smaller.empty() && found.starts_with(smaller);
        const std::string mine = has_smaller ? smaller : guarded_.fingerprint_of(node_);
        if (has_smaller)
            remark("it is marked for the smaller ttl_max, until a client asks for more");
        if (found.empty())
        {
            found_.admission = "not admitted";
            const std::string is_new =
                core::may_fail_over(node_)
                    ? "The first "
                    : "If all nodes are new, run redlock init; otherwise the first ";
            problem("it is not admitted. " + is_new + "client admits it after " + in_quarantine());
        }
        else if (!found.starts_with(mine))
        {
            found_.admission = "other settings";
            problem(
                "it is marked for other settings: its marker " +
                detail::guard::describe_difference(found, mine) +
                ". Give all clients the same number of nodes, databases, overlap, ttl_max and "
                "clock_window (here --ttl-max and --clock-window)"
            );
        }
        else if (!found.substr(mine.size()).starts_with(incarnation()))
        {
            found_.admission = "restarted";
            remark(
                std::string(
                    core::may_fail_over(node_) ? "it was restarted or failed over"
                                               : "it was restarted"
                ) +
                ". The next client starts " + in_quarantine()
            );
        }
        else
        {
            found_.admission = "admitted";
            look_at_quarantine();
        }
    }

    void look_at_quarantine()
    {
        const auto left = detail::read_number(std::string_view(told_.all[quarantine].first()));
        if (!left || *left == -2)
            return;
        found_.admission = "quarantined";
        if (*left == -1)
        {
            problem(
                "its quarantine has no end. Delete the key " + guarded_.quarantine_key +
                " once the node may vote again"
            );
        }
        else
        {
            problem(
                "it is in quarantine for another " + in_words(milliseconds(*left)) +
                " and doesn't vote until then. Wait, and restart another node only when 'redlock "
                "show' says that all nodes agree on what is held"
            );
        }
    }

    void look_at_permissions()
    {
        std::string needed;
        std::string of_queues;
        for (std::size_t i = 0; i < needed_commands().size(); ++i)
        {
            const std::size_t at = first_needed + i;
            const needed_command& command = needed_commands()[i];
            if (at >= told_.all.size())
            {
                remark(
                    "it closed the connection, so " + std::string(command.permission) +
                    " and what follows weren't checked"
                );
                break;
            }
            const std::string& error = told_.all[at].error;
            if (is_failure(error))
                problem(
                    std::string(command.words.front()) + " fails: " + error, command.for_queues
                );
            if (!is_forbidden(told_.all[at]))
                continue;
            std::string& list = command.for_queues ? of_queues : needed;
            list += (list.empty() ? "" : " ") + std::string(command.permission);
            // The command may be allowed, but the key or channel forbidden.
            words_ = told_.all[at].error;
        }
        const std::string hint =
            words_.find("key") != words_.npos || words_.find("channel") != words_.npos
                ? " (the server says: " + core::on_one_line(words_) + ")"
                : "";
        if (!needed.empty())
            problem(
                "the user lacks permissions a client needs" + hint + ". Add to the user: " + needed
            );
        if (!of_queues.empty())
            problem(
                "waiters have to poll because the user lacks permissions queues need" + hint +
                    ". Add to the user: &redlock:* " + of_queues,
                true
            );
    }

    const node_config& node_;
    const detail::guard& guarded_;
    const answers& told_;
    milliseconds overlap_{0};  ///< Added to quarantines.
    std::map<std::string, std::string> fields_;
    std::string words_;
    examination found_;
};

}  // namespace

detail::request make_inquiry(const node_config& node, const detail::guard& guarded)
{
    detail::request made;
    if (node.username.empty() && node.password.empty())
        made.push("PING");
    else if (node.username.empty())
        made.push("AUTH", node.password);
    else
        made.push("AUTH", node.username, node.password);
    if (node.database == 0)
        made.push("PING");
    else
        made.push("SELECT", node.database);
    for (const char* section : {"server", "replication", "memory", "persistence", "cluster"})
        made.push("INFO", section);
    made.push("TIME");
    made.push("GET", guarded.marker_key);
    made.push("PTTL", guarded.quarantine_key);
    for (const char* setting : {"min-replicas-to-write", "min-replicas-max-lag"})
    {
        if (core::derives_overlap(node))
            made.push("CONFIG", "GET", setting);
        else
            made.push("PING");
    }
    for (const needed_command& each : needed_commands())
    {
        made.begin(each.words.size());
        for (const std::string_view word : each.words)
            made.add(word);
    }
    return made;
}

examination examine(const node_config& node, const detail::guard& guarded, const answers& told)
{
    return examiner(node, guarded, told).examine();
}

}  // namespace redlock::tool
