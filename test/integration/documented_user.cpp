#include "integration/documented_user.hpp"

#include <redlock/client.hpp>
#include <redlock/diagnostics.hpp>

#include <boost/test/unit_test.hpp>

#include <optional>
#include <utility>

#include "support/printing.hpp"

namespace redlock::test::documented_user {

using namespace std::chrono_literals;

const std::vector<std::string> least_privilege{
    "on",
    "resetkeys",
    "~locks:*",
    "resetchannels",
    "-@all",
    "+set",
    "+get",
    "+pttl",
    "+pexpire",
    "+del",
    "+eval",
    "+evalsha",
    "+script|load",
    "+info",
    "+role",
    "+mget",
};

const std::vector<std::string> least_privilege_of_queues{
    "&redlock:*",
    "+subscribe",
    "+publish",
    "+client|tracking",
    "+client|caching",
    "+zadd",
    "+zrem",
    "+zrank",
    "+zrange",
    "+zpopmin",
    "+exists"
};

void set_user(redis_server& server, const std::vector<std::string>& rules)
{
    std::vector<std::string> command{"ACL", "SETUSER", "locks", "reset"};
    command.push_back(std::string(">") + password);
    command.insert(command.end(), rules.begin(), rules.end());
    BOOST_TEST_REQUIRE(server.command(command) == "OK");
}

client_config as_user(const redis_server& server)
{
    client_config config = config_for({server.url()});
    config.key_prefix = prefix;
    config.nodes[0].username = "locks";
    config.nodes[0].password = password;
    return config;
}

client_config as_guarded_user(const redis_server& server)
{
    client_config config = as_user(server);
    config.mode = mode::guarded;
    config.ttl_max = 1h;
    return config;
}

std::vector<std::string> joined(std::vector<std::string> one, const std::vector<std::string>& other)
{
    one.insert(one.end(), other.begin(), other.end());
    return one;
}

std::vector<std::string> least_privilege_of_guarded()
{
    auto rules = joined(least_privilege, {"~redlock:*", "+time"});
    std::erase(rules, "+role");
    return rules;
}

bool passes_on(loop& context, client_runner& first, client_runner& second)
{
    lease held = run(context, first->async_acquire(resource, {.ttl = 10s, .wait = 5s}));
    std::optional<error_code> outcome;
    second->async_acquire(
        resource,
        {.ttl = 10s, .wait = 5s},
        [&outcome](error_code ec, const lease&) { outcome = ec; }
    );
    const bool waits = run_until(context, [&] { return second->metrics().rounds > 0; });
    run(context, held.async_release());
    return waits && run_until(context, [&] { return outcome.has_value(); }) &&
           outcome == error_code();
}

bool all_works(redis_server& server, const client_config& config, std::string& why)
{
    loop context;
    client_runner locks(context, config);
    if (!run_until(context, [&] { return locks.status(0).state != node_state::connecting; }))
        return false;
    why = locks.status(0).because;
    if (locks.status(0).state != node_state::ready)
        return false;

    diagnostics report;
    auto [ec, held] = outcome_of(
        context, locks->async_acquire(resource, {.ttl = 1100ms, .wait = 0ms, .report = &report})
    );
    why = to_string(report);
    if (ec)
        return false;
    diagnostics denial;
    if (run(context, locks->async_try_acquire(resource, {.ttl = 10s, .report = &denial})))
        return false;
    why = to_string(denial);
    if (!denial.votes[0].held_for)
        return false;
    const auto [extended] = outcome_of(context, held.async_extend(60s));
    why = "extend: " + extended.message();
    if (extended)
        return false;
    server.command({"SCRIPT", "FLUSH"});
    const auto [extended_again] = outcome_of(context, held.async_extend(600s));
    why = "extend after SCRIPT FLUSH: " + extended_again.message();
    if (extended_again)
        return false;
    std::vector<lease> more;
    for (const char* const each : {"one", "another"})
        more.push_back(run(context, locks->async_acquire(each, {.ttl = 10s})));
    std::size_t released = 0;
    for (lease& each : more)
    {
        each.async_release([&released](error_code, release_outcome got) {
            released += got == release_outcome::released;
        });
    }
    why = "two releases in a turn";
    if (!run_until(context, [&] { return released == 2; }))
        return false;
    const auto outcome = run(context, held.async_release());
    why = std::string("release: ") + to_string(outcome);
    return outcome == release_outcome::released;
}

}  // namespace redlock::test::documented_user
