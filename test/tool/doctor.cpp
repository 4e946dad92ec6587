// `redlock doctor` on healthy nodes, and on twelve that are not.

#include "tool/tool.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "chaos/wall_clock.hpp"
#include "support/needs.hpp"
#include "support/needs_tls.hpp"
#include "support/redis_group.hpp"
#include "support/tls_files.hpp"

BOOST_AUTO_TEST_SUITE(
    test_tool_doctor,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

/// Examines nodes. @return What it says.
std::string examine(const std::string& nodes, int status, std::vector<std::string> options = {})
{
    options.insert(options.begin(), "doctor");
    tool doctor(std::move(options), {"REDLOCK_NODES=" + nodes});
    BOOST_TEST(doctor.ends_with(status));
    return doctor.output();
}

bool says(const std::string& text, const std::string& words)
{
    BOOST_TEST_INFO(text);
    return text.find(words) != std::string::npos;
}

/// What a server of an old version says to the commands of an inquiry, as far as it matters.
class old_server
{
public:
    explicit old_server(const loopback_port& at)
        : listens_(at.listen()), thread_([this] { serve(); })
    {
    }

    old_server(const old_server&) = delete;
    old_server& operator=(const old_server&) = delete;
    ~old_server() { thread_.join(); }

private:
    void serve() const
    {
        ::pollfd waiting{listens_.get(), POLLIN, 0};
        if (::poll(&waiting, 1, 20'000) != 1)
            return;
        const descriptor client(::accept(listens_.get(), nullptr, nullptr));
        std::string asked;
        char some[4096];
        // The last command of all.
        while (asked.find("SUBSCRIBE") == std::string::npos)
        {
            const ssize_t size = ::read(client.get(), some, sizeof some);
            if (size <= 0)
                return;
            asked.append(some, static_cast<std::size_t>(size));
        }
        const std::string info =
            "redis_version:5.0.14\r\nrun_id:0123\r\nrole:master\r\nmaxmemory:0\r\n";
        std::string said = "+PONG\r\n+PONG\r\n";
        for (int section = 0; section < 5; ++section)
            said += "$" + std::to_string(info.size()) + "\r\n" + info + "\r\n";
        said += "*2\r\n$1\r\n1\r\n$1\r\n0\r\n$-1\r\n:-2\r\n";
        for (int command = 0; command < 20; ++command)
            said += ":0\r\n";
        BOOST_TEST(
            ::write(client.get(), said.data(), said.size()) == static_cast<ssize_t>(said.size())
        );
        while (::read(client.get(), some, sizeof some) > 0)
        {
        }
    }

    descriptor listens_;
    std::thread thread_;
};

/// A node of a set of three that is not as it should be. The others are.
struct patient_node : tool_nodes
{
    /// What is said of the third one.
    std::string examine_third(const std::string& url)
    {
        return examine(nodes.urls()[0] + "," + nodes.urls()[1] + "," + url, 1);
    }

    std::string examine_third() { return examine_third(nodes.urls()[2]); }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(healthy_nodes_are_called_so_and_are_left_as_they_were, tool_nodes)
{
    const std::string keys = nodes[0].command({"KEYS", "*"});
    const std::string told = examine(list_of(nodes), 0);
    BOOST_TEST(says(told, "3 of 3 nodes can vote, and 2 are needed: all is well."));
    BOOST_TEST(says(told, "\thealthy\t"));
    const std::string json = examine(list_of(nodes), 0, {"--json"});
    BOOST_TEST(says(json, "{\"healthy\":true,"));
    BOOST_TEST(nodes[0].command({"KEYS", "*"}) == keys);
}

BOOST_AUTO_TEST_CASE(fresh_nodes_are_told_apart)
{
    const redis_servers fresh(1);
    const std::string told = examine(list_of(fresh), 1);
    BOOST_TEST(says(told, "it is not admitted. If all nodes are new, run redlock init"));
}

BOOST_FIXTURE_TEST_CASE(a_wrong_password, patient_node)
{
    const redis_server secured({.extra = {"--requirepass", "secret"}});
    const auto url = [&](const std::string& password) {
        return "redis://:" + password + "@127.0.0.1:" + std::to_string(secured.port());
    };
    BOOST_TEST(says(examine_third(url("wrong")), "it refuses the login: WRONGPASS"));
    const std::string told = examine_third(secured.url());
    BOOST_TEST(says(told, "NOAUTH"));
    BOOST_TEST(!says(examine_third(url("wrong")), "wrong"));
}

BOOST_FIXTURE_TEST_CASE(a_missing_permission_by_name, patient_node)
{
    nodes[2].command(
        {"ACL",
         "SETUSER",
         "locks",
         "on",
         ">p",
         "~*",
         "&*",
         "+@all",
         "-pexpire",
         "-zpopmin",
         "-subscribe"}
    );
    const std::string url = "redis://locks:p@127.0.0.1:" + std::to_string(nodes[2].port());
    const std::string told = examine_third(url);
    BOOST_TEST(says(told, "Add to the user: +pexpire."));
    BOOST_TEST(says(told, "waiters have to poll"));
    BOOST_TEST(says(told, "+zpopmin +subscribe"));
    nodes[2].command({"ACL", "SETUSER", "locks", "+pexpire"});
    BOOST_TEST(says(examine_third(url), "3 of 3 nodes can vote"));
}

BOOST_FIXTURE_TEST_CASE(keys_that_the_user_may_not_use, patient_node)
{
    nodes[2].command({"ACL", "SETUSER", "locks", "on", ">p", "~locks:*", "&redlock:*", "+@all"});
    const std::string url = "redis://locks:p@127.0.0.1:" + std::to_string(nodes[2].port());
    BOOST_TEST(says(examine_third(url), "Add ~redlock:* and +get to the user"));
}

BOOST_FIXTURE_TEST_CASE(a_database_that_the_user_may_not_select, patient_node)
{
    nodes[2].command({"ACL", "SETUSER", "locks", "on", ">p", "~*", "&*", "+@all", "-select"});
    const std::string url = "redis://locks:p@127.0.0.1:" + std::to_string(nodes[2].port()) + "/1";
    BOOST_TEST(says(examine_third(url), "Add +select to the user"));
}

BOOST_FIXTURE_TEST_CASE(a_server_that_does_not_show_itself, patient_node)
{
    const redis_server mute({.extra = {"--rename-command", "INFO", "SECRET"}});
    BOOST_TEST(says(examine_third(mute.url()), "INFO fails, so clients refuse the node"));
    nodes[2].command({"ACL", "SETUSER", "locks", "on", ">p", "~*", "&*", "+@all", "-info"});
    const std::string url = "redis://locks:p@127.0.0.1:" + std::to_string(nodes[2].port());
    BOOST_TEST(
        says(examine_third(url), "Add +info to the user. Its role, memory and disk weren't checked")
    );
}

BOOST_FIXTURE_TEST_CASE(a_full_memory, patient_node)
{
    nodes[2].command({"CONFIG", "SET", "maxmemory", "1"});
    BOOST_TEST(says(examine_third(), "SET fails: OOM"));
}

BOOST_FIXTURE_TEST_CASE(a_replica, patient_node)
{
    nodes[2].command({"REPLICAOF", "127.0.0.1", std::to_string(nodes[0].port())});
    BOOST_TEST(
        says(examine_third(), "it is a replica of 127.0.0.1:" + std::to_string(nodes[0].port()))
    );
}

BOOST_FIXTURE_TEST_CASE(eviction, patient_node)
{
    nodes[2].command({"CONFIG", "SET", "maxmemory", "100mb"});
    nodes[2].command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    BOOST_TEST(says(examine_third(), "maxmemory-policy is allkeys-lru. Set it to noeviction"));
}

BOOST_FIXTURE_TEST_CASE(other_settings, patient_node)
{
    const std::string told = examine(list_of(nodes), 1, {"--ttl-max", "1min"});
    BOOST_TEST(says(
        told,
        "it is marked for other settings: its marker has ttl_max=30000, but this client "
        "has ttl_max=60000. Give"
    ));
    BOOST_TEST(says(told, "nothing can be locked"));
}

BOOST_FIXTURE_TEST_CASE(a_quarantine, patient_node)
{
    nodes[2].command({"SET", "redlock:quarantine", "1", "PX", "20000"});
    BOOST_TEST(says(examine_third(), "it is in quarantine for another "));
    nodes[2].command({"SET", "redlock:quarantine", "1"});
    BOOST_TEST(says(examine_third(), "its quarantine has no end. Delete the key redlock:quarantine")
    );
}

BOOST_FIXTURE_TEST_CASE(a_dead_node, patient_node)
{
    nodes[2].kill();
    const std::string told = examine_third();
    BOOST_TEST(says(told, "it cannot be reached: Connection refused. Is the server running"));
    BOOST_TEST(
        says(told, "2 of 3 nodes can vote, and 2 are needed: locking works, with none to spare.")
    );
}

BOOST_FIXTURE_TEST_CASE(a_frozen_node, patient_node)
{
    nodes[2].pause();
    BOOST_TEST(says(examine_third(), "it cannot be reached: it doesn't answer"));
}

BOOST_FIXTURE_TEST_CASE(a_cluster, patient_node)
{
    const redis_server member({.extra = {"--cluster-enabled", "yes"}});
    BOOST_TEST(says(examine_third(member.url()), "it belongs to a cluster"));
}

BOOST_FIXTURE_TEST_CASE(the_port_of_a_sentinel, patient_node)
{
    const temp_folder place;
    const auto file = place.path() / "sentinel.conf";
    const loopback_port port;
    write_file(
        file,
        "port " + std::to_string(port.number()) + "\nbind 127.0.0.1\ndir " + place.path().string() +
            "\n"
    );
    child_process sentinel(
        {"/usr/bin/env", {"env", "redis-server", file, "--sentinel"}, {}, place.path() / "log"}
    );
    const std::string url = "redis://127.0.0.1:" + std::to_string(port.number());
    BOOST_TEST(eventually([&] {
        return says(examine_third(url), "this is a Sentinel, which holds no data");
    }));
}

BOOST_FIXTURE_TEST_CASE(
    tls_to_a_plain_port_and_the_other_way_round,
    patient_node,
    *boost::unit_test::precondition(needs_tls)
)
{
    const tls_files files;
    const redis_server secure({
        .extra = {"--tls-auth-clients", "no"},
        .tls = redis_tls{files.server().certificate, files.server().key, files.authority()},
    });
    const std::string plain = "redis://127.0.0.1:" + std::to_string(secure.port());
    BOOST_TEST(says(examine_third(plain), "use rediss:// in its URL"));
    const std::string tls = "rediss://127.0.0.1:" + std::to_string(nodes[2].port());
    BOOST_TEST(says(examine_third(tls), "use redis:// in its URL"));
    const std::string unknown = "rediss://127.0.0.1:" + std::to_string(secure.port());
    BOOST_TEST(says(examine_third(unknown), "certificate"));
}

BOOST_FIXTURE_TEST_CASE(a_clock_that_is_off, patient_node)
{
    wall_clock clock;
    clock.set_offset(3s);
    const redis_server ahead({.environment = clock.environment()});
    const std::string told = examine_third(ahead.url());
    BOOST_TEST(
        (says(told, "its clock is 3 s ahead of the others") ||
         says(told, "its clock is 2.9 s ahead of the others"))
    );
    BOOST_TEST(says(told, "Set its clock and run a time service"));
}

BOOST_FIXTURE_TEST_CASE(an_old_version, patient_node)
{
    const loopback_port port;
    const old_server old(port);
    const std::string told = examine_third("redis://127.0.0.1:" + std::to_string(port.number()));
    BOOST_TEST(says(told, "version 5.0.14 is too old. Use Redis 6.2 or later, or Valkey"));
}

BOOST_FIXTURE_TEST_CASE(one_server_under_two_names, patient_node)
{
    const std::string again = "redis://localhost:" + std::to_string(nodes[0].port());
    BOOST_TEST(says(
        examine_third(again),
        "it is the same server as 127.0.0.1:" + std::to_string(nodes[0].port())
    ));
}

BOOST_AUTO_TEST_CASE(nodes_with_the_settings_of_the_packages_are_healthy)
{
    const std::filesystem::path settings = REDLOCK_NODE_SETTINGS;
    // The unit and the compose file start the same line, at other places.
    for (const char* each : {"redlock-node@.service", "compose.yaml"})
    {
        const std::string text = read_file(settings / each);
        BOOST_TEST(says(text, "redis-server /etc/redlock/redis.conf"), each);
        BOOST_TEST(says(text, "--aclfile "), each);
    }
    const temp_folder place;
    std::vector<std::unique_ptr<child_process>> servers;
    std::vector<std::string> urls;
    std::deque<loopback_port> ports;
    for (int i = 0; i < 3; ++i)
    {
        const std::string port = std::to_string(ports.emplace_back().number());
        const auto folder = place.path() / port;
        std::filesystem::create_directory(folder);
        std::string users = read_file(settings / "users.acl");
        users.replace(users.rfind(">PASSWORD"), 9, ">secret");
        write_file(folder / "users.acl", users);
        servers.push_back(std::make_unique<child_process>(child_options{
            .program = "/usr/bin/env",
            .arguments =
                {"env",
                 "redis-server",
                 settings / "redis.conf",
                 "--port",
                 port,
                 "--bind",
                 "127.0.0.1",
                 "--dir",
                 folder,
                 "--aclfile",
                 folder / "users.acl"},
            .output = folder / "log",
        }));
        urls.push_back("redis://locks:secret@127.0.0.1:" + port);
    }
    const std::string nodes = urls[0] + "," + urls[1] + "," + urls[2];
    BOOST_TEST(eventually([&] {
        tool init({"init"}, {"REDLOCK_NODES=" + nodes});
        return init.exit_status() == 0;
    }));
    const std::string told = examine(nodes, 0);
    BOOST_TEST(says(told, "3 of 3 nodes can vote"));
    BOOST_TEST(says(told, "appendonly"));
    tool works({"run", "orders:42", "--", "true"}, {"REDLOCK_NODES=" + nodes});
    BOOST_TEST(works.ends_with(0));
}

BOOST_AUTO_TEST_CASE(a_group_behind_sentinels_is_looked_at_as_one_node)
{
    redis_group group;
    const auto examined = [&group](int status, const std::string& rest = "") {
        return examine(group.url() + rest, status, {"--ttl-max", "1s"});
    };
    const std::string fresh = examined(1);
    BOOST_TEST(says(fresh, "it is not admitted. The first client admits it after a quarantine of"));
    BOOST_TEST(!says(fresh, "Never promote"));

    tool first(
        {"run", "--ttl", "1s", "--ttl-max", "1s", "--wait", "60s", "a", "--", "true"},
        {"REDLOCK_NODES=" + group.url()}
    );
    BOOST_TEST(first.ends_with(0));
    BOOST_TEST(says(examined(0), "locking works but stops with this node"));

    redis_server& master = group.member(group.master());
    master.command({"CONFIG", "SET", "min-replicas-to-write", "0"});
    BOOST_TEST(says(examined(1), "set min-replicas-to-write 1 on every server of the group"));
    master.command({"CONFIG", "SET", "min-replicas-to-write", "2"});
    BOOST_TEST(says(examined(1), "it waits for 2 replicas but has 1"));

    BOOST_TEST(says(examined(1, "?overlap=15s"), "it is marked for other settings"));
    BOOST_TEST(says(examined(1, "-or-not"), "no Sentinel knows a master named 'mymaster-or-not'"));
}

BOOST_AUTO_TEST_SUITE_END()
