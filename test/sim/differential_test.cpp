// The simulated server against a real one: the same commands at the same times, the same replies.

#include "node/verbs.hpp"
#include "scripts.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "chaos/wall_clock.hpp"
#include "sim/dice.hpp"
#include "sim/server.hpp"
#include "support/needs.hpp"
#include "support/redis_server.hpp"

BOOST_AUTO_TEST_SUITE(test_differential)

namespace {

using namespace redlock;
using namespace redlock::sim;
using namespace std::chrono_literals;
using detail::verb;
using std::chrono::microseconds;

/// A reply of the simulated server as `resp_client` shows that of a real one.
std::string show(const answer& from)
{
    using enum answer::kind;
    switch (from.what)
    {
    case status:
    case bulk:
    case real:
    case verbatim: return from.text;
    case error: return "-" + from.text;
    case integer: return "(integer) " + std::to_string(from.number);
    case null: return "(nil)";
    case array:
    case pushed:
    case map: break;
    }
    if (from.elements.empty())
        return "(empty array)";
    std::string lines;
    for (const answer& each : from.elements)
        lines += show(each) + "\n";
    lines.pop_back();
    return lines;
}

/// Draws what clients of the library send, and what might confuse a server.
class command_source
{
public:
    explicit command_source(std::uint64_t seed) : dice_(seed)
    {
        client_config config;
        config.nodes.resize(3);
        guard_ = *detail::make_guard(config);
        scripts_ = detail::make_scripts(&guard_);
    }

    /// @param now The wall clock.
    arguments draw(microseconds now)
    {
        switch (dice_.below(22))
        {
        case 0: return {"GET", key()};
        case 1: return {"PTTL", any_key()};
        case 2: return {"DEL", any_key()};
        case 3: return {"MGET", any_key(), key()};
        case 4: return {"EXISTS", any_key(), key()};
        case 5: return {"PEXPIRE", any_key(), number()};
        case 6: return draw_set();
        case 7: return dice_.below(4) ? draw_set() : arguments{"RPUSH", key(), "x"};
        case 8: return draw_odd();
        case 9: return draw_admit();
        case 10: return draw_initialize();
        case 11: return draw_plain();
        case 12:
        case 13: return draw_zadd();
        case 14: return draw_set_read();
        case 15: return draw_set_removal();
        case 16: return draw_by_script();
        case 17: return draw_leave();
        default: return draw_guarded(now);
        }
    }

    dice& chance() noexcept { return dice_; }

private:
    std::string key() { return dice_.below(2) ? "a" : "b"; }

    /// How the marker ends of a server that was admitted, or might have been.
    std::string marker_end() { return guard_.end_of(guard_.fingerprint + "run " + id()); }

    std::string any_key()
    {
        const std::array keys{
            key(),
            std::string("redlock:fence:a"),
            guard_.marker_key,
            guard_.quarantine_key,
            guard_.seal_key,
            std::string("none"),
            std::string("redlock:reserved:a"),
            set_key()
        };
        return keys[dice_.below(keys.size())];
    }

    std::string set_key()
    {
        const std::array keys{std::string("z"), std::string("redlock:queue:a"), key()};
        return keys[dice_.below(4) ? dice_.below(2) : 2];
    }

    /// Short ones too: they are answered by the second half of a script alone.
    std::string id()
    {
        const std::size_t digits = dice_.below(2) ? 40 : 2;
        return std::string(digits, dice_.below(2) ? '1' : '2');
    }

    /// Never near to the end of a key: see `compare_sequence`.
    std::string ttl() { return std::to_string(100 * dice_.below(40) + 150); }

    std::string number()
    {
        const std::array numbers{
            ttl(),
            ttl(),
            ttl(),
            std::string("0"),
            std::string("-5"),
            std::string("x"),
            std::string("1.5"),
            std::string(" 7"),
            std::string("9223372036854775807"),
            std::string("")
        };
        return numbers[dice_.below(numbers.size())];
    }

    arguments draw_set()
    {
        arguments made{"SET", any_key(), id()};
        if (dice_.below(2))
            made.emplace_back(dice_.below(4) ? "NX" : "XX");
        if (dice_.below(4) == 0)
            made.emplace_back("keepttl");
        if (dice_.below(2))
        {
            made.emplace_back("px");
            made.push_back(number());
        }
        return made;
    }

    std::string member()
    {
        const std::array names{"1f", "2f", "3f", "4f", ""};
        return names[dice_.below(names.size())];
    }

    std::string score()
    {
        const std::array scores{
            "1",
            "2",
            "2.0",
            "-7",
            "0.1",
            "1e3",
            "1e300",
            "inf",
            "-inf",
            "nan",
            "x",
            "",
            "1732442000123456",
            "9007199254740991",
            " 3",
            "0x10",
        };
        return scores[dice_.below(scores.size())];
    }

    arguments draw_zadd()
    {
        arguments made{"ZADD", set_key()};
        if (dice_.below(3) == 0)
            made.emplace_back(std::array{"nx", "XX", "LT"}[dice_.below(3)]);
        if (dice_.below(20) == 0)
            made.emplace_back("XX");
        for (std::size_t left = 1 + dice_.below(3); left > 0; --left)
        {
            made.push_back(dice_.below(2) ? score() : std::to_string(dice_.below(4)));
            made.push_back(member());
        }
        if (dice_.below(20) == 0)
            made.emplace_back("1");
        return made;
    }

    arguments draw_set_read()
    {
        switch (dice_.below(4))
        {
        case 0: return {"ZRANK", set_key(), member()};
        case 1: return {"ZCARD", set_key()};
        case 2: return {"ZSCORE", set_key(), member()};
        default: break;
        }
        const auto bound = [this]() {
            return dice_.below(8) ? std::to_string(dice_.between(std::int64_t{-4}, 4)) : number();
        };
        arguments made{"ZRANGE", set_key(), bound(), bound()};
        if (dice_.below(2))
            made.emplace_back(dice_.below(10) ? "withscores" : "x");
        return made;
    }

    arguments draw_set_removal()
    {
        if (dice_.below(2))
            return {"ZREM", set_key(), member(), member()};
        arguments made{"ZPOPMIN", set_key()};
        if (dice_.below(2))
            made.push_back(dice_.below(2) ? std::to_string(dice_.below(3)) : number());
        if (dice_.below(20) == 0)
            made.emplace_back("1");
        return made;
    }

    /// Any command that a script may run, as a script.
    arguments draw_by_script()
    {
        arguments called;
        switch (dice_.below(5))
        {
        case 0: called = draw_set_read(); break;
        case 1: called = draw_set_removal(); break;
        case 2: called = {"PUBLISH", "nobody", "hears"}; break;
        default: called = draw_zadd(); break;
        }
        arguments made{
            "EVAL",
            dice_.below(2) ? "return redis.pcall(unpack(ARGV))"
                           : "return type(redis.pcall(unpack(ARGV)))",
            "0",
        };
        made.insert(made.end(), called.begin(), called.end());
        return made;
    }

    std::string client() { return dice_.below(2) ? "1f" : "2f"; }

    /// A place in a queue, or none.
    std::string place(microseconds now)
    {
        switch (dice_.below(8))
        {
        case 0: return "";
        case 1: return client();
        case 2: return "-";
        case 3: return "x";
        default: return client() + ":" + stamp(now);
        }
    }

    arguments draw_leave()
    {
        return {"EVAL", script_of(scripts_, verb::leave).text, "1", key(), client()};
    }

    arguments draw_odd()
    {
        const std::array<arguments, 10> odd{{
            {"PUBLISH", "nobody", "hears"},
            {"GET"},
            {"SET", "a"},
            {"NONSENSE", "x", "y"},
            {"EVALSHA", "abc", "1", "a"},
            {"SCRIPT", "LOAD", detail::release_script.text},
            {"SCRIPT", "FLUSH"},
            {"SET", "a", "b", "NX", "XX"},
            {"EVAL", "return 1", "2", "a"},
            {"EVAL", "return redis.call('GET')", "0"},
        }};
        return odd[dice_.below(odd.size())];
    }

    arguments draw_admit()
    {
        const std::string fingerprint = dice_.below(8) ? guard_.fingerprint : "other;";
        return {
            "EVAL",
            detail::admit_script.text,
            "2",
            guard_.marker_key,
            guard_.quarantine_key,
            fingerprint,
            "run " + id(),
            "2050",
            dice_.below(2) ? "1" : "0",
            dice_.below(2) ? "1" : "0",
            dice_.below(4) ? "1" : "0"
        };
    }

    arguments draw_initialize()
    {
        return {
            "EVAL",
            detail::initialize_script.text,
            "2",
            guard_.marker_key,
            guard_.seal_key,
            guard_.fingerprint,
            "run " + id(),
            dice_.below(2) ? "look" : "mark",
            id(),
            "10050"
        };
    }

    arguments draw_plain()
    {
        arguments keys{key()};
        if (dice_.below(2))
            keys.emplace_back("b");
        const bool extends = dice_.below(2);
        arguments made{
            "EVAL",
            extends ? detail::extend_script.text : detail::release_script.text,
            std::to_string(keys.size())
        };
        made.insert(made.end(), keys.begin(), keys.end());
        const bool alike = extends && (keys.size() == 1 || dice_.below(2));
        if (alike)
            made.push_back(dice_.below(8) ? ttl() : number());
        for (std::size_t i = 0; i < keys.size(); ++i)
        {
            made.push_back(id());
            if (extends && !alike)
                made.push_back(dice_.below(8) ? ttl() : number());
        }
        return made;
    }

    /// A stamp that is clearly within the window or clearly not.
    std::string stamp(microseconds now)
    {
        const auto off = 100ms * dice_.between(std::int64_t{-8}, std::int64_t{8}) + 50ms;
        return last_stamp_ = std::to_string((now + off).count());
    }

    std::string note() { return dice_.below(2) ? "" : "a note"; }

    /// What an acquisition sets.
    std::string value(microseconds now)
    {
        std::string made = id();
        made += ' ' + stamp(now);
        made += ' ' + client();
        made += " 0 " + last_stamp_;
        return made + ' ' + note();
    }

    arguments draw_inspection(microseconds now)
    {
        const bool guarded = dice_.below(4) != 0;
        const std::string script =
            guarded ? script_of(scripts_, verb::inspect).text : detail::inspect_script.text;
        arguments made{"EVAL", script, "2", key(), "b"};
        if (guarded)
            made.insert(made.end(), {marker_end(), stamp(now), stamp(now)});
        return made;
    }

    /// Of the token that was drawn last, or of another one.
    arguments draw_revocation(microseconds now)
    {
        const std::string token = dice_.below(4) ? last_stamp_ : stamp(now);
        return {
            "EVAL",
            script_of(scripts_, verb::revoke).text,
            "1",
            key(),
            marker_end(),
            stamp(now),
            token
        };
    }

    /// By the server's clock some of the time has passed, or all of it.
    arguments draw_keeping(microseconds now)
    {
        const auto at_least = 100ms * dice_.between(std::int64_t{0}, std::int64_t{30});
        const std::string token = dice_.below(4) ? last_stamp_ : stamp(now);
        return {
            "EVAL",
            script_of(scripts_, verb::keep).text,
            "1",
            key(),
            marker_end(),
            place(now),
            std::to_string(at_least.count()),
            id(),
            stamp(now),
            token
        };
    }

    /// Of the token that was drawn last.
    arguments draw_restoring(microseconds now)
    {
        const std::string last = last_stamp_;
        const std::string text = script_of(scripts_, verb::restore).text;
        return {"EVAL", text, "1", key(), client(), stamp(now), note(), id(), last};
    }

    arguments draw_guarded(microseconds now)
    {
        const std::size_t which = dice_.below(10);
        if (which == 5)
            return draw_inspection(now);
        if (which == 6)
            return draw_revocation(now);
        if (which == 7)
            return draw_keeping(now);
        if (which == 8)
        {
            const std::string text = script_of(scripts_, verb::free).text;
            return {"EVAL", text, "2", key(), "b", stamp(now), stamp(now)};
        }
        if (which == 9)
            return draw_restoring(now);
        constexpr std::array all{verb::release, verb::undo, verb::finish};
        const verb gives_back = all.at(dice_.below(all.size()));
        const verb what = which < 3 ? verb::acquire : which == 3 ? verb::extend : gives_back;
        const detail::lua_script& script = script_of(scripts_, what);
        arguments keys{key()};
        if (dice_.below(3) == 0)
            keys.emplace_back("b");
        const bool by_hash = dice_.below(4) == 0;
        arguments made{
            by_hash ? "EVALSHA" : "EVAL",
            by_hash ? script.sha : script.text,
            std::to_string(keys.size())
        };
        made.insert(made.end(), keys.begin(), keys.end());
        if (which < 4)
            made.push_back(marker_end());
        const auto push_shared = [&]() {
            if (which < 4)
                made.push_back(ttl());
            if (which < 3)
                made.push_back(place(now));
            if (which == 3)
                made.insert(made.end(), {dice_.below(2) ? "0" : stamp(now), note()});
            if (which == 4)
                made.push_back(place(now));
        };
        const bool alike = keys.size() == 1 || dice_.below(2);
        if (alike)
            push_shared();
        for (std::size_t i = 0; i < keys.size(); ++i)
        {
            if (which < 3)
                made.push_back(value(now));
            else
                made.insert(made.end(), {id(), stamp(now)});
            if (which == 3)
                made.push_back(stamp(now));
            if (!alike)
                push_shared();
        }
        return made;
    }

    dice dice_;
    detail::guard guard_;
    detail::script_set scripts_;
    std::string last_stamp_ = "1";
};

/// What is so large is a time in microseconds.
constexpr std::int64_t least_time = 1'000'000'000'000'000;

/// The number of a line, if a clock may have something to do with it: that of an integer reply, or
/// a score that is a time.
std::optional<std::int64_t> clocked_number(const std::string& line)
{
    const std::string_view prefix = "(integer) ";
    const bool integer = line.starts_with(prefix);
    const char* const begin = line.data() + (integer ? prefix.size() : 0);
    const char* const end = line.data() + line.size();
    std::int64_t number = 0;
    const auto [rest, failure] = std::from_chars(begin, end, number);
    if (failure != std::errc() || rest != end || (!integer && number < least_time))
        return std::nullopt;
    return number;
}

/// Versions of Redis write scores with more digits or fewer.
std::optional<double> score(const std::string& line)
{
    double read = 0;
    const char* const end = line.data() + line.size();
    const auto [at, code] = std::from_chars(line.data(), end, read);
    return code == std::errc() && at == end ? std::optional(read) : std::nullopt;
}

/// The library looks at the first word of an error, and Valkey has others behind it.
std::string error_code_of(const std::string& line)
{
    return line.starts_with('-') ? line.substr(0, line.find(' ')) : std::string();
}

/// Whether two lines are the same; numbers may differ by what a clock has moved meanwhile.
bool same_line(const std::string& one, const std::string& other)
{
    if (one == other || (!error_code_of(one).empty() && error_code_of(one) == error_code_of(other)))
        return true;
    if (score(one) && score(one) == score(other))
        return true;
    const auto a = clocked_number(one);
    const auto b = clocked_number(other);
    if (!a || !b)
        return false;
    // What is kept has a ttl that was counted from the server's time, and is read by it again.
    const std::int64_t allowed = *a > least_time ? 1500 : 2;
    // A key that is there and one that is not differ, however little that is.
    return std::abs(*a - *b) <= allowed && (*a > 1) == (*b > 1);
}

bool same(const std::string& one, const std::string& other)
{
    std::istringstream lines(one);
    std::istringstream others(other);
    std::string a;
    std::string b;
    while (std::getline(lines, a))
    {
        if (!std::getline(others, b) || !same_line(a, b))
            return false;
    }
    return !std::getline(others, b);
}

/// Both servers, whose clocks are moved together.
class pair_of_servers
{
public:
    pair_of_servers(const std::string& program, std::uint64_t seed)
        : source_(seed),
          real_({.program = program, .environment = clock_.environment()}),
          client_(real_.unix_socket_path()),
          trace_(time_),
          simulated_(time_, scripts_, trace_, {}, 1)
    {
    }

    /// Puts so many commands to both. @return False if the machine was too busy to tell.
    bool compare_sequence(std::size_t commands)
    {
        bool in_time = true;
        const microseconds begun = wall();
        const std::string start = source_.chance().below(4) ? "FLUSHALL" : "FLUSHDB";
        static_cast<void>(put({start}, in_time));
        microseconds moved{0};
        for (std::size_t i = 0; i < commands; ++i)
        {
            if (source_.chance().below(3) == 0)
            {
                const microseconds by = 100ms * source_.chance().below(15);
                offset_ += by;
                moved += by;
                clock_.set_offset(offset_);
            }
            const arguments command = source_.draw(wall());
            const auto [got, expected] = put(command, in_time);
            // Keys end 50 ms away from each jump. So much must not have passed by itself.
            in_time = in_time && wall() - begun - moved < 25ms;
            if (!in_time)
                return false;
            if (!same(got, expected))
                BOOST_ERROR(
                    "the simulated server says to " << command.front() << ":\n"
                                                    << tell(command) << "\n"
                                                    << got << "\nand the real one\n"
                                                    << expected
                );
        }
        return true;
    }

private:
    static std::string tell(const arguments& command)
    {
        std::string text;
        for (const std::string& each : command)
            text += " '" + each.substr(0, 70) + "'";
        return text;
    }

    [[nodiscard]] microseconds wall() const
    {
        const auto now = std::chrono::system_clock::now().time_since_epoch() + offset_;
        return std::chrono::duration_cast<microseconds>(now);
    }

    /// @return What the simulated server says, and what the real one does.
    std::pair<std::string, std::string> put(const arguments& command, bool& in_time)
    {
        const microseconds before = wall();
        std::string expected = client_.command(command);
        in_time = in_time && wall() - before < 900us;
        simulated_.set_clock(before - simulated_.now());
        return {show(simulated_.execute(session_, command)), std::move(expected)};
    }

    test::wall_clock clock_;
    std::chrono::nanoseconds offset_{0};
    command_source source_;
    test::redis_server real_;
    test::resp_client client_;
    schedule time_;
    trace trace_;
    script_engine scripts_;
    server simulated_;
    session session_;
};

/// How many sequences. The script of the simulator asks for more.
std::size_t wanted()
{
    const char* const set = std::getenv("REDLOCK_SIM_SEQUENCES");
    return set ? std::stoul(set) : 3000;
}

void compare(const std::string& program)
{
    constexpr std::size_t commands = 12;

    const std::size_t count = wanted();
    std::size_t compared = 0;
    std::size_t disturbed = 0;
    pair_of_servers servers(program, count);
    while (compared < count && disturbed < 4 * count + 100)
        ++(servers.compare_sequence(commands) ? compared : disturbed);
    BOOST_TEST(compared == count);
    BOOST_TEST_MESSAGE(
        compared << " sequences of " << commands << " commands compared with " << program << ", "
                 << disturbed << " left out, for the machine was busy"
    );
}

}  // namespace

BOOST_AUTO_TEST_CASE(
    a_simulated_server_answers_as_redis_does,
    *boost::unit_test::precondition(test::needs("redis-server"))
)
{
    compare("redis-server");
}

BOOST_AUTO_TEST_CASE(
    a_simulated_server_answers_as_valkey_does,
    *boost::unit_test::precondition(test::needs("valkey-server"))
)
{
    compare("valkey-server");
}

BOOST_AUTO_TEST_SUITE_END()
