#include "node/commands.hpp"

#include "scripts.hpp"

#include <boost/redis/resp3/serialization.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace redlock::detail {

namespace redis = boost::redis;

namespace {

/// An argument that is the same in every command. Encoded by the compiler, because putting one
/// together from its length and its text costs ten times as much as copying it.
struct constant
{
    std::string_view wire;
};

/// Found by Boost.Redis through the type of the argument.
void boost_redis_to_bulk(std::string& to, constant argument)
{
    to.append(argument.wire);
}

constexpr constant nx{"$2\r\nNX\r\n"};
constexpr constant px{"$2\r\nPX\r\n"};
constexpr constant one_key{"$1\r\n1\r\n"};

/// An attempt id, whose length never changes. The hash of a script is as long.
struct id_argument
{
    std::string_view id;
};

void boost_redis_to_bulk(std::string& to, id_argument argument)
{
    to.append("$40\r\n").append(argument.id).append("\r\n");
}

/// Appends an argument of any length in three steps, where that of Boost.Redis takes five and makes
/// a string of the length: half the cost, and every question has its key.
void append_argument(std::string& to, std::string_view text)
{
    std::array<char, 24> header;
    header.front() = '$';
    char* end = std::to_chars(header.data() + 1, header.data() + 22, text.size()).ptr;
    *end++ = '\r';
    *end++ = '\n';
    to.append(header.data(), end).append(text).append("\r\n");
}

/// A text, or a number if that is empty.
struct any_argument
{
    std::string_view text;
    std::uint64_t number = 0;
};

void boost_redis_to_bulk(std::string& to, any_argument argument)
{
    if (!argument.text.empty())
        return append_argument(to, argument.text);
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.begin(), digits.end(), argument.number).ptr;
    append_argument(to, {digits.begin(), end});
}

any_argument number(milliseconds count)
{
    return {{}, static_cast<std::uint64_t>(count.count())};
}

const guarded_script& script_for(verb what, const guard& guarded)
{
    switch (what)
    {
    case verb::acquire: return guarded.acquire;
    case verb::extend: return guarded.extend;
    case verb::release:
    case verb::holder: break;
    }
    return guarded.release;
}

/// Puts questions of one verb with one script.
void push_list(
    redis::request& to,
    std::span<const question_ptr> asked,
    const guard& guarded,
    bool whole_script
)
{
    const verb what = asked.front()->what();
    const guarded_script& script = script_for(what, guarded);
    std::vector<any_argument> arguments;
    arguments.reserve(2 + 5 * asked.size());
    arguments.push_back({whole_script ? script.text : script.sha});
    arguments.push_back({{}, asked.size()});
    for (const auto& each : asked)
        arguments.push_back({each->key()});
    for (const auto& each : asked)
    {
        arguments.push_back({each->id()});
        if (what != verb::release)
        {
            arguments.push_back({{}, each->stamp()});
            arguments.push_back(number(each->ttl()));
        }
        if (what != verb::acquire)
            arguments.push_back({{}, each->about()->token.value()});
    }
    to.push_range(whole_script ? "EVAL" : "EVALSHA", arguments);
}

void push_plain(redis::request& to, const question& asked, bool whole_script)
{
    const any_argument key{asked.key()};
    const id_argument id{asked.id()};
    const auto push_script = [&](const script& which, auto... args) {
        if (whole_script)
            to.push("EVAL", which.text, one_key, key, id, args...);
        else
            to.push("EVALSHA", id_argument{which.sha}, one_key, key, id, args...);
    };
    switch (asked.what())
    {
    case verb::acquire: to.push("SET", key, id, nx, px, number(asked.ttl())); break;
    case verb::extend: push_script(extend_script, number(asked.ttl())); break;
    case verb::release: push_script(release_script); break;
    case verb::holder: to.push("PTTL", key); break;
    }
}

}  // namespace

const redis::request& command_encoder::encode(const question& asked)
{
    if (asked.serial() != plain_.serial)
    {
        plain_.encoded.clear();
        push_plain(plain_.encoded, asked, false);
        plain_.serial = asked.serial();
    }
    return plain_.encoded;
}

const redis::request& command_encoder::encode(
    std::span<const question_ptr> asked
)
{
    kept_list& kept = lists_.at(static_cast<std::size_t>(asked.front()->what()));
    const auto serial = [](const auto& each) { return each->serial(); };
    if (!std::ranges::equal(asked, kept.serials, {}, serial))
    {
        kept.encoded.clear();
        push_list(kept.encoded, asked, *guarded_, false);
        kept.serials.clear();
        std::ranges::transform(asked, std::back_inserter(kept.serials), serial);
    }
    return kept.encoded;
}

void command_encoder::push_whole(redis::request& to, const question_ptr& asked) const
{
    if (uses_lists(asked->what()))
        push_list(to, {&asked, 1}, *guarded_, true);
    else
        push_plain(to, *asked, true);
}

std::shared_ptr<command_encoder> make_command_encoder(std::shared_ptr<const guard> guarded)
{
    return std::make_shared<command_encoder>(std::move(guarded));
}

}  // namespace redlock::detail
