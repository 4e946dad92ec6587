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

/// An attempt id, whose length never changes.
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

/// A script of either mode.
struct script_view
{
    std::string_view sha;
    std::string_view text;
};

template <class Script>
script_view view(const Script& from)
{
    return {from.sha, from.text};
}

/// @param guarded Null in plain mode, which has no script that acquires.
script_view script_for(verb what, const guard* guarded)
{
    switch (what)
    {
    case verb::acquire: return view(guarded->acquire);
    case verb::extend: return guarded ? view(guarded->extend) : view(extend_script);
    case verb::release:
    case verb::holder: break;
    }
    return guarded ? view(guarded->release) : view(release_script);
}

void push_single(redis::request& to, const question& asked)
{
    const any_argument key{asked.key()};
    if (asked.what() == verb::holder)
        to.push("PTTL", key);
    else
        to.push("SET", key, id_argument{asked.id()}, nx, px, number(asked.ttl()));
}

}  // namespace

bool is_worth_another(const command& put, const reply_shape& answer) noexcept
{
    if (put.script != script_form::hash || (put.is_list() && !answer.of_all))
        return false;
    // Somebody flushed the scripts. Or there is one key in the list that the user may not touch,
    // for which the others must not pay.
    return answer.is_noscript() || (put.is_list() && answer.is_noperm());
}

bool command_encoder::needs_script(verb what) const noexcept
{
    return what == verb::extend || what == verb::release || (what == verb::acquire && guarded_);
}

void command_encoder::push_script(
    encoded_questions& to,
    std::span<const question_ptr> asked,
    script_form form
) const
{
    const verb what = asked.front()->what();
    const script_view script = script_for(what, guarded_.get());
    std::vector<any_argument> arguments;
    arguments.reserve(2 + 5 * asked.size());
    const bool whole = form == script_form::text;
    arguments.push_back({whole ? script.text : script.sha});
    arguments.push_back({{}, asked.size()});
    for (const auto& each : asked)
        arguments.push_back({each->key()});
    for (const auto& each : asked)
    {
        arguments.push_back({each->id()});
        if (guarded_ && what != verb::release)
            arguments.push_back({{}, each->stamp()});
        if (what != verb::release)
            arguments.push_back(number(each->ttl()));
        if (guarded_ && what != verb::acquire)
            arguments.push_back({{}, each->about()->token.value()});
    }
    to.request.push_range(whole ? "EVAL" : "EVALSHA", arguments);
    to.commands.push_back({asked.size(), form});
}

const encoded_questions& command_encoder::encode(std::span<const question_ptr> asked)
{
    const verb what = asked.front()->what();
    encoded_questions& kept = kept_.at(static_cast<std::size_t>(what));
    const auto serial = [](const auto& each) { return each->serial(); };
    if (std::ranges::equal(asked, kept.serials, {}, serial))
        return kept;

    // Without serials it is kept for no question, so nothing is taken for what failed half way.
    kept.serials.clear();
    kept.serials.reserve(asked.size());
    kept.request.clear();
    kept.commands.clear();
    if (needs_script(what))
    {
        for (std::size_t at = 0; at < asked.size(); at += max_list_)
        {
            const std::size_t size = std::min(max_list_, asked.size() - at);
            push_script(kept, asked.subspan(at, size), script_form::hash);
        }
    }
    else
    {
        for (const auto& each : asked)
            push_single(kept.request, *each);
        kept.commands.assign(asked.size(), {1, script_form::none});
    }
    std::ranges::transform(asked, std::back_inserter(kept.serials), serial);
    return kept;
}

encoded_questions command_encoder::encode_whole(const question_ptr& asked) const
{
    encoded_questions made;
    push_script(made, {&asked, 1}, script_form::text);
    return made;
}

std::shared_ptr<command_encoder> make_command_encoder(const link_group& group)
{
    return std::make_shared<command_encoder>(group.guarded, group.single_keys);
}

}  // namespace redlock::detail
