#include "chat_room/store.hpp"

#include "chat_room/limits.hpp"
#include "chat_room/store_link.hpp"
#include "chat_room/store_replies.hpp"
#include "chat_scripts.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/consign.hpp>
#include <boost/asio/detached.hpp>

#include <chrono>
#include <map>
#include <string_view>
#include <utility>

namespace chat {

namespace {

using namespace std::chrono_literals;

/// How long the server waits for news before it answers that there is none.
constexpr auto follow_time = 500ms;

/// Messages that are moved at once. The server does nothing else while a script runs.
constexpr std::size_t batch_size = 100;

/// A server that hasn't reported its members for this long has none.
constexpr auto presence_time = 3s;

/// Keys of a room. The braces keep them together if the store becomes a cluster one day.
std::string key(const std::string& room, std::string_view what = {})
{
    return "chat:{" + room + "}" + std::string(what);
}

/// The room of a key.
std::string room_of(std::string_view key)
{
    const std::size_t begin = key.find('{') + 1;
    return std::string(key.substr(begin, key.find('}') - begin));
}

command write_unfenced(const store::tenure& by, const unfenced_copy& what, std::size_t kept)
{
    std::vector<std::string> arguments{
        std::to_string(by.fence.value()), std::to_string(by.number), by.server, std::to_string(kept)
    };
    for (const auto& [entry, message] : what.seen)
        arguments.insert(arguments.end(), {entry, message.id, message.name, message.text});
    return eval(
        scripts::write_unfenced_script.text,
        {key(what.room), key(what.room, ":inbox"), key(what.room, ":log"), key(what.room, ":ids")},
        arguments
    );
}

/// Adds what a reply to XREAD says of one stream.
void read_stream(news& to, const std::string& stream, const std::vector<reply>& entries)
{
    if (entries.empty())
        return;
    if (stream.ends_with(":log"))
    {
        for (const reply& entry : entries)
            to.messages.push_back(read_message(entry));
    }
    else if (stream.ends_with(":coordinators"))
    {
        for (const reply& entry : entries)
            to.coordinators.push_back(read_coordinator(entry));
    }
    else
    {
        to.last_inbox = id_of(entries.back());
    }
}

/// A script of a coordinator, with the beginning that all of them share.
std::string fenced(const scripts::script& which)
{
    return std::string(scripts::fence_script.text) + which.text;
}

}  // namespace

struct store::connections
{
    connections(const asio::any_io_executor& executor, const redlock::node_config& where)
        : commands(executor, where), follower(executor, where), history(executor, where)
    {
    }

    void set_up(bool now)
    {
        if (std::exchange(up, now) != now && on_change)
            on_change();
    }

    store_link commands;
    store_link follower;
    store_link history;
    std::function<void()> on_change;
    std::string follower_id;  ///< What the server calls the connection. Empty: not known.
    bool up = false;
};

store::store(asio::any_io_executor executor, const redlock::node_config& where, std::size_t kept)
    : connections_(std::make_shared<connections>(executor, where)), kept_(kept)
{
}

store::~store() = default;

void store::start(std::function<void()> on_change)
{
    connections_->on_change = std::move(on_change);
    for (store_link* const each :
         {&connections_->commands, &connections_->follower, &connections_->history})
    {
        asio::co_spawn(
            each->get_executor(), each->run(), asio::consign(asio::detached, connections_)
        );
    }
}

void store::stop()
{
    connections_->on_change = nullptr;
    connections_->commands.stop();
    connections_->follower.stop();
    connections_->history.stop();
}

bool store::is_up() const noexcept
{
    return connections_->up;
}

asio::awaitable<void> store::say(std::string room, std::string copy, said what)
{
    std::vector<command> commands;
    // The copy first: the room's coordinator looks at both as soon as the room has it.
    for (const std::string& each : {copy, room})
    {
        if (each.empty())
            continue;
        commands.push_back(eval(
            scripts::say_script.text,
            {key(each, ":inbox")},
            {what.id, what.name, what.text, std::to_string(limits::inbox)}
        ));
    }
    co_await connections_->commands.ask(std::move(commands));
}

asio::awaitable<std::vector<message>> store::read(std::string room, std::uint64_t after)
{
    const std::string from = "(" + std::to_string(after) + "-0";
    const std::string count = std::to_string(page_size);
    std::vector<command> commands{{"XRANGE", key(room, ":log"), from, "+", "COUNT", count}};
    const auto replies = co_await connections_->history.ask(std::move(commands));
    std::vector<message> result;
    for (const reply& entry : replies.at(0).parts)
        result.push_back(read_message(entry));
    co_return result;
}

asio::awaitable<std::vector<coordinator_entry>> store::coordinators(std::string room)
{
    std::vector<command> commands{{"XRANGE", key(room, ":coordinators"), "-", "+"}};
    const auto replies = co_await connections_->commands.ask(std::move(commands));
    std::vector<coordinator_entry> result;
    for (const reply& entry : replies.at(0).parts)
        result.push_back(read_coordinator(entry));
    co_return result;
}

asio::awaitable<std::vector<room_status>> store::status(
    std::string server,
    std::vector<presence> rooms
)
{
    const std::string time = std::to_string(std::chrono::milliseconds(presence_time).count());
    std::vector<command> commands;
    commands.push_back({"PING"});
    for (const presence& each : rooms)
    {
        commands.push_back(eval(
            scripts::status_script.text,
            {key(each.room),
             key(each.room, ":members"),
             key(each.room, ":log"),
             key(each.room, ":inbox")},
            {server, std::to_string(each.members), time}
        ));
    }
    std::vector<reply> replies;
    try
    {
        replies = co_await connections_->commands.ask(std::move(commands));
    }
    catch (...)
    {
        connections_->set_up(false);
        throw;
    }
    connections_->set_up(true);
    std::vector<room_status> result;
    for (std::size_t index = 1; index < replies.size(); ++index)
        result.push_back(read_status(replies[index]));
    co_return result;
}

asio::awaitable<std::uint64_t> store::enter(tenure by)
{
    std::vector<command> commands{eval(
        fenced(scripts::enter_script),
        {key(by.room), key(by.room, ":coordinators")},
        {std::to_string(by.fence.value()),
         by.server,
         std::to_string(by.ttl.count()),
         std::to_string(by.remaining.count())}
    )};
    const auto replies = co_await connections_->commands.ask(std::move(commands));
    co_return number<std::uint64_t>(replies.at(0).text);
}

asio::awaitable<void> store::renew(tenure by)
{
    std::vector<command> commands{eval(
        fenced(scripts::renew_script),
        {key(by.room)},
        {std::to_string(by.fence.value()),
         std::to_string(by.remaining.count()),
         std::to_string(by.extensions)}
    )};
    co_await connections_->commands.ask(std::move(commands));
}

asio::awaitable<void> store::leave(tenure by)
{
    std::vector<command> commands{eval(
        fenced(scripts::leave_script),
        {key(by.room), key(by.room, ":coordinators")},
        {std::to_string(by.fence.value())}
    )};
    co_await connections_->commands.ask(std::move(commands));
}

asio::awaitable<append_result> store::append(tenure by, unfenced_copy also)
{
    std::vector<command> commands;
    if (!also.seen.empty())
        commands.push_back(write_unfenced(by, also, kept_));
    commands.push_back(eval(
        fenced(scripts::append_script),
        {key(by.room),
         key(by.room, ":inbox"),
         key(by.room, ":log"),
         key(by.room, ":ids"),
         key(by.room, ":coordinators")},
        {std::to_string(by.fence.value()),
         std::to_string(batch_size),
         std::to_string(kept_),
         by.server,
         std::to_string(by.number),
         std::to_string(by.silent.count())}
    ));
    const auto replies = co_await connections_->commands.ask(std::move(commands));
    const auto& counts = replies.back().parts;
    const auto count = [&counts](std::size_t at) { return number<std::size_t>(counts[at].text); };
    co_return append_result{count(0), count(1), count(2) == batch_size};
}

asio::awaitable<unfenced_copy> store::look(std::string copy)
{
    unfenced_copy result;
    if (copy.empty())
        co_return result;
    std::vector<command> commands{eval(
        scripts::peek_script.text,
        {key(copy, ":inbox"), key(copy, ":ids")},
        {std::to_string(batch_size)}
    )};
    const auto replies = co_await connections_->commands.ask(std::move(commands));
    result.room = std::move(copy);
    for (const reply& each : replies.at(0).parts)
    {
        const auto at = [&each](std::size_t index) { return each.parts.at(index).text; };
        result.seen.push_back({at(0), {at(1), at(2), at(3)}});
    }
    co_return result;
}

asio::awaitable<std::vector<news>> store::follow(std::vector<position> from)
{
    std::vector<std::string> keys;
    std::vector<std::string> ids;
    const auto add = [&](std::string stream, std::string id) {
        keys.push_back(std::move(stream));
        ids.push_back(std::move(id));
    };
    for (const position& each : from)
    {
        add(key(each.room, ":log"), std::to_string(each.seq) + "-0");
        add(key(each.room, ":coordinators"), each.coordinators);
        if (!each.inbox.empty())
            add(key(each.room, ":inbox"), each.inbox);
    }
    command words{
        "XREAD",
        "COUNT",
        "200",
        "BLOCK",
        std::to_string(std::chrono::milliseconds(follow_time).count()),
        "STREAMS"
    };
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), ids.begin(), ids.end());

    std::vector<command> commands;
    commands.push_back({"CLIENT", "ID"});
    commands.push_back(std::move(words));
    const auto replies = co_await connections_->follower.ask(
        std::move(commands), follow_time + store_link::answer_timeout
    );
    connections_->follower_id = replies.at(0).text;
    std::map<std::string, news> found;
    // Streams and their entries alternate.
    const auto& parts = replies.at(1).parts;
    for (std::size_t index = 0; index + 1 < parts.size(); index += 2)
    {
        const std::string room = room_of(parts[index].text);
        news& to = found[room];
        to.room = room;
        read_stream(to, parts[index].text, parts[index + 1].parts);
    }
    std::vector<news> result;
    for (auto& [room, each] : found)
        result.push_back(std::move(each));
    co_return result;
}

asio::awaitable<void> store::interrupt_follow()
{
    if (connections_->follower_id.empty())
        co_return;
    std::vector<command> commands{{"CLIENT", "UNBLOCK", connections_->follower_id}};
    co_await connections_->commands.ask(std::move(commands));
}

}  // namespace chat
