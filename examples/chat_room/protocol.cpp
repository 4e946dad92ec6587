#include "chat_room/protocol.hpp"

#include "chat_room/limits.hpp"
#include "chat_room/names.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_from.hpp>

#include <algorithm>
#include <utility>

namespace chat {

namespace json = boost::json;

namespace {

/// How deep clients may nest: our messages don't, but unknown members may.
constexpr std::size_t max_depth = 8;

bool is_control(unsigned char byte)
{
    return byte < 0x20 || byte == 0x7f;
}

bool starts_code_point(char byte)
{
    return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

std::size_t code_points(std::string_view text)
{
    return static_cast<std::size_t>(std::ranges::count_if(text, starts_code_point));
}

bool is_blank(std::string_view text)
{
    return text.find_first_not_of(" \t\n") == std::string_view::npos;
}

bool is_lower_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_room_name(std::string_view text)
{
    return !text.empty() && text.front() != '-' &&
           std::ranges::all_of(text, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

bool is_text(std::string_view text)
{
    return !is_blank(text) && std::ranges::none_of(text, [](char c) {
        return is_control(static_cast<unsigned char>(c)) && c != '\n' && c != '\t';
    });
}

bool is_id(std::string_view text)
{
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z') ||
               std::string_view("-_.:").find(c) != std::string_view::npos;
    });
}

/// What a member of a message has to be.
struct rule
{
    const char* member;
    std::size_t longest;
    bool (*holds)(std::string_view);
    const char* wanted;
};

constexpr rule room_rule{"room", limits::room, is_room_name, "letters a to z, digits and '-'"};
constexpr rule name_rule{
    "name",
    limits::name,
    is_person_name,
    "visible characters with single spaces between words, and not 'You'"
};
constexpr rule text_rule{"text", limits::text, is_text, "printable characters and line feeds"};
constexpr rule id_rule{"id", limits::id, is_id, "letters, digits and '-_.:'"};

/// Takes a string out of a message. @throws refusal if it breaks the rule.
std::string take(const json::object& from, const rule& which, const std::string& id)
{
    const json::value* const found = from.if_contains(which.member);
    const std::string name = which.member;
    if (found == nullptr || !found->is_string())
        throw refusal{problem::bad_field, "'" + name + "' must be a string", id};
    const std::string_view text = found->get_string();
    if (code_points(text) > which.longest)
    {
        const std::string most = std::to_string(which.longest);
        throw refusal{problem::too_long, "'" + name + "' is longer than " + most, id};
    }
    if (!which.holds(text))
        throw refusal{problem::bad_field, "'" + name + "' must be " + which.wanted, id};
    return std::string(text);
}

/// A whole number that may be left out.
struct number_rule
{
    const char* member;
    std::uint64_t otherwise;
    std::uint64_t greatest;
};

/// The greatest one that JavaScript holds exactly.
constexpr std::uint64_t greatest_number = (1ULL << 53) - 1;

constexpr number_rule after_rule{"after", 0, greatest_number};
constexpr number_rule began_rule{"began", 0, greatest_number};
constexpr number_rule before_rule{"before", 0, greatest_number};
constexpr number_rule tail_rule{"tail", limits::tail, limits::tail};

std::uint64_t take(const json::object& from, const number_rule& which)
{
    const json::value* const found = from.if_contains(which.member);
    if (found == nullptr)
        return which.otherwise;
    const std::int64_t* const given = found->if_int64();
    if (given == nullptr || *given < 0 || static_cast<std::uint64_t>(*given) > which.greatest)
    {
        std::string text = "'" + std::string(which.member) + "' must be a whole number from 0 to " +
                           std::to_string(which.greatest);
        if (found->is_number())
            text += ", not " + json::serialize(*found);
        throw refusal{problem::bad_field, std::move(text)};
    }
    return static_cast<std::uint64_t>(*given);
}

older_request take_older(const json::object& from)
{
    return {take(from, before_rule)};
}

say_request take_say(const json::object& from)
{
    std::string id = take(from, id_rule, {});
    std::string text = take(from, text_rule, id);
    return {std::move(id), std::move(text)};
}

json::object parse_object(std::string_view text)
{
    json::parse_options options;
    options.max_depth = max_depth;
    boost::system::error_code failure;
    json::value parsed = json::parse(text, failure, {}, options);
    if (failure)
        throw refusal{problem::bad_json, "not JSON: " + failure.message()};
    if (!parsed.is_object())
        throw refusal{problem::bad_json, "not a JSON object"};
    return std::move(parsed.get_object());
}

json::value optional_time(const std::optional<store_time>& time)
{
    return time ? json::value(*time) : json::value(nullptr);
}

json::value optional_span(const std::optional<span>& time)
{
    if (!time)
        return nullptr;
    return {{"from", time->from}, {"to", time->to}};
}

json::object to_json(const term& from)
{
    return {
        {"server", from.server},
        {"fence", from.fence.value()},
        {"number", from.number},
        {"since", from.since},
        {"until", optional_time(from.until)},
        {"heard", optional_time(from.heard)},
        {"left", from.left},
        {"empty", optional_span(from.empty)},
    };
}

json::object to_json(const message& what)
{
    return {
        {"type", "message"},
        {"seq", what.seq},
        {"id", what.what.id},
        {"name", what.what.name},
        {"text", what.what.text},
        {"at", what.at},
        {"fence", what.fence.value()},
        {"term", what.term},
        {"server", what.server},
        {"waited", what.waited},
    };
}

json::object to_json(const refused_write& what)
{
    return {
        {"type", "refusal"},
        {"server", what.server},
        {"fence", what.fence.value()},
        {"number", what.term},
        {"seen", {{"fence", what.seen.value()}, {"number", what.seen_term}}},
        {"slept", what.slept},
        {"at", what.at},
    };
}

json::object to_json(const told_node& from)
{
    const auto round_trip = from.status.round_trip.count();
    return {
        {"name", from.status.node},
        {"state", to_string(from.status.state)},
        {"because", from.status.because},
        {"round_trip_us", round_trip > 0 ? json::value(round_trip) : json::value(nullptr)},
        {"votes_in", optional_time(from.votes_in)},
    };
}

frame to_frame(const json::object& what)
{
    return std::make_shared<const std::string>(json::serialize(what));
}

}  // namespace

const char* to_string(problem value) noexcept
{
    switch (value)
    {
    case problem::bad_json: return "bad_json";
    case problem::bad_type: return "bad_type";
    case problem::bad_field: return "bad_field";
    case problem::too_long: return "too_long";
    case problem::binary: return "binary";
    case problem::not_joined: return "not_joined";
    case problem::already_joined: return "already_joined";
    case problem::too_many_rooms: return "too_many_rooms";
    case problem::too_many_members: return "too_many_members";
    case problem::rate: return "rate";
    case problem::store_down: return "store_down";
    case problem::inbox_full: return "inbox_full";
    }
    return "unknown";
}

std::variant<join_request, say_request, older_request, refusal> parse(std::string_view text)
{
    try
    {
        const json::object object = parse_object(text);
        const json::value* const type = object.if_contains("type");
        if (type == nullptr || !type->is_string())
            return refusal{problem::bad_type, "'type' must be a string"};
        if (type->get_string() == "join")
        {
            std::string room = take(object, room_rule, {});
            std::string name = take(object, name_rule, {});
            const std::uint64_t after = take(object, after_rule);
            const std::uint64_t began = take(object, began_rule);
            const std::uint64_t tail = take(object, tail_rule);
            return join_request{std::move(room), std::move(name), after, began, tail};
        }
        if (type->get_string() == "say")
            return take_say(object);
        if (type->get_string() == "older")
            return take_older(object);
        return refusal{problem::bad_type, "unknown 'type', expected join, say or older"};
    }
    catch (const refusal& refused)
    {
        return refused;
    }
}

frame make_frame(const hello& what)
{
    return to_frame({
        {"type", "hello"},
        {"server", what.server},
        {"ttl", what.ttl},
        {"peers", json::value_from(what.peers)},
        {"controls", what.controls.empty() ? json::value(nullptr) : json::value(what.controls)},
        {"limits",
         {{"text", limits::text},
          {"name", limits::name},
          {"room", limits::room},
          {"id", limits::id},
          {"frame", limits::frame},
          {"tail", limits::tail},
          {"rate", what.rate.per_second},
          {"burst", what.rate.burst}}},
    });
}

frame make_frame(const message& what)
{
    return to_frame(to_json(what));
}

frame make_older(std::uint64_t before, const std::vector<message>& page)
{
    json::array messages;
    for (const message& each : page)
        messages.push_back(to_json(each));
    return to_frame({{"type", "older"}, {"before", before}, {"messages", std::move(messages)}});
}

frame make_frame(const refusal& what)
{
    const bool retry = what.why == problem::rate || what.why == problem::store_down ||
                       what.why == problem::inbox_full || what.why == problem::too_many_rooms ||
                       what.why == problem::too_many_members;
    json::object error{
        {"type", "error"},
        {"code", to_string(what.why)},
        {"text", what.text},
        {"retry", retry},
    };
    if (!what.id.empty())
        error["id"] = what.id;
    return to_frame(error);
}

frame make_accepted(const std::string& id)
{
    return to_frame({{"type", "accepted"}, {"id", id}});
}

frame make_welcome(
    const std::string& server,
    const join_request& joined,
    const room_status& status,
    const std::vector<term>& terms,
    const std::vector<refused_write>& refusals
)
{
    json::array coordinators;
    for (const term& each : terms)
        coordinators.push_back(to_json(each));
    json::array refused;
    for (const refused_write& each : refusals)
        refused.push_back(to_json(each));
    return to_frame({
        {"type", "welcome"},
        {"server", server},
        {"room", joined.room},
        {"name", joined.name},
        {"now", status.now},
        {"last", status.last},
        {"first", status.first},
        {"began", status.began},
        {"coordinators", std::move(coordinators)},
        {"refusals", std::move(refused)},
    });
}

frame make_refusal(const refused_write& what)
{
    return to_frame(to_json(what));
}

frame make_coordinator(const term& what, const term* previous)
{
    json::object object = to_json(what);
    object["type"] = "coordinator";
    object["previous"] = nullptr;
    if (previous != nullptr)
    {
        object["previous"] = {
            {"fence", previous->fence.value()},
            {"until", optional_time(previous->until)},
            {"heard", optional_time(previous->heard)},
        };
    }
    return to_frame(object);
}

frame make_status(
    const std::string& server,
    const std::optional<room_status>& status,
    const std::vector<told_node>& nodes
)
{
    json::object object{
        {"type", "status"},
        {"server", server},
        {"store", status ? "up" : "down"},
        {"coordinator", nullptr},
        {"lease", nullptr},
    };
    if (status)
    {
        object["now"] = status->now;
        object["members"] = status->members;
        object["refused"] = status->refused;
        object["waiting"] = {{"messages", status->waiting}, {"longest", status->waits}};
    }
    if (status && status->until > status->now)
    {
        object["coordinator"] = {
            {"server", status->server},
            {"fence", status->fence.value()},
            {"number", status->number},
            {"since", status->since},
        };
        object["lease"] = {
            {"ttl", status->ttl},
            {"remaining", status->until - status->now},
            {"extensions", status->extensions},
            {"silent", status->now - status->heard},
        };
    }
    json::array states;
    for (const told_node& each : nodes)
        states.push_back(to_json(each));
    object["nodes"] = std::move(states);
    return to_frame(object);
}

}  // namespace chat
