#include "node/batch.hpp"

#include <algorithm>
#include <iterator>

namespace redlock::detail {

void batch::add(question_ptr asked)
{
    added_.at(static_cast<std::size_t>(asked->what())).push_back(std::move(asked));
    ++size_;
}

void batch::add_whole(
    question_ptr asked,
    const command_encoder& encoder,
    std::string_view marker_end
)
{
    append({&asked, 1}, encoder.encode_whole(asked), marker_end);
}

void batch::append(
    std::span<question_ptr> asked,
    const encoded_questions& encoded,
    std::string_view marker_end
)
{
    request_.append(encoded.request, marker_end);
    std::ranges::copy(encoded.commands, std::back_inserter(commands_));
    std::ranges::move(asked, std::back_inserter(asked_));
}

question_ptr batch::take_unanswered() noexcept
{
    if (answered_ < asked_.size())
        return std::move(asked_[answered_++]);
    for (question_list& each : added_)
    {
        if (each.empty())
            continue;
        question_ptr last = std::move(each.back());
        each.pop_back();
        return last;
    }
    return nullptr;
}

void batch::clear()
{
    request_.clear();
    commands_.clear();
    asked_.clear();
    size_ = 0;
    answered_ = 0;
    current_ = 0;
}

}  // namespace redlock::detail
