#include "integration/script_mutants.hpp"

#include <cstddef>
#include <stdexcept>

namespace redlock::test::guarded {

namespace {

constexpr const char* not_ours = "marker ~= expected and marker ~= expected .. ' durable'";

const std::vector<mutant> all{
    {"no NX", &scripts::acquire, "'NX', 'PX', ttl", "'PX', ttl"},
    {"no fence check", &scripts::acquire, "(not fence or stamp > fence + 0)", "true"},
    {"same token accepted", &scripts::acquire, "stamp > fence + 0", "stamp >= fence + 0"},
    {"fence not recorded", &scripts::acquire, "redis.call('SET', fence_key, token", "tostring(token"
    },
    {"fence without a ttl", &scripts::acquire, "token, 'PX', fence_ttl", "token"},
    {"lock without a ttl", &scripts::acquire, "'NX', 'PX', ttl", "'NX'"},
    {"fence raised by a denial",
     &scripts::acquire,
     "local left = holder(key)",
     "redis.call('SET', fence_key, token) local left = holder(key)"},
    {"no answer to a duplicate", &scripts::acquire, "[1], id)", "[1], 0)"},
    {"acquire: no lower guard", &scripts::acquire, " and now - stamp <= window", ""},
    {"acquire: no upper guard", &scripts::acquire, "stamp - now <= window and ", ""},
    {"acquire: no marker",
     &scripts::acquire,
     "marker ~= expected and",
     "marker and marker ~= expected and"},
    {"acquire: any marker", &scripts::acquire, not_ours, "not marker"},
    {"acquire: any run id",
     &scripts::acquire,
     not_ours,
     "not marker or string.sub(marker, 1, #marker_begin) ~= marker_begin"},
    {"acquire: any marker that begins so",
     &scripts::acquire,
     not_ours,
     "not marker or string.sub(marker, 1, #expected) ~= expected"},
    {"acquire: durable is not ours", &scripts::acquire, " and marker ~= expected .. ' durable'", ""
    },
    {"acquire: any replication id", &scripts::acquire, "fails_over and", "false and"},
    {"acquire: no quarantine", &scripts::acquire, "quarantine ~= -2", "false"},
    {"acquire: refusal ignored", &scripts::acquire, "if refusal then", "if false then"},
    {"extend: no owner", &scripts::extend, "== id", "~= 0"},
    {"extend: no stamp", &scripts::extend, "if not in_window(stamp) then", "if false then"},
    {"extend: no lower guard", &scripts::extend, " and now - stamp <= window", ""},
    {"extend: no upper guard", &scripts::extend, "stamp - now <= window and ", ""},
    {"extend: shortens",
     &scripts::extend,
     "if redis.call('PTTL', key) < ttl + 0 then",
     "if true then"},
    {"extend: does nothing", &scripts::extend, "redis.call('PEXPIRE', key, ttl)", ""},
    {"extend: fence not kept",
     &scripts::extend,
     "redis.call('PEXPIRE', fence_key, fence_ttl)",
     "redis.call('EXISTS', fence_key)"},
    {"extend: fence not made",
     &scripts::extend,
     "== 0 then\n        redis.call('SET'",
     "== 2 then\n        redis.call('SET'"},
    {"extend: no marker",
     &scripts::extend,
     "marker ~= expected and",
     "marker and marker ~= expected and"},
    {"extend: any marker", &scripts::extend, not_ours, "not marker"},
    {"extend: any run id",
     &scripts::extend,
     not_ours,
     "not marker or string.sub(marker, 1, #marker_begin) ~= marker_begin"},
    {"extend: any marker that begins so",
     &scripts::extend,
     not_ours,
     "not marker or string.sub(marker, 1, #expected) ~= expected"},
    {"extend: durable is not ours", &scripts::extend, " and marker ~= expected .. ' durable'", ""},
    {"extend: any replication id", &scripts::extend, "fails_over and", "false and"},
    {"extend: no quarantine", &scripts::extend, "quarantine ~= -2", "false"},
    {"release: no owner", &scripts::release, "== id", "~= 0"},
    {"release: no tombstone", &scripts::release, "<= window then", "== 0 then"},
    {"release: tombstone from the future", &scripts::release, "<= window then", "> 0 then"},
    {"release: tombstone without a ttl", &scripts::release, "token, 'PX', fence_ttl", "token"},
    {"release: fence lowered", &scripts::release, "fence + 0 >= token + 0", "false"},
    {"release: asks for the quarantine",
     &scripts::release,
     "if ours(redis.call('GET', key), id) then",
     "if redis.call('EXISTS', quarantine_key) == 1 then return 0 end\n"
     "if ours(redis.call('GET', key), id) then"},
    {"admit: no fingerprint", &scripts::admit, "marker and not is_marked(found)", "false"},
    {"admit: any node is marked", &scripts::admit, "not marker and ARGV[6] ~= '1'", "false"},
    {"admit: a marked node waits too", &scripts::admit, "not marker and ARGV[6]", "ARGV[6]"},
    {"admit: no quarantine", &scripts::admit, "redis.call('SET', KEYS[2], '1', 'PX', ARGV[3])", ""},
    {"admit: a quarantine without an end", &scripts::admit, ", 'PX', ARGV[3]", ""},
    {"admit: run id ignored", &scripts::admit, "is_marked(found .. ARGV[2])", "true"},
    {"admit: no life is the same", &scripts::admit, "same_life or kept_all", "kept_all"},
    {"admit: durable now is enough",
     &scripts::admit,
     " and string.sub(marker, -8) == ' durable'",
     ""},
    {"admit: durable once is enough", &scripts::admit, "marker and durable and", "marker and"},
    {"admit: any other run id is a restart", &scripts::admit, "ARGV[5] ~= '1'", "true"},
    {"admit: durable is no reason", &scripts::admit, "same_life or kept_all", "same_life"},
    {"admit: durable not noted", &scripts::admit, "(durable and ' durable' or '')", "''"},
    {"admit: marker not written", &scripts::admit, "redis.call('SET', KEYS[1], wanted)", ""},
    {"admit: the smaller is raised by all",
     &scripts::admit,
     "ARGV[8] == '1' and ARGV[1] or found",
     "ARGV[1]"},
    {"admit: the smaller is raised by nobody",
     &scripts::admit,
     "ARGV[8] == '1' and ARGV[1] or found",
     "found"},
    {"admit: the smaller is not told",
     &scripts::admit,
     "fingerprint == ARGV[1] and left or {left, 'smaller'}",
     "left"},
    {"admit: raising starts a quarantine",
     &scripts::admit,
     "is_marked(found .. ARGV[2])",
     "is_marked(ARGV[1] .. ARGV[2])"},
    {"admit: quarantine not told", &scripts::admit, "left == -2 and 0 or left", "0"},
    {"admit: quarantine not cut", &scripts::admit, "if left > tonumber(ARGV[3])", "if false"},
    {"admit: cut quarantine not told", &scripts::admit, "    left = tonumber(ARGV[3])", ""},
    {"admit: any quarantine is set", &scripts::admit, "if left > tonumber(ARGV[3])", "if left > 0"},
    {"acquire: quarantine not cut",
     &scripts::acquire,
     "if quarantine > longest_quarantine",
     "if false"},
    {"acquire: any quarantine is set",
     &scripts::acquire,
     "if quarantine > longest_quarantine",
     "if quarantine > 0"},
    {"acquire: cut quarantine not told",
     &scripts::acquire,
     "        quarantine = longest_quarantine",
     ""},
    {"extend: quarantine not cut",
     &scripts::extend,
     "if quarantine > longest_quarantine",
     "if false"},
    {"initialize: overwrites", &scripts::initialize, "if marker then", "if false then"},
    {"initialize: marks when it looks", &scripts::initialize, "if ARGV[3] == 'look'", "if false"},
    {"initialize: leaves no note",
     &scripts::initialize,
     "redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5])",
     ""},
    {"initialize: a note for ever", &scripts::initialize, ", 'PX', ARGV[5]", ""},
    {"initialize: asks for no note",
     &scripts::initialize,
     "if redis.call('GET', KEYS[2]) ~= ARGV[4]",
     "if false"},
    {"initialize: any note will do", &scripts::initialize, "~= ARGV[4]", "== false"},
    {"initialize: the note stays", &scripts::initialize, "redis.call('DEL', KEYS[2])", ""},
    {"initialize: does not mark",
     &scripts::initialize,
     "redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2])",
     ""},
};

}  // namespace

const std::vector<mutant>& mutants()
{
    return all;
}

scripts changed(const mutant& by)
{
    scripts result = real_scripts();
    std::string& text = result.*by.script;
    const std::size_t at = text.find(by.from);
    if (at == std::string::npos)
        throw std::logic_error(std::string("nothing to change for ") + by.name);
    text.replace(at, by.from.size(), by.to);
    return result;
}

}  // namespace redlock::test::guarded
