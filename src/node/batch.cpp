#include "node/batch.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace redlock::detail {

namespace {

/// Questions that share one command at most: a long script keeps everybody else waiting.
constexpr std::size_t max_list = 64;

/// Makes room for one more, so that adding it cannot fail.
template <class T>
void make_room(std::vector<T>& in)
{
    if (in.size() == in.capacity())
        in.reserve(2 * in.size() + 1);
}

}  // namespace

void batch::add(question_ptr asked, bool whole_script, command_encoder& encoder)
{
    const bool is_list = encoder.uses_lists(asked->what());
    if (is_list && !whole_script)
        return lists_.at(static_cast<std::size_t>(asked->what())).push_back(std::move(asked));

    // Should memory be short, a command and who gets its reply are both added, or none.
    make_room(commands_);
    make_room(asked_);
    if (whole_script)
    {
        boost::redis::request whole;
        encoder.push_whole(whole, asked);
        request_.append(whole);
    }
    else
        request_.append(encoder.encode(*asked));
    commands_.push_back({1, is_list, whole_script});
    asked_.push_back(std::move(asked));
}

boost::redis::request& batch::put_together(command_encoder& encoder)
{
    // Releases go before acquisitions: what is given back in a turn is free for who asks in it. A
    // release may overtake its own acquisition so. Its tombstone refuses that.
    for (const verb what : {verb::extend, verb::release, verb::acquire})
    {
        question_list& asked = lists_.at(static_cast<std::size_t>(what));
        for (std::size_t at = 0; at < asked.size(); at += max_list)
        {
            const auto part = std::span(asked).subspan(at).first(
                std::min(max_list, asked.size() - at)
            );
            request_.append(encoder.encode(part));
            commands_.push_back({part.size(), true, false});
        }
        std::ranges::move(asked, std::back_inserter(asked_));
        asked.clear();
    }
    return request_;
}

question_ptr batch::take_unanswered() noexcept
{
    return answered_ < asked_.size() ? std::move(asked_[answered_++]) : nullptr;
}

void batch::clear()
{
    request_.clear();
    commands_.clear();
    asked_.clear();
    answered_ = 0;
    current_ = 0;
}

}  // namespace redlock::detail
