#include "chat_room/session.hpp"

#include "chat_room/limits.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace chat {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// Messages that are read from the log at once.
constexpr std::size_t page_size = 100;

// Codes of WebSocket closing.
constexpr unsigned policy_error = 1008;
constexpr unsigned service_restart = 1012;

}  // namespace

bool allowance::spend()
{
    const auto now = steady_clock::now();
    const std::chrono::duration<double> passed = now - std::exchange(at_, now);
    left_ = std::min<double>(rate_.burst, left_ + passed.count() * rate_.per_second);
    if (left_ < 1)
        return false;
    left_ -= 1;
    return true;
}

session::session(surroundings with, rooms& all, asio::any_io_executor executor)
    : with_(with),
      rooms_(all),
      allowance_(with.how.rate),
      wake_(executor),
      drained_(executor),
      join_by_(steady_clock::now() + limits::patience)
{
    answers_.push_back(make_frame(hello{with.how.name, with.how.ttl.count(), with.how.rate}));
}

session::~session()
{
    if (room_)
        rooms_.leave(*room_, *this);
}

asio::awaitable<void> session::on_text(std::string text)
{
    co_await wait_for_reader();
    auto request = parse(text);
    if (!allowance_.spend())
    {
        const auto* const say = std::get_if<say_request>(&request);
        const std::string most = std::to_string(with_.how.rate.per_second);
        refuse({problem::rate, "more than " + most + " in a second", say ? say->id : ""});
    }
    else if (auto* const join = std::get_if<join_request>(&request))
        co_await handle(std::move(*join));
    else if (auto* const say = std::get_if<say_request>(&request))
        co_await handle(std::move(*say));
    else
        refuse(std::get<refusal>(request));
}

asio::awaitable<void> session::on_binary()
{
    co_await wait_for_reader();
    refuse({problem::binary, "binary frames mean nothing here"});
}

/// Does not read on while the client does not read.
asio::awaitable<void> session::wait_for_reader()
{
    while (answers_.size() >= limits::waiting_answers)
        co_await drained_.wait();
}

asio::awaitable<void> session::handle(join_request what)
{
    if (room_)
    {
        refuse({problem::already_joined, "this connection has joined " + room_->name()});
        co_return;
    }
    try
    {
        rooms::joined joined = co_await rooms_.join(what, *this);
        room_ = std::move(joined.room);
        name_ = what.name;
        // A client that is ahead of the log has to start again, for the store has lost data.
        delivered_ = what.after > joined.status.last ? 0 : what.after;
        answers_.push_back(make_welcome(with_.how.name, what, joined.status, room_->terms()));
    }
    catch (const refusal& refused)
    {
        refuse(refused);
    }
    catch (const store_failure& failure)
    {
        refuse({problem::store_down, failure.what()});
    }
    wake_.set();
}

asio::awaitable<void> session::handle(say_request what)
{
    if (!room_)
    {
        refuse({problem::not_joined, "join a room first", what.id});
        co_return;
    }
    try
    {
        said message{what.id, name_, std::move(what.text)};
        co_await with_.data.say(room_->name(), std::move(message));
        with_.counts.accepted.Increment();
        answers_.push_back(make_accepted(what.id));
        wake_.set();
    }
    catch (const inbox_full& failure)
    {
        refuse({problem::inbox_full, failure.what(), what.id});
    }
    catch (const store_failure& failure)
    {
        refuse({problem::store_down, failure.what(), what.id});
    }
}

void session::refuse(const refusal& what)
{
    with_.counts.count_error(to_string(what.why));
    answers_.push_back(make_frame(what));
    wake_.set();
}

asio::awaitable<frame> session::next()
{
    while (close_code_ == 0)
    {
        if (!answers_.empty())
        {
            frame answer = std::move(answers_.front());
            answers_.pop_front();
            drained_.set();
            co_return answer;
        }
        if (status_)
            co_return std::exchange(status_, nullptr);
        if (has_messages())
        {
            if (frame message = co_await next_message())
                co_return message;
            continue;
        }
        if (!room_ && steady_clock::now() >= join_by_)
            close(policy_error, "no join");
        else
            co_await wake_.wait(1s);
    }
    co_return nullptr;
}

bool session::has_messages() const
{
    return room_ && (!history_.empty() || delivered_ < room_->last());
}

/// Null: not now.
asio::awaitable<frame> session::next_message()
{
    frame result = history_.empty() ? room_->recent(delivered_ + 1) : nullptr;
    if (!result)
    {
        if (history_.empty() && !co_await read_history())
        {
            co_await wake_.wait(1s);  // The store is down.
            co_return nullptr;
        }
        const message& oldest = history_.front();
        if (oldest.seq != delivered_ + 1 && !may_skip_)
        {
            with_.counts.too_slow.Increment();
            close(policy_error, "too slow");
            co_return nullptr;
        }
        result = make_frame(oldest);
        delivered_ = oldest.seq - 1;
        history_.pop_front();
    }
    ++delivered_;
    may_skip_ = false;
    with_.counts.delivered.Increment();
    co_return result;
}

asio::awaitable<bool> session::read_history()
{
    try
    {
        const auto page = co_await with_.data.read(room_->name(), delivered_, page_size);
        history_.assign(page.begin(), page.end());
    }
    catch (const store_failure&)
    {
        // Shows in the status.
    }
    co_return !history_.empty();
}

void session::close(unsigned code, std::string reason)
{
    if (close_code_ != 0)
        return;
    close_code_ = code;
    close_reason_ = std::move(reason);
    wake_.set();
}

void session::on_event(frame what)
{
    // Nobody asked for it, so a member that reads nothing is not waited for.
    if (answers_.size() >= 2 * limits::waiting_answers)
    {
        with_.counts.too_slow.Increment();
        close(policy_error, "too slow");
        return;
    }
    answers_.push_back(std::move(what));
    wake_.set();
}

void session::on_status(frame what)
{
    status_ = std::move(what);
    wake_.set();
}

void session::on_lost()
{
    close(service_restart, "the store has lost its data");
}

}  // namespace chat
