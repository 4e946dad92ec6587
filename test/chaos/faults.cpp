#include "chaos/faults.hpp"

#include <chrono>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "support/eventually.hpp"

namespace redlock::test {

namespace {

using namespace std::chrono_literals;

heal pause_node(const aim& at)
{
    at.server().pause();
    return [&node = at.server()] { node.resume(); };
}

heal take_down(const aim& at)
{
    at.server().kill();
    return [&on = at.on, index = at.node] { on.bring_back(index); };
}

heal restart(const aim& at)
{
    at.server().kill();
    at.on.bring_back(at.node);
    return {};
}

heal restart_without_data(const aim& at)
{
    at.server().kill();
    at.server().erase_data();
    at.on.bring_back(at.node);
    return {};
}

heal restart_truncated(const aim& at)
{
    at.server().kill();
    at.server().truncate_data(at.draw(1, 20'000));
    at.on.bring_back(at.node);
    return {};
}

// What it has now is what it will know.
heal restart_from_snapshot(const aim& at)
{
    // A node that has a replica may be saving for that one.
    const auto saves = [&at] {
        const std::string reply = at.on.command(at.node, {"SAVE"});
        if (reply.starts_with("-ERR Background save already in progress"))
            return false;
        if (reply.starts_with("-"))
            throw std::runtime_error("SAVE was answered with " + reply);
        return true;
    };
    if (!eventually(saves))
        throw std::runtime_error("a background save does not end");
    return [&on = at.on, index = at.node] {
        on.node(index).kill();
        on.bring_back(index);
    };
}

// The server would also keep whoever wants to undo it waiting, so it is told for how long.
heal client_pause(const aim& at)
{
    const char* const what = at.draw(0, 1) == 0 ? "ALL" : "WRITE";
    at.command({"CLIENT", "PAUSE", std::to_string(at.draw(20, 600)), what});
    return {};
}

heal script_flush(const aim& at)
{
    at.command({"SCRIPT", "FLUSH"});
    return {};
}

heal flush(const aim& at)
{
    at.command({"FLUSHALL", at.draw(0, 1) == 0 ? "SYNC" : "ASYNC"});
    return {};
}

heal exhaust_memory(const aim& at)
{
    at.command({"CONFIG", "SET", "maxmemory", "1"});
    return [at] { at.command({"CONFIG", "SET", "maxmemory", "0"}); };
}

// No program listens on that port, so it keeps its data, and accepts no writes.
heal replica_of_nobody(const aim& at)
{
    at.command({"REPLICAOF", "127.0.0.1", "1"});
    return [at] { at.command({"REPLICAOF", "NO", "ONE"}); };
}

// It loses all data, the marker included.
heal replica_of_empty(const aim& at)
{
    at.command({"REPLICAOF", "127.0.0.1", std::to_string(at.on.empty_server().port())});
    return [at] { at.command({"REPLICAOF", "NO", "ONE"}); };
}

// It forgets its locks, and has the marker of the other one, which must be in use as it is: a copy
// of this node would give it its own marker back, and nobody would notice.
heal copy_node(const aim& at, std::size_t other)
{
    if (at.node == other || !at.on.is_admitted(other))
        return {};
    at.command({"REPLICAOF", "127.0.0.1", std::to_string(at.on.node(other).port())});
    const bool keeps_connections = at.draw(0, 1) == 0;
    return [at, keeps_connections] {
        at.command({"REPLICAOF", "NO", "ONE"});
        if (!keeps_connections)
            at.command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    };
}

heal replica_of_another(const aim& at)
{
    const std::size_t count = at.on.node_count();
    return copy_node(at, (at.node + at.draw(1, count - 1)) % count);
}

heal replica_of_the_first(const aim& at)
{
    return copy_node(at, 0);
}

heal forbid(const aim& at)
{
    constexpr const char* rules[] = {
        "-evalsha", "-@scripting", "-set", "-get", "-del", "-info", "resetkeys", "-pexpire"
    };
    at.command({"ACL", "SETUSER", "default", rules[at.draw(0, std::size(rules) - 1)]});
    return [at] { at.command({"ACL", "SETUSER", "default", "on", "nopass", "~*", "&*", "+@all"}); };
}

heal run_for_ever(const aim& at)
{
    try
    {
        resp_client client(at.server().unix_socket_path(), 10ms);
        client.command({"EVAL", "while true do end", "0"});
    }
    catch (const std::system_error&)  // There is no answer, and the script goes on.
    {
    }
    // The script goes on for a moment after it was told to end.
    return [at] {
        const auto has_ended = [&at] {
            at.on.command(at.node, {"SCRIPT", "KILL"});
            return !at.on.command(at.node, {"PING"}).starts_with("-BUSY");
        };
        if (!eventually(has_ended))
            throw std::runtime_error("a script does not end");
    };
}

// Farther than two windows, so that the node votes neither before nor while it is off; and for
// longer than a quarantine, so that all it granted before is over when its clock returns.
heal step_clock(const aim& at)
{
    constexpr std::chrono::seconds steps[] = {3s, 10s, 1h, 24h * 30};
    const auto step = steps[at.draw(0, std::size(steps) - 1)];
    wall_clock& clock = at.on.clock_of_node(at.node);
    clock.set_offset(at.draw(0, 1) == 0 ? step : -step);
    return [&clock] { clock.set_offset(0s); };
}

// Within the margin of the shortest ttl in use.
heal step_clock_a_little(const aim& at)
{
    wall_clock& clock = at.on.clock_of_node(at.node);
    clock.set_offset(at.draw(0, 1) == 0 ? 2ms : -2ms);
    return [&clock] { clock.set_offset(0s); };
}

heal pass_when_over(const aim& at)
{
    return [at] { at.link().pass(); };
}

// Whatever was lost is not followed by anything: that would be no TCP.
heal reset_when_over(const aim& at)
{
    return [at] {
        at.link().reset_all();
        at.link().pass();
    };
}

heal delay(const aim& at)
{
    const std::chrono::milliseconds typical(at.draw(1, 100));
    at.link().delay_at_random(typical, 2'500ms, at.random());
    return pass_when_over(at);
}

heal drop_requests(const aim& at)
{
    at.link().drop_requests();
    return reset_when_over(at);
}

heal drop_replies(const aim& at)
{
    at.link().drop_replies();
    return reset_when_over(at);
}

heal blackhole(const aim& at)
{
    at.link().blackhole();
    return reset_when_over(at);
}

heal hold_requests(const aim& at)
{
    at.link().hold_requests();
    return pass_when_over(at);
}

heal hold_replies(const aim& at)
{
    at.link().hold_replies();
    return pass_when_over(at);
}

// A guarded acquisition has about 300 bytes.
heal stall_in_mid_frame(const aim& at)
{
    if (at.draw(0, 1) == 0)
        at.link().stall_after_request_bytes(at.draw(1, 3'000));
    else
        at.link().stall_after_reply_bytes(at.draw(1, 300));
    return pass_when_over(at);
}

heal reset_in_mid_frame(const aim& at)
{
    if (at.draw(0, 1) == 0)
        at.link().reset_after_request_bytes(at.draw(1, 3'000));
    else
        at.link().reset_after_reply_bytes(at.draw(1, 300));
    return {};
}

heal reset_link(const aim& at)
{
    at.link().reset_all();
    return {};
}

heal replay(const aim& at)
{
    at.link().replay_last_request();
    return [at] { at.link().replay_last_request(); };
}

heal refuse(const aim& at)
{
    at.link().refuse();
    at.link().reset_all();
    return [at] { at.link().accept(); };
}

heal pause_worker(const aim& at)
{
    child_process& worker = at.on.workers().process(at.worker);
    worker.pause();
    return [&worker] { worker.resume(); };
}

heal kill_worker(const aim& at)
{
    crew& workers = at.on.workers();
    workers.process(at.worker).kill();
    return [&workers, index = at.worker] { workers.rehire(index); };
}

// Whatever it shows: it stays so.
heal skew_worker(const aim& at)
{
    constexpr std::int64_t ten_years = 315'576'000;
    const auto skew = std::uniform_int_distribution(-ten_years, ten_years)(at.random);
    at.on.workers().clock(at.worker).set_offset(std::chrono::seconds(skew));
    return {};
}

// A node that forgot is away for two seconds more, in quarantine. So what makes one forget lasts
// longer, and not too many nodes are away at a time.
constexpr fault menu[] = {
    {"pause node", harm::node, 24, 50ms, 1'500ms, pause_node},
    {"down", harm::node, 8, 100ms, 1'500ms, take_down, site::guarded},
    {"restart without data", harm::node, 12, 2'300ms, 3'000ms, restart_without_data, site::snapshot
    },
    {"restart from snapshot", harm::node, 12, 50ms, 2'000ms, restart_from_snapshot, site::snapshot},
    {"restart everysec", harm::node, 12, 2'300ms, 3'000ms, restart, site::everysec},
    {"restart truncated", harm::node, 12, 2'300ms, 3'000ms, restart_truncated, site::everysec},
    {"restart always", harm::node, 12, 0ms, 100ms, restart, site::always},
    {"all down", harm::all_nodes, 1, 0ms, 300ms, take_down},
    {"client pause", harm::node, 8, 700ms, 800ms, client_pause},
    {"script flush", harm::node, 12, 0ms, 0ms, script_flush},
    {"flush", harm::node, 8, 2'300ms, 3'000ms, flush, site::guarded},
    {"memory exhausted", harm::node, 12, 50ms, 1'500ms, exhaust_memory},
    {"replica of nobody", harm::node, 8, 50ms, 1'500ms, replica_of_nobody},
    {"replica of an empty server",
     harm::node,
     8,
     1'500ms,
     3'000ms,
     replica_of_empty,
     site::not_durable},
    {"replica of another node",
     harm::node,
     12,
     300ms,
     1'500ms,
     replica_of_another,
     site::not_durable},
    {"all replicas of one node",
     harm::all_nodes,
     2,
     300ms,
     800ms,
     replica_of_the_first,
     site::guarded},
    {"rights withdrawn", harm::node, 12, 50ms, 1'500ms, forbid},
    {"endless script", harm::node, 12, 50ms, 1'500ms, run_for_ever},
    {"clock step", harm::node, 12, 2'500ms, 4'000ms, step_clock, site::admitted},
    {"small clock step", harm::node, 4, 50ms, 1'500ms, step_clock_a_little},

    {"delay", harm::link, 24, 50ms, 3'000ms, delay},
    {"drop requests", harm::link, 12, 50ms, 1'500ms, drop_requests},
    {"drop replies", harm::link, 12, 50ms, 1'500ms, drop_replies},
    {"black hole", harm::link, 12, 50ms, 1'500ms, blackhole},
    {"hold requests", harm::link, 16, 50ms, 1'500ms, hold_requests},
    {"hold replies", harm::link, 16, 50ms, 1'500ms, hold_replies},
    {"stall in mid-frame", harm::link, 16, 50ms, 1'500ms, stall_in_mid_frame},
    {"reset in mid-frame", harm::link, 16, 0ms, 500ms, reset_in_mid_frame},
    {"reset", harm::link, 8, 0ms, 0ms, reset_link},
    {"replay", harm::link, 24, 0ms, 600ms, replay},
    {"refuse", harm::link, 8, 50ms, 1'500ms, refuse},

    {"pause worker", harm::worker, 16, 50ms, 2'000ms, pause_worker},
    {"kill worker", harm::worker, 8, 0ms, 500ms, kill_worker},
    {"skew worker", harm::worker, 12, 0ms, 0ms, skew_worker},
};

}  // namespace

void aim::command(const std::vector<std::string>& words) const
{
    const std::string reply = on.command(node, words);
    if (reply.starts_with("-"))
        throw std::runtime_error(words.front() + " was answered with " + reply);
}

std::span<const fault> all_faults()
{
    return menu;
}

}  // namespace redlock::test
