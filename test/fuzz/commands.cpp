// Any keys, logins and numbers: the bytes that a server gets are the commands that were meant, with
// each argument as it was, so that nothing that a user chooses becomes a command.

#include "fuzz/fuzz_target.hpp"
#include "node/guard.hpp"
#include "node/pipeline.hpp"
#include "node/verbs.hpp"
#include "node/vetting/vetting.hpp"
#include "wire/resp_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace detail = redlock::detail;
namespace resp = detail::resp;
using detail::verb;
using redlock::core::queue_move;
using redlock::fuzz::byte_source;
using redlock::fuzz::require;

namespace {

using words = std::vector<std::string>;

class question_of_fuzzer final : public detail::question
{
public:
    using question::question;

    void on_reply(std::size_t, const detail::reply&) noexcept override {}
    bool wanted() const noexcept override { return true; }
};

/// The commands that a server makes of some bytes.
std::vector<words> read_commands(std::string_view bytes)
{
    std::vector<words> commands;
    resp::reader reader;
    while (const auto part = reader.next(bytes))
    {
        if (part->depth == 0)
        {
            require(part->kind == resp::type::array, "a command is an array");
            require(part->size > 0, "a command has a name");
            commands.emplace_back();
        }
        else
        {
            require(part->kind == resp::type::blob_string, "an argument is a string");
            commands.back().emplace_back(part->value);
        }
    }
    require(!reader.error(), "commands are well formed");
    require(bytes.empty() && !reader.in_reply(), "commands are complete");
    return commands;
}

bool is_release(verb what)
{
    return detail::rules_of(what).gives_back;
}

redlock::note take_note(byte_source& from)
{
    return from.take_text().substr(0, redlock::note::max_size);
}

detail::question_ptr take_question(byte_source& from, verb what, bool guarded, std::uint64_t serial)
{
    const std::string key = from.take_text();
    redlock::acquire_options options;
    options.note = take_note(from);
    auto wanted = std::make_shared<const detail::demand>(key.empty() ? "k" : key, options);
    detail::attempt about{std::move(wanted), {}, {}};
    for (char& each : about.id)
        each = "0123456789abcdef"[from.below(16)];
    std::uint64_t stamp = 0;
    if (guarded)
    {
        stamp = from.take<std::uint64_t>();
        about.token = redlock::fencing_token::from_value(from.take<std::uint64_t>());
    }
    detail::wording says{
        serial,
        what,
        std::make_shared<const detail::attempt>(std::move(about)),
        redlock::milliseconds(from.take_bool() ? 1000 : from.take<std::uint32_t>()),
        stamp
    };
    if (guarded && from.take_bool())
    {
        const bool leaves = is_release(what) && from.take_bool();
        says.entry.move = leaves ? queue_move::leave : queue_move::keep;
        says.entry.arrival = from.take_bool() ? stamp : from.take<std::uint64_t>();
    }
    if (what == verb::keep)
        says.at_least =
            redlock::milliseconds(from.take_bool() ? 60'000 : from.take<std::uint32_t>());
    const bool announces = what == verb::extend || what == verb::restore;
    if (guarded && announces && from.take_bool())
        says.announced = std::make_shared<detail::announcement>(
            detail::announcement{take_note(from), from.take<std::uint64_t>()}
        );
    return detail::question::keep(std::make_shared<question_of_fuzzer>(std::move(says)));
}

/// Of the server. Any text will do.
constexpr std::string_view run_id = "run 1\r\n";

/// What a question without a script should be.
std::vector<words> single(const detail::question& asked)
{
    const std::string key(asked.key());
    if (asked.what() == verb::holder)
        return {{"PTTL", key}};
    if (asked.what() == verb::track)
        return {{"CLIENT", "CACHING", "YES"}, {"PTTL", key}};
    return {{"SET", key, std::string(asked.id()), "NX", "PX", std::to_string(asked.ttl().count())}};
}

/// The argument that says who waits since when.
std::string place_of(const detail::question& asked, const std::string& client)
{
    const detail::queue_entry& entry = asked.entry();
    if (client.empty())
        return "-";
    if (entry.move == queue_move::none)
        return {};
    const bool is_new = asked.what() == verb::acquire && entry.arrival == asked.stamp();
    if (entry.move == queue_move::leave || is_new)
        return client;
    return client + ':' + std::to_string(entry.arrival);
}

/// What an acquisition sets a lock key to.
std::string value_of(const detail::question& asked, const std::string& client)
{
    const std::string token = std::to_string(asked.stamp());
    return std::string(asked.id()) + ' ' + token + ' ' + (client.empty() ? "-" : client) + " 0 " +
           token + ' ' + std::string(asked.attempt()->of->options.note.text());
}

/// What each question of a script has for itself.
words own_arguments(const detail::question& asked, const detail::guard* guarded)
{
    const verb what = asked.what();
    if (what == verb::leave)
        return {};
    if (what == verb::inspect)
        return guarded ? words{std::to_string(asked.stamp())} : words();
    if (guarded && what == verb::acquire)
        return {value_of(asked, guarded->queue_name)};
    words made;
    if (what != verb::revoke && what != verb::free)
        made.emplace_back(asked.id());
    const bool is_timed = what == verb::extend || what == verb::revoke;
    if (guarded && (is_timed || what == verb::keep))
        made.push_back(std::to_string(asked.stamp()));
    if (guarded)
        made.push_back(std::to_string(asked.attempt()->token.value()));
    return made;
}

/// What it may share with the others.
words shared_arguments(const detail::question& asked, const detail::guard* guarded)
{
    const verb what = asked.what();
    if (what == verb::leave)
        return {guarded->queue_name};
    if (what == verb::inspect || what == verb::revoke || what == verb::free)
        return {};
    const auto& announced = asked.says().announced;
    const auto& token = asked.attempt()->token;
    const std::string client = !guarded || guarded->queue_name.empty() ? "-" : guarded->queue_name;
    const std::string note(asked.attempt()->of->options.note.text());
    if (what == verb::restore)
        return {
            client,
            std::to_string(announced ? announced->stamp : token.value()),
            announced ? std::string(announced->text.text()) : note
        };
    words made;
    if (!is_release(what))
        made.push_back(std::to_string(asked.ttl().count()));
    if (guarded && what != verb::extend)
        made.push_back(place_of(asked, guarded->queue_name));
    if (what == verb::keep)
        made.push_back(std::to_string(asked.says().at_least.count()));
    if (guarded && what == verb::extend)
    {
        made.push_back(announced ? std::to_string(announced->stamp) : "0");
        made.emplace_back(announced ? announced->text.text() : std::string_view());
    }
    return made;
}

/// What a command with a script for some questions should be.
words scripted(
    const std::vector<detail::question_ptr>& asked,
    std::size_t begin,
    std::size_t end,
    const detail::guard* guarded,
    bool whole
)
{
    const verb what = asked.front()->what();
    const detail::script_set scripts = detail::make_scripts(guarded);
    const detail::lua_script& script = script_of(scripts, what);
    words made{
        whole ? "EVAL" : "EVALSHA", whole ? script.text : script.sha, std::to_string(end - begin)
    };
    for (std::size_t at = begin; at < end; ++at)
        made.emplace_back(asked[at]->key());
    if (guarded && rules_of(what).compares_marker)
        made.emplace_back(run_id);
    const words shared = shared_arguments(*asked[begin], guarded);
    const bool alike = std::all_of(&asked[begin], &asked[end - 1] + 1, [&](const auto& each) {
        return shared_arguments(*each, guarded) == shared;
    });
    if (alike)
        std::ranges::copy(shared, std::back_inserter(made));
    for (std::size_t at = begin; at < end; ++at)
    {
        std::ranges::copy(own_arguments(*asked[at], guarded), std::back_inserter(made));
        if (!alike)
            std::ranges::copy(shared_arguments(*asked[at], guarded), std::back_inserter(made));
    }
    return made;
}

/// As they are written to a server.
std::vector<words> commands_of(const detail::encoded_questions& from)
{
    detail::request sent;
    sent.append(from.request, run_id);
    return read_commands(sent.payload());
}

void check_questions(byte_source& from, const std::shared_ptr<const detail::guard>& guarded)
{
    constexpr std::size_t longest_list = 64;

    auto what = static_cast<verb>(from.below(detail::verb_count));
    // Some are only for guarded clients.
    if (!guarded && !rules_of(what).plain.read)
        what = verb::release;
    const bool single_keys = from.take_bool();
    std::vector<detail::question_ptr> asked;
    for (std::size_t left = 1 + from.below(70); left > 0; --left)
        asked.push_back(take_question(from, what, guarded != nullptr, left));
    detail::command_encoder encoder(guarded, single_keys);

    const bool script =
        what != verb::holder && what != verb::track && (what != verb::acquire || guarded);
    const std::size_t step = script && !single_keys ? longest_list : 1;
    std::vector<words> expected;
    for (std::size_t at = 0; at < asked.size(); at += step)
    {
        const std::size_t end = std::min(at + step, asked.size());
        if (script)
            expected.push_back(scripted(asked, at, end, guarded.get(), false));
        else
            std::ranges::copy(single(*asked[at]), std::back_inserter(expected));
    }
    const detail::encoded_questions& encoded = encoder.encode(asked);
    require(commands_of(encoded) == expected, "questions are these commands");
    require(encoded.commands.size() == expected.size(), "commands are counted");
    if (script)
    {
        const std::vector<words> whole = commands_of(encoder.encode_whole(asked.front()));
        require(
            whole.size() == 1 && whole.front() == scripted(asked, 0, 1, guarded.get(), true),
            "one question is one command with the text of the script"
        );
    }
}

void check_login(byte_source& from, const detail::guard* guarded)
{
    redlock::node_config config;
    config.username = from.take_text();
    config.password = from.take_text();
    config.database = from.take<std::uint8_t>();
    std::string name = from.take_text();
    const auto request = detail::make_vetting_request(config, detail::make_scripts(guarded), name);
    for (char& each : name)
        each = each >= '!' && each <= '~' ? each : '_';
    if (name.empty())
        name = "redlock";
    const std::vector<words> commands = read_commands(request.payload());

    require(commands.front().front() == "HELLO", "the login comes first");
    if (!config.username.empty() || !config.password.empty())
    {
        const std::string user = config.username.empty() ? "default" : config.username;
        const words login{"HELLO", "3", "AUTH", user, config.password, "SETNAME", name};
        require(commands.front() == login, "the login is one command");
    }
    for (std::size_t at = 1; at < commands.size(); ++at)
    {
        const std::string& first = commands[at].front();
        const bool known = first == "SELECT" || first == "INFO" || first == "EVALSHA";
        require(known, "nothing else is asked");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    byte_source from(redlock::fuzz::as_text(data, size));
    std::shared_ptr<const detail::guard> guarded;
    if (from.take_bool())
    {
        redlock::client_config config;
        config.nodes.resize(3);
        config.key_prefix = from.take_text();
        auto made = *detail::make_guard(config);
        made.queue_name = from.take_bool() ? "0123456789abcdef" : "";
        guarded = std::make_shared<const detail::guard>(std::move(made));
    }
    check_login(from, guarded.get());
    check_questions(from, guarded);
    return 0;
}
