#include "chat_room/client/scripted_member.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <random>
#include <utility>

namespace chat {

namespace json = boost::json;

namespace {

using namespace std::chrono_literals;

/// A server sends its status twice a second. One that is silent for this long is gone.
constexpr auto longest_silence = 2s;

constexpr auto pause_before_reconnecting = 100ms;
constexpr auto pause_before_saying_again = 300ms;

/// A server closes with this code when the store has lost its data.
constexpr unsigned store_lost = 1012;

/// Ids are unique among all programs and members.
std::string make_id()
{
    static const unsigned long long program =
        std::random_device()() * 4'294'967'296ULL + std::random_device()();
    static std::uint64_t last = 0;
    return std::to_string(program) + "-" + std::to_string(++last);
}

std::string text_of(const json::object& from, const char* member)
{
    return std::string(from.at(member).as_string());
}

std::uint64_t number_of(const json::object& from, const char* member)
{
    return from.at(member).to_number<std::uint64_t>();
}

}  // namespace

scripted_member::scripted_member(
    asio::any_io_executor executor,
    std::vector<std::uint16_t> ports,
    std::string room,
    std::string name
)
    : executor_(executor),
      ports_(std::move(ports)),
      room_(std::move(room)),
      name_(std::move(name)),
      wake_(executor),
      pause_(executor)
{
}

void scripted_member::start()
{
    running_ = true;
    asio::co_spawn(
        executor_,
        run(),
        asio::bind_cancellation_slot(
            cancel_.slot(), [this](const std::exception_ptr&) { running_ = false; }
        )
    );
}

void scripted_member::stop()
{
    stopped_ = true;
    pause_.set();
    cancel_.emit(asio::cancellation_type::terminal);
}

void scripted_member::say(std::string text)
{
    kept_.push_back({make_id(), std::move(text)});
    wake_.set();
}

asio::awaitable<void> scripted_member::run()
{
    for (std::size_t attempt = 0; !stopped_; ++attempt)
    {
        connection with(executor_);
        try
        {
            co_await with.open(ports_[attempt % ports_.size()]);
            co_await live(with);
        }
        catch (const connection_closed& end)
        {
            last_end_ = end.what();
            if (end.code() == store_lost)
                start_over();
        }
        catch (const std::exception& failure)
        {
            last_end_ = failure.what();
        }
        reconnections_ += std::exchange(joined_, false);
        if (!stopped_)
            co_await pause_.wait(pause_before_reconnecting);
    }
}

asio::awaitable<void> scripted_member::live(connection& with)
{
    const std::uint64_t last = heard_.empty() ? 0 : heard_.back().seq;
    const json::object join{
        {"type", "join"},
        {"room", room_},
        {"name", name_},
        {"after", last},
        {"began", began_},
    };
    co_await with.send(json::serialize(join));
    for (kept& each : kept_)
        each.sent = false;
    auto outcome = co_await asio::experimental::make_parallel_group(
                       asio::co_spawn(executor_, listen(with), asio::deferred),
                       asio::co_spawn(executor_, talk(with), asio::deferred)
    )
                       .async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
    const auto& [order, heard_failure, talk_failure] = outcome;
    std::rethrow_exception(order[0] == 0 ? heard_failure : talk_failure);
}

asio::awaitable<void> scripted_member::listen(connection& from)
{
    for (;;)
        take(co_await from.receive(longest_silence));
}

asio::awaitable<void> scripted_member::talk(connection& to)
{
    for (;;)
    {
        co_await wake_.wait(pause_before_saying_again);
        if (!joined_)
            continue;
        for (;;)  // The list may change while a message is sent.
        {
            const auto next = std::ranges::find(kept_, false, &kept::sent);
            if (next == kept_.end())
                break;
            next->sent = true;
            json::object say{{"type", "say"}, {"id", next->id}, {"text", next->text}};
            co_await to.send(json::serialize(say));
        }
    }
}

void scripted_member::take(const std::string& frame)
{
    const json::object told = json::parse(frame).as_object();
    const std::string_view type = told.at("type").as_string();
    if (type == "message")
    {
        heard_.push_back(
            {number_of(told, "seq"),
             text_of(told, "id"),
             text_of(told, "name"),
             text_of(told, "text"),
             number_of(told, "fence")}
        );
        std::erase_if(kept_, [this](const kept& each) { return each.id == heard_.back().id; });
        if (on_message)
            on_message(heard_.back());
    }
    else if (type == "welcome")
    {
        const std::uint64_t began = number_of(told, "began");
        if (began != began_ || (!heard_.empty() && number_of(told, "last") < heard_.back().seq))
            start_over();
        began_ = began;
        for (const json::value& each : told.at("coordinators").as_array())
            take_coordinator(each.as_object());
        joined_ = true;
        wake_.set();
    }
    else if (type == "coordinator")
    {
        take_coordinator(told);
        if (on_event)
            on_event(told);
    }
    else if (type == "refusal")
    {
        if (on_event)
            on_event(told);
    }
    else if (type == "status")
    {
        status_ = frame;
        if (on_status)
            on_status(status_);
    }
    else if (type == "error" && told.contains("id") && told.at("retry").as_bool())
    {
        const auto found = std::ranges::find(kept_, text_of(told, "id"), &kept::id);
        if (found != kept_.end())
            found->sent = false;  // Said again when the wait of `talk` is over.
    }
    else if (type == "error" && !joined_)
    {
        throw connection_closed(1000, frame);  // Another server may let us in.
    }
}

void scripted_member::start_over()
{
    heard_.clear();
    coordinators_.clear();
}

void scripted_member::take_coordinator(const json::object& told)
{
    // A member that comes back hears of all recent ones, and again of each one that leaves.
    const std::uint64_t fence = number_of(told, "fence");
    if (coordinators_.empty() || fence > coordinators_.back().fence)
        coordinators_.push_back({text_of(told, "server"), fence, std::chrono::steady_clock::now()});
}

}  // namespace chat
