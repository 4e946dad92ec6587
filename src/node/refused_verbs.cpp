#include "node/refused_verbs.hpp"

#include <algorithm>
#include <cstddef>

namespace redlock::detail {

namespace {

std::string_view kind_of(std::string_view words) noexcept
{
    return words.substr(0, words.find(' '));
}

}  // namespace

void refused_verbs::on_error(verb what, std::string_view words, time_point now)
{
    refused& known = verbs_[static_cast<std::size_t>(what)];
    const bool same_kind = kind_of(known.words) == kind_of(words);
    if (!same_kind && !known.words.empty() && now < known.last_error + quiet)
        return;
    if (!same_kind)
        known.words = words;
    known.last_error = now;
}

void refused_verbs::on_answer(verb what, time_point now) noexcept
{
    refused& known = verbs_[static_cast<std::size_t>(what)];
    if (now >= known.last_error + quiet)
        known.words.clear();
}

std::optional<std::string> refused_verbs::take_change()
{
    const refused* const shown = first();
    std::string words = shown ? shown->words : std::string();
    if (kind_of(words) == told_)
        return std::nullopt;
    told_ = kind_of(words);
    return words;
}

const refused_verbs::refused* refused_verbs::first() const noexcept
{
    const auto* const found =
        std::ranges::find_if(verbs_, [](const refused& each) { return !each.words.empty(); });
    return found == verbs_.end() ? nullptr : found;
}

}  // namespace redlock::detail
