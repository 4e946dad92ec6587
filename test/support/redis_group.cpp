#include "support/redis_group.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "support/contains.hpp"
#include "support/eventually.hpp"

namespace redlock::test {

namespace {

using namespace std::chrono_literals;

std::string number(std::uint64_t of)
{
    return std::to_string(of);
}

bool shows(redis_server& server, const std::string& line)
{
    return contains(server.command({"INFO", "replication"}), line);
}

}  // namespace

redis_group::redis_group(redis_group_options options) : options_(std::move(options))
{
    redis_server_options how;
    how.extra = {"--repl-diskless-sync-delay", "0"};
    const auto add = [&how](std::vector<std::string> words) {
        how.extra.insert(how.extra.end(), words.begin(), words.end());
    };
    add({"--user", "locks", "on", ">secret", "~*", "&*", "+@all"});
    add({"--min-replicas-to-write", number(options_.min_replicas)});
    add({"--min-replicas-max-lag", number(options_.max_lag)});
    for (std::size_t index = 0; index <= options_.replicas; ++index)
    {
        members_.emplace_back(how);
        if (index > 0)
            members_[index].command({"REPLICAOF", "127.0.0.1", number(members_[0].port())});
    }
    for (std::size_t index = 0; index < options_.sentinels; ++index)
        start_sentinel(sentinels_.emplace_back());
    if (options_.pace == sentinel_pace::hurried)
    {
        for (std::size_t index = 0; index < options_.sentinels; ++index)
            hurry(index);
    }
    if (!settles(30s))
        throw std::runtime_error("the group does not settle");
}

void redis_group::start_sentinel(sentinel& one)
{
    const auto file = one.folder.path() / "sentinel.conf";
    const std::string master = " " + std::string(name) + " ";
    std::ofstream(file) << "port " << one.port.number() << "\nbind 127.0.0.1\ndir "
                        << one.folder.path().native() << "\nsentinel monitor" << master
                        << "127.0.0.1 " << members_[0].port() << " " << options_.sentinels / 2 + 1
                        << "\nsentinel down-after-milliseconds" << master
                        << "500\nsentinel failover-timeout" << master
                        << "3000\nsentinel parallel-syncs" << master << "2\n";
    if (!options_.sentinel_password.empty())
    {
        std::ofstream(file, std::ios::app)
            << "requirepass " << options_.sentinel_password << "\nsentinel sentinel-pass "
            << options_.sentinel_password << "\n";
    }
    one.process = child_process(
        {find_program("redis-server"),
         {"redis-sentinel", file, "--sentinel"},
         {},
         one.folder.path() / "log"}
    );
}

// As Redis' own tests do. Servers older than 7.0 refuse it, and are waited for.
void redis_group::hurry(std::size_t index)
{
    const auto told = [&] {
        try
        {
            // Others undo a promotion that they have not been told of for four periods. Who leads
            // the failover sees it, and tells, after a second at most.
            static_cast<void>(ask_sentinel(
                index,
                {"SENTINEL",
                 "DEBUG",
                 "PUBLISH-PERIOD",
                 "500",
                 "INFO-PERIOD",
                 "500",
                 "ASK-PERIOD",
                 "100"}
            ));
            return true;
        }
        catch (const std::system_error&)  // It does not listen yet.
        {
            return false;
        }
    };
    if (!eventually(told, 20s))
        throw std::runtime_error("a Sentinel does not answer");
}

std::string redis_group::url() const
{
    std::string all;
    for (const sentinel& each : sentinels_)
        all += (all.empty() ? "" : ",") + ("127.0.0.1:" + number(each.port.number()));
    return "redis+sentinel://locks:secret@" + all + "/" + name;
}

std::string redis_group::ask_sentinel(std::size_t index, const std::vector<std::string>& words)
{
    resp_client client(sentinels_.at(index).port.number());
    if (!options_.sentinel_password.empty())
        client.command({"AUTH", options_.sentinel_password});
    return client.command(words);
}

std::size_t redis_group::master()
{
    std::map<std::string, std::size_t> told;
    for (std::size_t index = 0; index < sentinels_.size(); ++index)
    {
        try
        {
            ++told[ask_sentinel(index, {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", name})];
        }
        catch (const std::system_error&)  // It was killed, or does not listen yet.
        {
        }
    }
    for (std::size_t index = 0; index < size(); ++index)
    {
        if (told["127.0.0.1\n" + number(members_[index].port())] > sentinels_.size() / 2)
            return index;
    }
    return size();
}

bool redis_group::moves_from(std::size_t old, std::chrono::milliseconds within)
{
    return eventually(
        [&] {
            const std::size_t now = master();
            return now != old && now != size();
        },
        within
    );
}

bool redis_group::settles(std::chrono::milliseconds within)
{
    return eventually([this] { return is_settled(); }, within);
}

bool redis_group::is_settled()
{
    const std::size_t leading = master();
    if (leading == size())
        return false;
    try
    {
        for (std::size_t index = 0; index < sentinels_.size(); ++index)
        {
            if (sentinels_[index].process.pid() == 0)
                continue;
            const std::string told = ask_sentinel(index, {"SENTINEL", "MASTER", name});
            const std::string others = number(sentinels_.size() - 1);
            if (!contains(told, ("num-slaves\n" + number(options_.replicas) + "\n")) ||
                !contains(told, ("num-other-sentinels\n" + others + "\n")) ||
                !contains(told, "flags\nmaster\n"))
                return false;
        }
        for (std::size_t index = 0; index < size(); ++index)
        {
            redis_server& each = members_[index];
            const std::string line = "port=" + number(each.port()) + ",state=online";
            if (index != leading &&
                !(shows(each, "master_link_status:up") && shows(members_[leading], line)))
                return false;
        }
        return shows(members_[leading], "role:master");
    }
    catch (const std::system_error&)
    {
        return false;
    }
}

void redis_group::cut_off(std::size_t index)
{
    redis_server& member = members_.at(index);
    member.command({"ACL", "SETUSER", "default", "off"});
    resp_client locks(member.unix_socket_path());
    locks.command({"AUTH", "locks", "secret"});
    locks.command({"CLIENT", "KILL", "USER", "default"});
}

void redis_group::reconnect(std::size_t index)
{
    resp_client locks(members_.at(index).unix_socket_path());
    locks.command({"AUTH", "locks", "secret"});
    locks.command({"ACL", "SETUSER", "default", "on"});
}

void redis_group::hand_over(std::size_t from, std::size_t to)
{
    const std::vector<std::string> words{
        "FAILOVER", "TO", "127.0.0.1", number(members_.at(to).port())
    };
    // A replica that has just connected is not online at once.
    const bool done = eventually([&] { return members_[from].command(words) == "OK"; }) &&
                      eventually([&] { return shows(members_[to], "role:master"); });
    if (!done)
        throw std::runtime_error("the master does not hand over");
}

}  // namespace redlock::test
