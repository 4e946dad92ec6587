#include "chat_room/store.hpp"

#include "chat_room/limits.hpp"
#include "chat_scripts.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/consign.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/redis/connection.hpp>

#include <charconv>
#include <chrono>
#include <iostream>
#include <map>
#include <string_view>
#include <utility>

namespace chat {

namespace redis = boost::redis;

namespace {

using namespace std::chrono_literals;
using redlock::fencing_token;

/// A command that is not answered by then has failed.
constexpr auto answer_timeout = 1s;

/// How long the server waits for news before it answers that there are none.
constexpr auto follow_time = 500ms;

constexpr auto pause_before_reconnecting = 200ms;

/// Messages that are moved at once. A script keeps the server from everything else.
constexpr std::size_t batch_size = 100;

/// A server that has not told its members for so long has none.
constexpr auto presence_time = 3s;

/// One reply, or a part of one.
struct value
{
    std::string text;
    std::vector<value> parts;
};

/// Reads the nodes of a reply, which come in pre-order, from `next` on.
value read_value(const redis::resp3::tree& nodes, std::size_t& next)
{
    const auto& node = nodes[next++];
    value result{node.value, {}};
    while (next < nodes.size() && nodes[next].depth > node.depth)
        result.parts.push_back(read_value(nodes, next));
    return result;
}

std::vector<value> read_values(const redis::resp3::tree& nodes)
{
    std::vector<value> all;
    for (std::size_t next = 0; next < nodes.size();)
        all.push_back(read_value(nodes, next));
    return all;
}

template <class Number = std::int64_t>
Number number(std::string_view text)
{
    Number result = 0;
    std::from_chars(text.data(), text.data() + text.size(), result);
    return result;
}

fencing_token token(std::string_view text)
{
    return fencing_token::from_value(number<std::uint64_t>(text));
}

[[noreturn]] void throw_error(const std::string& reply)
{
    if (reply.starts_with("FENCED "))
        throw stale_coordinator("the room has seen token " + reply.substr(7));
    if (reply.starts_with("FULL "))
        throw inbox_full("more than " + reply.substr(5) + " messages wait for a coordinator");
    throw store_failure("the store said: " + reply);
}

/// Keys of a room. The braces keep them together, should the store be a cluster one day.
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

using fields = std::map<std::string_view, std::string_view>;

/// Names and values of an entry in a stream, which take turns.
fields read_fields(const value& entry)
{
    fields result;
    const std::vector<value>& parts = entry.parts.at(1).parts;
    for (std::size_t index = 0; index + 1 < parts.size(); index += 2)
        result[parts[index].text] = parts[index + 1].text;
    return result;
}

const std::string& id_of(const value& entry)
{
    return entry.parts.at(0).text;
}

message read_message(const value& entry)
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

coordinator_entry read_coordinator(const value& entry)
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

room_status read_status(const value& reply)
{
    const auto at = [&reply](std::size_t index) { return reply.parts.at(index).text; };
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

/// Adds what a reply to XREAD says of one stream.
void read_stream(news& to, const std::string& stream, const std::vector<value>& entries)
{
    if (entries.empty())
        return;
    if (stream.ends_with(":log"))
    {
        for (const value& entry : entries)
            to.messages.push_back(read_message(entry));
    }
    else if (stream.ends_with(":coordinators"))
    {
        for (const value& entry : entries)
            to.coordinators.push_back(read_coordinator(entry));
    }
    else
    {
        to.last_inbox = id_of(entries.back());
    }
}

redis::config make_config(const redlock::node_config& where)
{
    redis::config result;
    result.addr = {where.host, std::to_string(where.port)};
    result.unix_socket = where.unix_socket;
    result.use_setup = true;
    result.setup = redis::request();
    if (where.username.empty() && where.password.empty())
        result.setup.hello();
    else
        result.setup.hello(where.username.empty() ? "default" : where.username, where.password);
    if (where.database != 0)
        result.setup.push("SELECT", where.database);
    result.resolve_timeout = 2s;
    result.connect_timeout = 2s;
    // That of Boost.Redis would give up a connection because our own process stood still.
    result.health_check_interval = 0s;
    result.reconnect_wait_interval = 0s;  // The loop below sees each end.
    return result;
}

redis::request make_request()
{
    redis::request result;
    result.get_config().cancel_if_not_connected = true;  // Whoever asks wants to know.
    return result;
}

void push_script(
    redis::request& to,
    const std::string& text,
    const std::vector<std::string>& keys,
    const std::vector<std::string>& arguments
)
{
    std::vector<std::string> words{text, std::to_string(keys.size())};
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), arguments.begin(), arguments.end());
    to.push_range("EVAL", words);
}

void push_unfenced(
    redis::request& to,
    const store::tenure& by,
    const unfenced_copy& what,
    std::size_t kept
)
{
    std::vector<std::string> arguments{
        std::to_string(by.fence.value()), std::to_string(by.number), by.server, std::to_string(kept)
    };
    for (const auto& [entry, message] : what.seen)
        arguments.insert(arguments.end(), {entry, message.id, message.name, message.text});
    push_script(
        to,
        scripts::write_unfenced_script.text,
        {key(what.room), key(what.room, ":inbox"), key(what.room, ":log"), key(what.room, ":ids")},
        arguments
    );
}

/// A connection that is opened again whenever it ends.
class link
{
public:
    link(const asio::any_io_executor& executor, const redlock::node_config& where)
        : redis_(executor, redis::logger(redis::logger::level::disabled)),
          pause_(executor),
          config_(make_config(where))
    {
    }

    asio::awaitable<void> run()
    {
        while (!stopped_)
        {
            co_await redis_.async_run(config_, asio::as_tuple(asio::use_awaitable));
            redis_.cancel(redis::operation::exec);
            failures_ = 0;
            if (stopped_)
                co_return;
            pause_.expires_after(pause_before_reconnecting);
            co_await pause_.async_wait(asio::as_tuple(asio::use_awaitable));
        }
    }

    [[nodiscard]] asio::any_io_executor get_executor() { return redis_.get_executor(); }

    void stop()
    {
        stopped_ = true;
        pause_.cancel();
        redis_.cancel();
    }

    /// Asks, and waits for the answers. Not cancelled with the caller.
    asio::awaitable<std::vector<value>> ask(
        redis::request request,
        std::chrono::milliseconds limit = answer_timeout
    )
    {
        redis::generic_response response;
        auto outcome = co_await redis_.async_exec(
            request,
            response,
            asio::cancel_after(
                limit,
                asio::bind_cancellation_slot(
                    asio::cancellation_slot(), asio::as_tuple(asio::use_awaitable)
                )
            )
        );
        const auto& ec = std::get<0>(outcome);
        try
        {
            if (response.has_error())
                throw_error(response.error().diagnostic);
            if (ec)
                throw store_failure("no answer from the store: " + ec.message());
        }
        catch (const store_failure& failure)
        {
            complain(failure.what());
            give_up_when_silent(ec);
            throw;
        }
        failures_ = 0;
        co_return read_values(response.value());
    }

private:
    /// Members are not told what exactly went wrong. Once in a while the log is.
    void complain(const char* why)
    {
        const auto now = std::chrono::steady_clock::now();
        if (now < complained_ + 1s)
            return;
        complained_ = now;
        std::cerr << "store: " << why << std::endl;
    }

    /// Two timeouts in a row: the first may be our own, if this process stood still.
    void give_up_when_silent(const boost::system::error_code& ec)
    {
        if (ec == asio::error::operation_aborted && ++failures_ >= 2)
            redis_.cancel(redis::operation::run);
    }

    redis::connection redis_;
    asio::steady_timer pause_;
    redis::config config_;
    std::chrono::steady_clock::time_point complained_;
    int failures_ = 0;
    bool stopped_ = false;
};

/// A script of a coordinator, with what such scripts begin with.
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

    link commands;
    link follower;
    link history;
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
    for (link* const each :
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
    redis::request request = make_request();
    // The copy first: the room's coordinator looks at both as soon as the room has it.
    for (const std::string& each : {copy, room})
    {
        if (each.empty())
            continue;
        push_script(
            request,
            scripts::say_script.text,
            {key(each, ":inbox")},
            {what.id, what.name, what.text, std::to_string(limits::inbox)}
        );
    }
    co_await connections_->commands.ask(std::move(request));
}

asio::awaitable<std::vector<message>> store::read(std::string room, std::uint64_t after)
{
    redis::request request = make_request();
    const std::string from = "(" + std::to_string(after) + "-0";
    request.push("XRANGE", key(room, ":log"), from, "+", "COUNT", page_size);
    const auto replies = co_await connections_->history.ask(std::move(request));
    std::vector<message> result;
    for (const value& entry : replies.at(0).parts)
        result.push_back(read_message(entry));
    co_return result;
}

asio::awaitable<std::vector<coordinator_entry>> store::coordinators(std::string room)
{
    redis::request request = make_request();
    request.push("XRANGE", key(room, ":coordinators"), "-", "+");
    const auto replies = co_await connections_->commands.ask(std::move(request));
    std::vector<coordinator_entry> result;
    for (const value& entry : replies.at(0).parts)
        result.push_back(read_coordinator(entry));
    co_return result;
}

asio::awaitable<std::vector<room_status>> store::status(
    std::string server,
    std::vector<presence> rooms
)
{
    const std::string time = std::to_string(std::chrono::milliseconds(presence_time).count());
    redis::request request = make_request();
    request.push("PING");
    for (const presence& each : rooms)
    {
        push_script(
            request,
            scripts::status_script.text,
            {key(each.room),
             key(each.room, ":members"),
             key(each.room, ":log"),
             key(each.room, ":inbox")},
            {server, std::to_string(each.members), time}
        );
    }
    std::vector<value> replies;
    try
    {
        replies = co_await connections_->commands.ask(std::move(request));
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
    redis::request request = make_request();
    push_script(
        request,
        fenced(scripts::enter_script),
        {key(by.room), key(by.room, ":coordinators")},
        {std::to_string(by.fence.value()),
         by.server,
         std::to_string(by.ttl.count()),
         std::to_string(by.remaining.count())}
    );
    const auto replies = co_await connections_->commands.ask(std::move(request));
    co_return number<std::uint64_t>(replies.at(0).text);
}

asio::awaitable<void> store::renew(tenure by)
{
    redis::request request = make_request();
    push_script(
        request,
        fenced(scripts::renew_script),
        {key(by.room)},
        {std::to_string(by.fence.value()),
         std::to_string(by.remaining.count()),
         std::to_string(by.extensions)}
    );
    co_await connections_->commands.ask(std::move(request));
}

asio::awaitable<void> store::leave(tenure by)
{
    redis::request request = make_request();
    push_script(
        request,
        fenced(scripts::leave_script),
        {key(by.room), key(by.room, ":coordinators")},
        {std::to_string(by.fence.value())}
    );
    co_await connections_->commands.ask(std::move(request));
}

asio::awaitable<append_result> store::append(tenure by, unfenced_copy also)
{
    redis::request request = make_request();
    if (!also.seen.empty())
        push_unfenced(request, by, also, kept_);
    push_script(
        request,
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
    );
    const auto replies = co_await connections_->commands.ask(std::move(request));
    const auto& counts = replies.back().parts;
    const auto count = [&counts](std::size_t at) { return number<std::size_t>(counts[at].text); };
    co_return append_result{count(0), count(1), count(2) == batch_size};
}

asio::awaitable<unfenced_copy> store::look(std::string copy)
{
    unfenced_copy result;
    if (copy.empty())
        co_return result;
    redis::request request = make_request();
    push_script(
        request,
        scripts::peek_script.text,
        {key(copy, ":inbox"), key(copy, ":ids")},
        {std::to_string(batch_size)}
    );
    const auto replies = co_await connections_->commands.ask(std::move(request));
    result.room = std::move(copy);
    for (const value& each : replies.at(0).parts)
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
    std::vector<std::string> words{
        "COUNT",
        "200",
        "BLOCK",
        std::to_string(std::chrono::milliseconds(follow_time).count()),
        "STREAMS"
    };
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), ids.begin(), ids.end());

    redis::request request = make_request();
    request.push("CLIENT", "ID");
    request.push_range("XREAD", words);
    const auto replies =
        co_await connections_->follower.ask(std::move(request), follow_time + answer_timeout);
    connections_->follower_id = replies.at(0).text;
    std::map<std::string, news> found;
    // Streams and their entries take turns.
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
    redis::request request = make_request();
    request.push("CLIENT", "UNBLOCK", connections_->follower_id);
    co_await connections_->commands.ask(std::move(request));
}

}  // namespace chat
