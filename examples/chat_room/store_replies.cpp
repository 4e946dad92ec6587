#include "chat_room/store_replies.hpp"

#include <map>

namespace chat {

namespace {

using redlock::fencing_token;

fencing_token token(std::string_view text)
{
    return fencing_token::from_value(number<std::uint64_t>(text));
}

using fields = std::map<std::string_view, std::string_view>;

/// Names and values of an entry in a stream, which alternate.
fields read_fields(const reply& entry)
{
    fields result;
    const std::vector<reply>& parts = entry.parts.at(1).parts;
    for (std::size_t index = 0; index + 1 < parts.size(); index += 2)
        result[parts[index].text] = parts[index + 1].text;
    return result;
}

refused_write read_refusal(const fields& found, fencing_token seen)
{
    const auto count = [&found](std::string_view name) {
        return number<std::uint64_t>(found.at(name));
    };
    return {
        .server = std::string(found.at("server")),
        .fence = token(found.at("refused")),
        .term = count("number"),
        .seen = seen,
        .seen_term = count("seen"),
        .slept = number(found.at("slept")),
        .at = number(found.at("at")),
    };
}

}  // namespace

const std::string& id_of(const reply& entry)
{
    return entry.parts.at(0).text;
}

message read_message(const reply& entry)
{
    const fields found = read_fields(entry);
    // An entry of an earlier version lacks the later fields.
    const auto at = [&found](std::string_view name) {
        const auto field = found.find(name);
        return field == found.end() ? std::string() : std::string(field->second);
    };
    return {
        number<std::uint64_t>(id_of(entry)),  // Up to the '-'.
        {at("id"), at("name"), at("text")},
        number(at("at")),
        token(at("fence")),
        number<std::uint64_t>(at("term")),
        at("server"),
        number(at("waited")),
    };
}

coordinator_entry read_coordinator(const reply& entry)
{
    const fields found = read_fields(entry);
    coordinator_entry result;
    result.id = id_of(entry);
    result.fence = token(id_of(entry));
    if (found.contains("refused"))
    {
        result.refused = read_refusal(found, result.fence);
        return result;
    }
    if (const auto server = found.find("server"); server != found.end())
    {
        result.server = server->second;
        result.since = number(found.at("since"));
        if (const auto count = found.find("number"); count != found.end())
            result.number = number<std::uint64_t>(count->second);
    }
    if (const auto ended = found.find("ended"); ended != found.end())
        result.ended = number(ended->second);
    if (const auto before = found.find("before"); before != found.end())
        result.before = token(before->second);
    if (const auto heard = found.find("heard"); heard != found.end())
        result.heard = number(heard->second);
    if (const auto emptied = found.find("emptied"); emptied != found.end())
        result.empty = {number(emptied->second), number(found.at("filled"))};
    return result;
}

room_status read_status(const reply& from)
{
    const auto at = [&from](std::size_t index) { return from.parts.at(index).text; };
    const auto count = [&](std::size_t index) { return number<std::uint64_t>(at(index)); };
    room_status result;
    result.now = number(at(0));
    result.members = count(1);
    result.first = count(2);
    result.waiting = count(3);
    result.waits = number(at(4));
    result.last = count(5);
    result.refused = count(6);
    result.server = at(7);
    result.fence = token(at(8));
    result.since = number(at(9));
    result.until = number(at(10));
    result.ttl = number(at(11));
    result.extensions = count(12);
    result.began = number(at(13));
    result.heard = number(at(14));
    result.number = count(15);
    return result;
}

}  // namespace chat
