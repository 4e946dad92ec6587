#include "chat_room/session.hpp"

#include "chat_room/limits.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace chat {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// Codes of WebSocket closing.
constexpr unsigned policy_error = 1008;
constexpr unsigned service_restart = 1012;

/// Members can't use the details. They are in the server's log.
constexpr const char* store_is_down = "the message store does not answer";

/// The last message that a client has, or doesn't want.
std::uint64_t begin_of(const join_request& what, const room_status& status)
{
    // A client that knows another log, or more of this one, has to start over: the store has lost
    // its data.
    const bool other = what.began != 0 && what.began != static_cast<std::uint64_t>(status.began);
    const std::uint64_t has = other || what.after > status.last ? 0 : what.after;
    const std::uint64_t unwanted = status.last - std::min(status.last, what.tail);
    return std::max(has, unwanted);
}

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
    answers_.push_back(make_frame(
        hello{with.how.name, with.how.ttl.count(), with.how.rate, with.how.peers, with.how.controls}
    ));
}

session::~session()
{
    rooms_.past().forget(*this);
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
    else if (const auto* const older = std::get_if<older_request>(&request))
        co_await handle(*older);
    else
        refuse(std::get<refusal>(request));
}

asio::awaitable<void> session::on_binary()
{
    co_await wait_for_reader();
    refuse({problem::binary, "binary frames are not supported"});
}

/// Stops reading while the client doesn't read.
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
        delivered_ = begin_of(what, joined.status);
        past_ = joined.status.last;
        answers_.push_back(
            make_welcome(with_.how.name, what, joined.status, room_->terms(), room_->refusals())
        );
    }
    catch (const refusal& refused)
    {
        refuse(refused);
    }
    catch (const store_failure&)
    {
        refuse({problem::store_down, store_is_down});
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
        const auto begun = steady_clock::now();
        said message{what.id, name_, std::move(what.text)};
        co_await with_.data.say(
            room_->name(), with_.how.copy_of(room_->name()), std::move(message)
        );
        room_->on_said(what.id, begun);
        with_.counts.accepted.Increment();
        answers_.push_back(make_accepted(what.id));
        wake_.set();
    }
    catch (const inbox_full& failure)
    {
        refuse({problem::inbox_full, failure.what(), what.id});
    }
    catch (const store_failure&)
    {
        refuse({problem::store_down, store_is_down, what.id});
    }
}

asio::awaitable<void> session::handle(older_request what)
{
    if (!room_)
    {
        refuse({problem::not_joined, "join a room first"});
        co_return;
    }
    try
    {
        const std::uint64_t last = what.before > 0 ? what.before - 1 : 0;
        const std::uint64_t after = last - std::min<std::uint64_t>(last, store::page_size);
        std::vector<message> page = co_await with_.data.read(room_->name(), after);
        // If the log has forgotten some of them, others follow.
        std::erase_if(page, [last](const message& each) { return each.seq > last; });
        answers_.push_back(make_older(what.before, page));
        wake_.set();
    }
    catch (const store_failure&)
    {
        refuse({problem::store_down, store_is_down});
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
        if (frame message = next_message())
        {
            with_.counts.delivered.Increment();
            co_return message;
        }
        if (!room_ && steady_clock::now() >= join_by_)
            close(policy_error, "no join");
        else
            co_await wake_.wait(1s);
    }
    co_return nullptr;
}

/// Null: none, or not yet.
frame session::next_message()
{
    if (!page_.empty())
        return next_of_page();
    if (!room_ || delivered_ >= room_->last())
        return nullptr;
    // The past comes from the log, where members take turns. What is said now comes at once.
    if (frame recent = delivered_ >= past_ ? room_->recent(delivered_ + 1) : nullptr)
    {
        ++delivered_;
        may_skip_ = false;
        return recent;
    }
    if (!std::exchange(asked_, true))
        rooms_.past().ask(*this, room_->name(), delivered_);
    return nullptr;
}

/// Null: the log has lost what should come next.
frame session::next_of_page()
{
    const message next = std::move(page_.front());
    page_.pop_front();
    if (next.seq != delivered_ + 1 && !may_skip_)
    {
        with_.counts.too_slow.Increment();
        close(policy_error, "too slow");
        return nullptr;
    }
    delivered_ = next.seq;
    may_skip_ = false;
    return make_frame(next);
}

void session::on_page(std::vector<message> page)
{
    asked_ = false;
    page_.assign(std::make_move_iterator(page.begin()), std::make_move_iterator(page.end()));
    wake_.set();
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
    // It wasn't asked for, so don't wait for a member that reads nothing.
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
