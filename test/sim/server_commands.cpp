// The commands of a simulated server, each as Redis 7.0 has it.

#include <array>
#include <limits>
#include <span>
#include <utility>

#include "sim/server.hpp"
#include "sim/server_words.hpp"

namespace redlock::sim {

namespace {

answer invalid_expire(std::string_view command)
{
    return answer::error("ERR invalid expire time in '" + in_lower_case(command) + "' command");
}

}  // namespace

const server::command_spec* server::find_command(std::string_view name)
{
    constexpr unsigned always = while_loading | while_stale;
    static const std::array<command_spec, 33> all{{
        {"evalsha", -3, no_script | while_stale, &server::evalsha},
        {"get", 2, reads, &server::get},
        {"set", -3, writes | deny_oom, &server::set},
        {"pttl", 2, reads, &server::pttl},
        {"time", 1, always, &server::time},
        {"mget", -2, reads_all, &server::mget},
        {"ping", -1, while_stale, &server::ping},
        {"del", -2, writes, &server::del},
        {"pexpire", -3, writes, &server::pexpire},
        {"info", -1, always, &server::info},
        {"script", -2, no_script | while_stale, &server::script},
        {"hello", -1, always | no_script | while_busy | before_login, &server::hello},
        {"eval", -3, no_script | while_stale, &server::eval},
        {"auth", -2, always | no_script | while_busy | before_login, &server::auth},
        {"select", 2, always, &server::select},
        {"config", -2, always | no_script, &server::config},
        {"client", -2, always | no_script | keeps_caching, &server::client},
        {"role", 1, always | no_script, &server::role},
        {"exists", -2, reads_all, &server::exists},
        {"pexpireat", -3, writes, &server::pexpireat},
        {"rpush", -3, writes | deny_oom, &server::rpush},
        {"flushall", -1, writes, &server::flush},
        {"flushdb", -1, writes, &server::flush},
        {"acl", -2, always | no_script, &server::acl},
        {"zadd", -4, writes | deny_oom, &server::zadd},
        {"zrem", -3, writes, &server::zrem},
        {"zpopmin", -2, writes, &server::zpopmin},
        {"zrange", -4, reads, &server::zrange},
        {"zrank", 3, reads, &server::zrank},
        {"zcard", 2, reads, &server::zcard},
        {"zscore", 3, reads, &server::zscore},
        {"publish", 3, always, &server::publish},
        {"subscribe", -2, always | no_script, &server::subscribe},
    }};
    for (const command_spec& each : all)
    {
        if (each.name.size() == name.size() && iequals(each.name, name))
            return &each;
    }
    return nullptr;
}

answer server::run_command(const call& by)
{
    const command_spec* const found = find_command(by.with.front());
    if (!found)
    {
        if (by.in_script)
            return answer::error("ERR Unknown Redis command called from script");
        std::string text =
            "ERR unknown command '" + by.with.front() + "', with args beginning with: ";
        for (std::size_t i = 1; i < by.with.size(); ++i)
            text += "'" + by.with[i] + "' ";
        return answer::error(text);
    }
    const int count = static_cast<int>(by.with.size());
    if (found->arity > 0 ? count != found->arity : count < -found->arity)
    {
        if (by.in_script)
            return answer::error("ERR Wrong number of args calling Redis command from script");
        return wrong_arity(found->name);
    }
    if (by.in_script && (found->flags & no_script))
        return answer::error("ERR This Redis command is not allowed from script");
    if (auto refused = refuse(*found, by))
        return std::move(*refused);
    answer made = (this->*found->run)(by);
    track_reads(*found, by);
    return made;
}

std::optional<answer> server::refuse(const command_spec& what, const call& by) const
{
    if (!by.in_script && !how_.password.empty() && !by.from.logged_in &&
        !(what.flags & before_login))
        return answer::error("NOAUTH Authentication required.");

    const bool asks_to_write = what.flags & writes;
    switch (impaired_)
    {
    case impairment::loading:
        if (what.flags & while_loading || by.in_script)
            return std::nullopt;
        return answer::error("LOADING Redis is loading the dataset in memory");
    case impairment::busy:
        if (what.flags & while_busy || by.in_script)
            return std::nullopt;
        return answer::error(
            "BUSY Redis is busy running a script. You can only call SCRIPT KILL "
            "or SHUTDOWN NOSAVE."
        );
    case impairment::master_down:
        if (what.flags & while_stale)
            return std::nullopt;
        return answer::error(
            "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is "
            "set to 'no'."
        );
    case impairment::no_permission:
        if (!asks_to_write && what.run != &server::evalsha && what.run != &server::eval)
            return std::nullopt;
        return answer::error(
            "NOPERM User default has no permissions to run the '" + std::string(what.name) +
            "' command"
        );
    case impairment::none:
    case impairment::out_of_memory:
    case impairment::misconf:
    case impairment::read_only:
    case impairment::no_replicas: break;
    }
    return refuse_write(what, by.in_script);
}

/// A script that has written may write on: Redis looks at its first write only.
std::optional<answer> server::refuse_write(const command_spec& what, bool in_script) const
{
    const bool to_write = what.flags & writes;
    if (in_script && script_wrote_)
        return std::nullopt;
    if (replica_ && to_write)
        return answer::error("READONLY You can't write against a read only replica.");
    switch (impaired_)
    {
    case impairment::out_of_memory:
        if (what.flags & deny_oom)
            return answer::error("OOM command not allowed when used memory > 'maxmemory'.");
        break;
    case impairment::misconf:
        if (to_write || (!in_script && what.run == &server::ping))
            return answer::error(
                "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to "
                "persist to disk."
            );
        break;
    case impairment::read_only:
        if (to_write)
            return answer::error("READONLY You can't write against a read only replica.");
        break;
    case impairment::no_replicas:
        if (to_write)
            return answer::error("NOREPLICAS Not enough good replicas to write.");
        break;
    default: break;
    }
    return std::nullopt;
}

answer server::ping(const call& by)
{
    if (by.with.size() > 2)
        return wrong_arity("ping");
    return by.with.size() == 2 ? answer::bulk(by.with[1]) : answer::status("PONG");
}

answer server::log_in(session& from, std::string_view user, std::string_view password)
{
    if (user != "default" || (!how_.password.empty() && password != how_.password))
        return answer::error("WRONGPASS invalid username-password pair or user is disabled.");
    from.logged_in = true;
    return answer::ok();
}

answer server::hello(const call& by)
{
    const arguments& with = by.with;
    if (with.size() > 1 && with[1] != "2" && with[1] != "3")
        return answer::error("NOPROTO unsupported protocol version");
    for (std::size_t i = 2; i < with.size(); ++i)
    {
        if (iequals(with[i], "AUTH") && i + 2 < with.size())
        {
            if (auto refused = log_in(by.from, with[i + 1], with[i + 2]); refused.is_error())
                return refused;
            i += 2;
        }
        else if (iequals(with[i], "SETNAME") && i + 1 < with.size())
            ++i;
        else
            return answer::error("ERR Syntax error in HELLO option '" + with[i] + "'");
    }
    if (!how_.password.empty() && !by.from.logged_in)
        return answer::error(
            "NOAUTH HELLO must be called with the client already authenticated, "
            "otherwise the HELLO <proto> AUTH <user> <pass> option can be used to "
            "authenticate the client and select the RESP protocol version at the "
            "same time"
        );
    if (with.size() > 1)
        by.from.resp3 = with[1] == "3";
    answer made;
    made.what = answer::kind::map;
    made.elements = {
        answer::bulk("server"),
        answer::bulk("redis"),
        answer::bulk("version"),
        answer::bulk("7.0.15"),
        answer::bulk("proto"),
        answer::integer(by.from.resp3 ? 3 : 2),
        answer::bulk("mode"),
        answer::bulk("standalone"),
        answer::bulk("role"),
        answer::bulk("master"),
    };
    return made;
}

answer server::auth(const call& by)
{
    if (by.with.size() > 3)
        return answer::error(syntax_error);
    if (by.with.size() == 2 && how_.password.empty())
        return answer::error(
            "ERR AUTH <password> called without any password configured for the "
            "default user. Are you sure your configuration is correct?"
        );
    return log_in(by.from, by.with.size() == 3 ? by.with[1] : "default", by.with.back());
}

answer server::select(const call& by)
{
    constexpr std::int64_t databases = 16;
    const auto index = to_integer(by.with[1]);
    if (!index)
        return answer::error(not_an_integer);
    if (*index < 0 || *index >= databases)
        return answer::error("ERR DB index is out of range");
    by.from.database = static_cast<unsigned>(*index);
    return answer::ok();
}

answer server::acl(const call&)
{
    return answer::ok();
}

answer server::info(const call& by)
{
    const std::string section = by.with.size() > 1 ? by.with[1] : "server";
    answer made;
    made.what = answer::kind::verbatim;
    if (section == "server")
    {
        const std::int64_t uptime = now().count() / 1'000'000 - started_;
        made.text = "# Server\r\nredis_version:7.0.15\r\nrun_id:" + run_id_ +
                    "\r\nuptime_in_seconds:" + std::to_string(uptime) + "\r\n";
    }
    else if (section == "replication")
        made.text = std::string("# Replication\r\nrole:") + (replica_ ? "slave" : "master") +
                    "\r\nconnected_slaves:0\r\nsecond_repl_offset:" + (was_replica_ ? "1" : "-1") +
                    "\r\nmaster_replid:" + replication_id_ +
                    "\r\nmaster_replid2:" + former_replication_id_ + "\r\n";
    else if (section == "memory")
        made.text = "# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n";
    else if (section == "cluster")
        made.text = "# Cluster\r\ncluster_enabled:0\r\n";
    return made;
}

answer server::config(const call& by)
{
    if (by.with.size() != 3 || !iequals(by.with[1], "GET"))
        return answer::error(syntax_error);
    const std::array<std::pair<std::string_view, std::string_view>, 3> settings{{
        {"appendonly", how_.durable ? "yes" : "no"},
        {"appendfsync", how_.durable ? "always" : "everysec"},
        {"no-appendfsync-on-rewrite", "no"},
    }};
    answer made;
    made.what = answer::kind::map;
    for (const auto& [name, value] : settings)
    {
        if (iequals(by.with[2], name))
            made.elements = {answer::bulk(std::string(name)), answer::bulk(std::string(value))};
    }
    return made;
}

answer server::role(const call&)
{
    answer none;
    none.what = answer::kind::array;
    answer made = none;
    if (replica_)
        made.elements = {
            answer::bulk("slave"),
            answer::bulk("127.0.0.1"),
            answer::integer(1),
            answer::bulk("connected"),
            answer::integer(0)
        };
    else
        made.elements = {answer::bulk("master"), answer::integer(0), none};
    return made;
}

answer server::time(const call&)
{
    const std::int64_t shown = now().count();
    answer made;
    made.what = answer::kind::array;
    made.elements = {
        answer::bulk(std::to_string(shown / 1'000'000)),
        answer::bulk(std::to_string(shown % 1'000'000))
    };
    return made;
}

answer server::flush(const call& by)
{
    script_wrote_ = true;
    const bool all = iequals(by.with.front(), "FLUSHALL");
    for (auto& [index, keys] : databases_)
    {
        if (all || index == by.from.database)
            keys.clear(time_.elapsed());
    }
    invalidate_all();
    return answer::ok();
}

answer server::script(const call& by)
{
    const arguments& with = by.with;
    if (iequals(with[1], "FLUSH"))
    {
        loaded_.clear();
        return answer::ok();
    }
    if (iequals(with[1], "LOAD") && with.size() == 3)
    {
        const auto& made = scripts_.compile(with[2]);
        if (!made.error.empty())
            return answer::error("ERR Error compiling script (new function): " + made.error);
        loaded_.insert(&made);
        return answer::bulk(made.sha);
    }
    if (iequals(with[1], "EXISTS") && with.size() > 2)
    {
        answer list;
        list.what = answer::kind::array;
        for (std::size_t i = 2; i < with.size(); ++i)
        {
            const auto* known = scripts_.find(with[i]);
            list.elements.push_back(answer::integer(known && loaded_.contains(known)));
        }
        return list;
    }
    return answer::error(
        "ERR unknown subcommand or wrong number of arguments for '" + with[1] +
        "'. Try SCRIPT HELP."
    );
}

answer server::eval(const call& by)
{
    const auto& made = scripts_.compile(by.with[1]);
    if (!made.error.empty())
        return answer::error("ERR Error compiling script (new function): " + made.error);
    loaded_.insert(&made);
    return run_script(made, by);
}

answer server::evalsha(const call& by)
{
    const auto* known = scripts_.find(in_lower_case(by.with[1]));
    if (!known || !loaded_.contains(known))
        return answer::error("NOSCRIPT No matching script. Please use EVAL.");
    return run_script(*known, by);
}

answer server::run_script(const script_engine::compiled& script, const call& by)
{
    const auto count = to_integer(by.with[2]);
    if (!count)
        return answer::error(not_an_integer);
    if (*count < 0)
        return answer::error("ERR Number of keys can't be negative");
    if (static_cast<std::size_t>(*count) > by.with.size() - 3)
        return answer::error("ERR Number of keys can't be greater than number of args");
    const std::span<const std::string> rest = std::span(by.with).subspan(3);
    const auto keys = rest.first(static_cast<std::size_t>(*count));
    const auto values = rest.subspan(keys.size());
    script_wrote_ = false;
    const unsigned database = by.from.database;
    answer made = scripts_.run(script, keys, values, [this, &by](const arguments& given) {
        return run_command({by.from, given, true});
    });
    by.from.database = database;  // A SELECT of the script is its own.
    return made;
}

answer server::set(const call& by)
{
    const arguments& with = by.with;
    bool only_new = false;
    bool only_old = false;
    bool keeps_ttl = false;
    std::optional<std::int64_t> ttl;
    for (std::size_t i = 3; i < with.size(); ++i)
    {
        const bool is_px = iequals(with[i], "PX");
        if (iequals(with[i], "NX") && !only_old)
            only_new = true;
        else if (iequals(with[i], "XX") && !only_new)
            only_old = true;
        else if (iequals(with[i], "KEEPTTL") && !ttl)
            keeps_ttl = true;
        else if ((is_px || iequals(with[i], "EX")) && !ttl && !keeps_ttl && i + 1 < with.size())
        {
            ttl = to_integer(with[++i]);
            if (!ttl)
                return answer::error(not_an_integer);
            const std::int64_t unit = is_px ? 1 : 1000;
            constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
            if (*ttl <= 0 || *ttl > (most - now_ms()) / unit)
                return invalid_expire("set");
            *ttl *= unit;
        }
        else
            return answer::error(syntax_error);
    }

    const entry* const before = find(by, with[1]);
    if ((only_new && before) || (only_old && !before))
        return answer::null();
    entry after;
    after.value = with[2];
    after.writer = by.from.client;
    if (ttl)
        after.expires = now_ms() + *ttl;
    else if (keeps_ttl && before)
    {
        after.expires = before->expires;
        after.writer = before->writer;  // Only what it says has changed.
    }
    put(by, with[1], std::move(after));
    return answer::ok();
}

answer server::get(const call& by)
{
    const entry* const found = find(by, by.with[1]);
    if (!found)
        return answer::null();
    return found->text() ? answer::bulk(*found->text()) : answer::error(wrong_type);
}

answer server::mget(const call& by)
{
    answer made;
    made.what = answer::kind::array;
    for (std::size_t i = 1; i < by.with.size(); ++i)
    {
        const entry* const found = find(by, by.with[i]);
        made.elements.push_back(
            found && found->text() ? answer::bulk(*found->text()) : answer::null()
        );
    }
    return made;
}

answer server::del(const call& by)
{
    std::int64_t deleted = 0;
    for (std::size_t i = 1; i < by.with.size(); ++i)
    {
        if (!find(by, by.with[i]))
            continue;
        erase(by, by.with[i]);
        ++deleted;
    }
    return answer::integer(deleted);
}

answer server::exists(const call& by)
{
    std::int64_t found = 0;
    for (std::size_t i = 1; i < by.with.size(); ++i)
        found += find(by, by.with[i]) != nullptr;
    return answer::integer(found);
}

answer server::pttl(const call& by)
{
    const entry* const found = find(by, by.with[1]);
    if (!found)
        return answer::integer(-2);
    return answer::integer(found->expires == entry::never ? -1 : found->expires - now_ms());
}

answer server::pexpire(const call& by)
{
    const auto ttl = to_integer(by.with[2]);
    if (!ttl)
        return answer::error(not_an_integer);
    if (*ttl > std::numeric_limits<std::int64_t>::max() - now_ms())
        return invalid_expire("pexpire");
    return expire_at(by, now_ms() + *ttl);
}

answer server::pexpireat(const call& by)
{
    const auto when = to_integer(by.with[2]);
    if (!when)
        return answer::error(not_an_integer);
    return expire_at(by, *when);
}

answer server::expire_at(const call& by, std::int64_t when)
{
    bool only_if_longer = false;
    for (std::size_t i = 3; i < by.with.size(); ++i)
    {
        if (!iequals(by.with[i], "GT"))
            return answer::error("ERR Unsupported option " + by.with[i]);
        only_if_longer = true;
    }
    const std::string& key = by.with[1];
    const entry* const found = find(by, key);
    if (!found)
        return answer::integer(0);
    if (only_if_longer && (found->expires == entry::never || when <= found->expires))
        return answer::integer(0);
    if (when <= now_ms())
    {
        erase(by, key);
        return answer::integer(1);
    }
    entry after = *found;
    after.expires = when;
    put(by, key, std::move(after));
    return answer::integer(1);
}

answer server::rpush(const call& by)
{
    const entry* const before = find(by, by.with[1]);
    if (before && !std::holds_alternative<counted_list>(before->value))
        return answer::error(wrong_type);
    entry after = before ? *before : entry();
    counted_list now = before ? std::get<counted_list>(before->value) : counted_list();
    now.size += by.with.size() - 2;
    after.value = now;
    put(by, by.with[1], std::move(after));
    return answer::integer(static_cast<std::int64_t>(now.size));
}

}  // namespace redlock::sim
