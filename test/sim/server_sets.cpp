// The commands for sorted sets, each as Redis 7.0 has it.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "sim/server.hpp"
#include "sim/server_words.hpp"

namespace redlock::sim {

namespace {

/// With "inf", but not "nan".
std::optional<double> to_score(const std::string& text)
{
    if (text.empty() || std::isspace(static_cast<unsigned char>(text.front())))
        return std::nullopt;
    char* end = nullptr;
    const double score = std::strtod(text.c_str(), &end);
    if (end != text.c_str() + text.size() || std::isnan(score))
        return std::nullopt;
    return score;
}

answer show_score(double score)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", score);
    answer made = answer::bulk(text);
    made.what = answer::kind::real;
    return made;
}

/// Members and their scores.
class score_list
{
public:
    /// @param in_pairs Each member has a list of its own.
    explicit score_list(bool in_pairs) : in_pairs_(in_pairs) {}

    void add(const sorted_set::member& of)
    {
        std::vector<answer> both{answer::bulk(of.name), show_score(of.score)};
        if (in_pairs_)
            made_.elements.push_back(answer::array(std::move(both)));
        else
            std::ranges::move(both, std::back_inserter(made_.elements));
    }

    [[nodiscard]] answer take() { return std::move(made_); }

private:
    bool in_pairs_;
    answer made_ = answer::array({});
};

/// What ZADD was asked for.
struct addition
{
    bool only_new = false;
    bool only_old = false;
    bool only_less = false;
    std::vector<sorted_set::member> members{};
    std::optional<answer> refused{};
};

addition read_addition(const arguments& with)
{
    addition made;
    std::size_t at = 2;
    for (; at < with.size(); ++at)
    {
        if (iequals(with[at], "NX"))
            made.only_new = true;
        else if (iequals(with[at], "XX"))
            made.only_old = true;
        else if (iequals(with[at], "LT"))
            made.only_less = true;
        else
            break;
    }
    if (at == with.size() || (with.size() - at) % 2 != 0)
        made.refused = answer::error(syntax_error);
    else if (made.only_new && made.only_old)
        made.refused = answer::error("ERR XX and NX options at the same time are not compatible");
    else if (made.only_new && made.only_less)
        made.refused =
            answer::error("ERR GT, LT, and/or NX options at the same time are not compatible");
    for (; !made.refused && at < with.size(); at += 2)
    {
        if (const auto score = to_score(with[at]))
            made.members.push_back({*score, with[at + 1]});
        else
            made.refused = answer::error("ERR value is not a valid float");
    }
    return made;
}

}  // namespace

server::found_set server::find_set(const call& by)
{
    const entry* const found = find(by, by.with[1]);
    if (!found)
        return {};
    const auto* const members = std::get_if<sorted_set>(&found->value);
    return {members, members ? std::nullopt : std::optional(answer::error(wrong_type))};
}

/// Keeps the rest of a set. One that is empty is gone.
void server::keep_set(const call& by, sorted_set left)
{
    if (left.size() == 0)
        return erase(by, by.with[1]);
    const entry* const before = find(by, by.with[1]);
    entry after;
    if (before)
    {
        after.expires = before->expires;
        after.writer = before->writer;
    }
    after.value = std::move(left);
    put(by, by.with[1], std::move(after));
}

answer server::zadd(const call& by)
{
    addition asked = read_addition(by.with);
    if (asked.refused)
        return *asked.refused;
    const auto [before, refused] = find_set(by);
    if (refused)
        return *refused;
    sorted_set after = before ? *before : sorted_set();
    std::int64_t added = 0;
    for (sorted_set::member& each : asked.members)
    {
        const std::size_t rank = after.rank(each.name);
        const bool is_there = rank < after.size();
        if (is_there ? asked.only_new : asked.only_old)
            continue;
        if (is_there && asked.only_less && each.score >= after.members()[rank].score)
            continue;
        if (is_there)
            after.erase(rank);
        after.insert(std::move(each));
        added += !is_there;
    }
    if (before ? after != *before : after.size() > 0)
        keep_set(by, std::move(after));
    return answer::integer(added);
}

answer server::zrem(const call& by)
{
    const auto [before, refused] = find_set(by);
    if (refused)
        return *refused;
    if (!before)
        return answer::integer(0);
    sorted_set after = *before;
    for (std::size_t i = 2; i < by.with.size(); ++i)
    {
        if (const std::size_t rank = after.rank(by.with[i]); rank < after.size())
            after.erase(rank);
    }
    const auto removed = static_cast<std::int64_t>(before->size() - after.size());
    if (removed > 0)
        keep_set(by, std::move(after));
    return answer::integer(removed);
}

answer server::zpopmin(const call& by)
{
    if (by.with.size() > 3)
        return answer::error(syntax_error);
    const auto count = by.with.size() == 3 ? to_integer(by.with[2]) : 1;
    if (!count || *count < 0)
        return answer::error("ERR value is out of range, must be positive");
    const auto [before, refused] = find_set(by);
    if (refused)
        return *refused;
    score_list taken(by.with.size() == 3 && by.speaks_resp3());
    if (!before || *count == 0)
        return taken.take();
    sorted_set after = *before;
    for (std::int64_t left = *count; left > 0 && after.size() > 0; --left)
    {
        taken.add(after.members().front());
        after.erase(0);
    }
    keep_set(by, std::move(after));
    return taken.take();
}

answer server::zrange(const call& by)
{
    bool with_scores = false;
    for (std::size_t i = 4; i < by.with.size(); ++i)
    {
        if (!iequals(by.with[i], "WITHSCORES"))
            return answer::error(syntax_error);
        with_scores = true;
    }
    auto first = to_integer(by.with[2]);
    auto last = to_integer(by.with[3]);
    if (!first || !last)
        return answer::error(not_an_integer);
    const auto [set, refused] = find_set(by);
    if (refused)
        return *refused;
    const auto size = set ? static_cast<std::int64_t>(set->size()) : 0;
    for (auto* each : {&first, &last})
    {
        if (**each < 0)
            **each += size;
    }
    score_list scores(by.speaks_resp3());
    answer names = answer::array({});
    for (std::int64_t i = std::max<std::int64_t>(*first, 0); i < size && i <= *last; ++i)
    {
        const sorted_set::member& each = set->members()[static_cast<std::size_t>(i)];
        if (with_scores)
            scores.add(each);
        else
            names.elements.push_back(answer::bulk(each.name));
    }
    return with_scores ? scores.take() : names;
}

answer server::zrank(const call& by)
{
    const auto [set, refused] = find_set(by);
    if (refused)
        return *refused;
    const std::size_t rank = set ? set->rank(by.with[2]) : 0;
    if (!set || rank == set->size())
        return answer::null();
    return answer::integer(static_cast<std::int64_t>(rank));
}

answer server::zcard(const call& by)
{
    const auto [set, refused] = find_set(by);
    if (refused)
        return *refused;
    return answer::integer(set ? static_cast<std::int64_t>(set->size()) : 0);
}

answer server::zscore(const call& by)
{
    const auto [set, refused] = find_set(by);
    if (refused)
        return *refused;
    const std::size_t rank = set ? set->rank(by.with[2]) : 0;
    if (!set || rank == set->size())
        return answer::null();
    return show_score(set->members()[rank].score);
}

}  // namespace redlock::sim
