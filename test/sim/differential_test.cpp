// The simulated server against a real one: the same commands at the same times, the same replies.

#include "node/guard.hpp"
#include "scripts.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "chaos/wall_clock.hpp"
#include "sim/dice.hpp"
#include "sim/server.hpp"
#include "support/needs.hpp"
#include "support/redis_server.hpp"

namespace {

using namespace redlock;
using namespace redlock::sim;
using namespace std::chrono_literals;
using std::chrono::microseconds;

/// A reply of the simulated server as `resp_client` shows that of a real one.
std::string show(const answer& from)
{
    using enum answer::kind;
    switch (from.what)
    {
    case status:
    case bulk:
    case verbatim: return from.text;
    case error: return "-" + from.text;
    case integer: return "(integer) " + std::to_string(from.number);
    case null: return "(nil)";
    case array:
    case map: break;
    }
    std::string lines;
    for (const answer& each : from.elements)
        lines += (lines.empty() ? "" : "\n") + show(each);
    return from.elements.empty() ? "(empty array)" : lines;
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
    }

    /// @param now The wall clock.
    arguments draw(microseconds now)
    {
        switch (dice_.below(16))
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
        default: return draw_guarded(now);
        }
    }

    dice& chance() noexcept { return dice_; }

private:
    std::string key() { return dice_.below(2) ? "a" : "b"; }

    std::string any_key()
    {
        const std::array keys{key(), std::string("redlock:fence:a"), guard_.marker_key,
                              guard_.quarantine_key, guard_.look_key, std::string("none")};
        return keys[dice_.below(keys.size())];
    }

    std::string id() { return dice_.below(2) ? "one" : "two"; }

    /// Never near to the end of a key: see `compare_sequence`.
    std::string ttl() { return std::to_string(100 * dice_.below(40) + 150); }

    std::string number()
    {
        const std::array numbers{ttl(), ttl(), ttl(), std::string("0"), std::string("-5"),
                                 std::string("x"), std::string("1.5"), std::string(" 7"),
                                 std::string("9223372036854775807"), std::string("")};
        return numbers[dice_.below(numbers.size())];
    }

    arguments draw_set()
    {
        arguments made{"SET", any_key(), id()};
        if (dice_.below(2))
            made.emplace_back(dice_.below(4) ? "NX" : "XX");
        if (dice_.below(2))
        {
            made.emplace_back("px");
            made.push_back(number());
        }
        return made;
    }

    arguments draw_odd()
    {
        const std::array<arguments, 9> odd{{
            {"GET"}, {"SET", "a"}, {"NONSENSE", "x", "y"}, {"EVALSHA", "abc", "1", "a"},
            {"SCRIPT", "LOAD", detail::release_script.text}, {"SCRIPT", "FLUSH"},
            {"SET", "a", "b", "NX", "XX"}, {"EVAL", "return 1", "2", "a"},
            {"EVAL", "return redis.call('GET')", "0"},
        }};
        return odd[dice_.below(odd.size())];
    }

    arguments draw_admit()
    {
        const std::string fingerprint = dice_.below(8) ? guard_.fingerprint : "other;";
        return {"EVAL", detail::admit_script.text, "2", guard_.marker_key, guard_.quarantine_key,
                fingerprint, "run " + id(), "2050", dice_.below(2) ? "1" : "0"};
    }

    arguments draw_initialize()
    {
        return {"EVAL", detail::initialize_script.text, "2", guard_.marker_key, guard_.look_key,
                guard_.fingerprint, "run " + id(), dice_.below(2) ? "look" : "mark", id(), "10050"};
    }

    arguments draw_plain()
    {
        arguments keys{key()};
        if (dice_.below(2))
            keys.emplace_back("b");
        const bool extends = dice_.below(2);
        arguments made{"EVAL", extends ? detail::extend_script.text : detail::release_script.text,
                       std::to_string(keys.size())};
        made.insert(made.end(), keys.begin(), keys.end());
        for (std::size_t i = 0; i < keys.size(); ++i)
        {
            made.push_back(id());
            if (extends)
                made.push_back(dice_.below(8) ? ttl() : number());
        }
        return made;
    }

    /// A stamp that is clearly within the window or clearly not.
    std::string stamp(microseconds now)
    {
        const auto off = 100ms * dice_.between(std::int64_t{-8}, std::int64_t{8}) + 50ms;
        return std::to_string((now + off).count());
    }

    arguments draw_guarded(microseconds now)
    {
        const std::size_t which = dice_.below(5);
        const auto& script = which < 3 ? guard_.acquire : which == 3 ? guard_.extend
                                                                     : guard_.release;
        arguments keys{key()};
        if (dice_.below(3) == 0)
            keys.emplace_back("b");
        const bool by_hash = dice_.below(4) == 0;
        arguments made{by_hash ? "EVALSHA" : "EVAL", by_hash ? script.sha : script.text,
                       std::to_string(keys.size())};
        made.insert(made.end(), keys.begin(), keys.end());
        for (std::size_t i = 0; i < keys.size(); ++i)
        {
            made.push_back(id());
            made.push_back(stamp(now));
            if (which < 4)
                made.push_back(ttl());
            if (which == 3)
                made.push_back(stamp(now));
        }
        return made;
    }

    dice dice_;
    detail::guard guard_;
};

/// Whether two lines are the same; numbers may differ by what a clock has moved meanwhile.
bool same_line(const std::string& one, const std::string& other)
{
    const std::string prefix = "(integer) ";
    if (one == other)
        return true;
    if (!one.starts_with(prefix) || !other.starts_with(prefix))
        return false;
    const std::int64_t a = std::stoll(one.substr(prefix.size()));
    const std::int64_t b = std::stoll(other.substr(prefix.size()));
    // What is so large is a time in microseconds.
    const std::int64_t allowed = a > 1'000'000'000'000'000 ? 1500 : 1;
    // A key that is there and one that is not differ, however little that is.
    return std::abs(a - b) <= allowed && (a > 1) == (b > 1);
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
                BOOST_ERROR("the simulated server says to " << command.front() << ":\n"
                            << tell(command) << "\n" << got << "\nand the real one\n" << expected);
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

BOOST_AUTO_TEST_SUITE(test_differential)

BOOST_AUTO_TEST_CASE(
    a_simulated_server_answers_as_redis_does,
    *boost::unit_test::precondition(test::needs("redis-server"))
)
{
    compare("redis-server");
}

BOOST_AUTO_TEST_SUITE_END()
