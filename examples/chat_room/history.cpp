#include "chat_room/history.hpp"

#include <chrono>
#include <exception>
#include <utility>

namespace chat {

namespace {

using namespace std::chrono_literals;

constexpr auto pause_before_rereading = 100ms;

}  // namespace

history::history(asio::any_io_executor executor, read_function read)
    : executor_(executor), read_(std::move(read)), asked_(std::move(executor))
{
}

void history::ask(history_reader& who, std::string room, std::uint64_t after)
{
    line_.push_back({&who, std::move(room), after});
    asked_.set();
}

void history::forget(const history_reader& who)
{
    std::erase_if(line_, [&who](const request& each) { return each.who == &who; });
    if (served_ == &who)
        served_ = nullptr;
}

void history::stop()
{
    stopped_ = true;
    asked_.set();
}

asio::awaitable<void> history::run()
{
    event pause(executor_);
    while (!stopped_)
    {
        if (line_.empty())
        {
            co_await asked_.wait();
            continue;
        }
        const request next = std::move(line_.front());
        line_.pop_front();
        served_ = next.who;
        std::vector<message> page = co_await read(next);
        history_reader* const who = std::exchange(served_, nullptr);
        if (page.empty())
        {
            if (who != nullptr)
                line_.push_back(next);
            co_await pause.wait(pause_before_rereading);
        }
        else if (who != nullptr)
        {
            who->on_page(std::move(page));
        }
    }
}

/// Empty: the store is down, or has lost its data. The status shows both.
asio::awaitable<std::vector<message>> history::read(request what)
{
    try
    {
        co_return co_await read_(what.room, what.after);
    }
    catch (const std::exception&)
    {
        co_return std::vector<message>();
    }
}

}  // namespace chat
