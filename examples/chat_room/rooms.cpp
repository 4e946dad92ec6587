#include "chat_room/rooms.hpp"

#include <redlock/client.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <iostream>
#include <utility>
#include <vector>

namespace chat {

namespace {

using namespace std::chrono_literals;

constexpr auto status_interval = 500ms;
constexpr auto pause_after_failure = 100ms;

/// For how many rounds of status a room without members is kept: who reconnects finds it.
constexpr unsigned rounds_kept = 4;

/// A node that may have lost leases sits out the longest possible one.
const auto longest_quarantine = redlock::client_config().ttl_max + 100ms;

}  // namespace

rooms::rooms(surroundings with, asio::any_io_executor executor)
    : with_(with),
      executor_(executor),
      past_(
          executor,
          [data = &with.data](const std::string& room, std::uint64_t after) {
              return data->read(room, after);
          }
      ),
      status_due_(executor),
      first_room_(executor)
{
}

void rooms::start()
{
    running_ += 3;
    const auto done = [this](const std::exception_ptr&) { --running_; };
    asio::co_spawn(executor_, follow(), done);
    asio::co_spawn(executor_, tell_status(), done);
    asio::co_spawn(executor_, past_.run(), done);
}

void rooms::stop()
{
    stopped_ = true;
    for (const auto& [name, each] : rooms_)
        each.room->stop();
    status_due_.set();
    first_room_.set();
    past_.stop();
    look_again();
}

asio::awaitable<rooms::joined> rooms::join(join_request what, member& who)
{
    check_limits(what);
    std::vector<store::presence> asked;
    asked.push_back({what.room, members_of(what.room) + 1});
    const auto status = co_await with_.data.status(with_.how.name, std::move(asked));
    const auto coordinators = co_await with_.data.coordinators(what.room);
    check_limits(what);  // Others may have joined since.
    auto found = rooms_.find(what.room);
    if (found != rooms_.end() && found->second.room->is_lost(status.at(0), 0))
    {
        start_over(found->second.room);
        found = rooms_.end();
    }
    const auto room =
        found != rooms_.end() ? found->second.room : open(what.room, status.at(0), coordinators);
    room->add(who);
    ++members_;
    count();
    co_return joined{room, status.at(0)};
}

void rooms::leave(chat::room& left, member& who)
{
    left.remove(who);
    --members_;
    count();
}

void rooms::look_again()
{
    const auto interrupt = [this]() -> asio::awaitable<void> {
        try
        {
            co_await with_.data.interrupt_follow();
        }
        catch (const std::exception&)
        {
            // Then the reader looks again a little later, by itself.
        }
    };
    asio::co_spawn(executor_, interrupt(), asio::detached);
}

std::size_t rooms::members_of(const std::string& name) const
{
    const auto found = rooms_.find(name);
    return found == rooms_.end() ? 0 : found->second.room->members();
}

asio::awaitable<void> rooms::follow()
{
    event pause(executor_);
    while (!stopped_)
    {
        if (rooms_.empty())
        {
            co_await first_room_.wait();
            continue;
        }
        std::string failure;
        try
        {
            co_await follow_once();
        }
        catch (const std::exception& error)
        {
            failure = error.what();
        }
        if (!failure.empty())
            co_await pause.wait(pause_after_failure);
    }
}

asio::awaitable<void> rooms::follow_once()
{
    std::vector<position> positions;
    for (const auto& [name, each] : rooms_)
        positions.push_back(each.room->reached());
    const std::vector<news> all = co_await with_.data.follow(std::move(positions));
    for (const news& each : all)
    {
        if (const auto found = rooms_.find(each.room); found != rooms_.end())
            found->second.room->on_news(each);
    }
}

asio::awaitable<void> rooms::tell_status()
{
    while (!stopped_)
    {
        co_await tell_status_once();
        close_empty();
        co_await status_due_.wait(status_interval);
    }
}

asio::awaitable<void> rooms::tell_status_once()
{
    std::vector<store::presence> asked;
    std::vector<std::pair<std::shared_ptr<chat::room>, std::uint64_t>> about;
    for (const auto& [name, each] : rooms_)
    {
        asked.push_back({name, each.room->members()});
        about.emplace_back(each.room, each.room->last());
    }
    std::vector<room_status> told;
    try
    {
        told = co_await with_.data.status(with_.how.name, std::move(asked));
    }
    catch (const std::exception&)
    {
        // Members are told that the store is down.
    }
    const std::vector<told_node> nodes = look_at_nodes();
    for (std::size_t index = 0; index < about.size(); ++index)
    {
        const auto& [room, seen] = about[index];
        const bool known = index < told.size();
        if (known && room->is_lost(told[index], seen))
            start_over(room);
        else
            room->on_status(known ? std::optional(told[index]) : std::nullopt, nodes);
    }
}

/// A node in quarantine doesn't say how long it will take, so this counts from when it was first
/// seen there.
std::vector<told_node> rooms::look_at_nodes()
{
    const auto now = std::chrono::steady_clock::now();
    std::vector<told_node> all;
    for (redlock::node_status& each : with_.locks.nodes())
    {
        told_node& told = all.emplace_back();
        if (each.state == redlock::node_state::quarantined)
        {
            const auto since = quarantined_.try_emplace(each.node, now).first->second;
            const auto left = std::max<std::chrono::steady_clock::duration>(
                since + longest_quarantine - now, 0ms
            );
            told.votes_in = left / 1ms;
        }
        else
        {
            quarantined_.erase(each.node);
        }
        told.status = std::move(each);
    }
    return all;
}

/// The log has started over, so what the room remembers is no longer right. The next member opens a
/// new one.
void rooms::start_over(const std::shared_ptr<chat::room>& lost)
{
    lost->on_lost();
    const auto found = rooms_.find(lost->name());
    if (found != rooms_.end() && found->second.room == lost)
        rooms_.erase(found);
}

std::shared_ptr<chat::room> rooms::open(
    const std::string& name,
    const room_status& status,
    const std::vector<coordinator_entry>& coordinators
)
{
    const auto room =
        std::make_shared<chat::room>(with_, executor_, name, status, coordinators, [this] {
            look_again();
        });
    rooms_[name] = {room};
    if (!with_.how.is_copy(name))  // The room's coordinator also writes its copy.
    {
        ++running_;
        const auto done = [this, room](const std::exception_ptr&) { --running_; };
        asio::co_spawn(executor_, room->run(), done);
    }
    first_room_.set();
    look_again();
    return room;
}

void rooms::check_limits(const join_request& what) const
{
    if (stopped_)
        throw refusal{problem::too_many_rooms, "the server is stopping"};
    if (members_ >= with_.how.max_members)
    {
        const std::string most = std::to_string(with_.how.max_members);
        throw refusal{problem::too_many_members, "the server has " + most + " members"};
    }
    if (rooms_.size() >= with_.how.max_rooms && !rooms_.contains(what.room))
    {
        const std::string most = std::to_string(with_.how.max_rooms);
        throw refusal{problem::too_many_rooms, "the server has " + most + " rooms"};
    }
}

void rooms::close_empty()
{
    for (auto next = rooms_.begin(); next != rooms_.end();)
    {
        occupied& each = next->second;
        each.empty_for = each.room->members() == 0 ? each.empty_for + 1 : 0;
        if (each.empty_for > rounds_kept)
        {
            each.room->stop();
            next = rooms_.erase(next);
        }
        else
        {
            ++next;
        }
    }
    count();
}

void rooms::count()
{
    with_.counts.members.Set(static_cast<double>(members_));
    with_.counts.rooms.Set(static_cast<double>(rooms_.size()));
}

}  // namespace chat
