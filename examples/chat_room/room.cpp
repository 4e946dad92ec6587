#include "chat_room/room.hpp"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <string_view>
#include <utility>

namespace chat {

namespace {

/// Messages that are kept in the form that members get.
constexpr std::size_t max_recent = 256;

/// Coordinators that are kept for a timeline.
constexpr std::size_t max_terms = 64;
constexpr std::size_t max_refusals = 16;

/// Whether an entry in a stream is behind another one. An id is two numbers, like 8002-1.
bool is_behind(std::string_view id, std::string_view other)
{
    const auto numbers = [](std::string_view text) {
        std::pair<std::uint64_t, std::uint64_t> both;
        const std::size_t dash = std::min(text.find('-'), text.size());
        std::from_chars(text.data(), text.data() + dash, both.first);
        if (dash < text.size())
            std::from_chars(text.data() + dash + 1, text.data() + text.size(), both.second);
        return both;
    };
    return numbers(id) > numbers(other);
}

}  // namespace

room::room(
    surroundings with,
    const asio::any_io_executor& executor,
    std::string name,
    const room_status& status,
    const std::vector<coordinator_entry>& coordinators,
    std::function<void()> on_change
)
    : with_(with),
      name_(std::move(name)),
      opened_(status.now),
      began_(status.began),
      last_(status.last),
      deliveries_(with.counts.delivery),
      coordinator_(with, executor, name_, std::move(on_change))
{
    for (const coordinator_entry& each : coordinators)
        add_coordinator(each);
}

frame room::recent(std::uint64_t seq) const
{
    const std::uint64_t before = last_ - recent_.size();
    if (seq <= before || seq > last_)
        return nullptr;
    return recent_[seq - before - 1];
}

position room::reached() const
{
    return {
        name_,
        last_,
        last_coordinator_,
        coordinator_.is_in_charge() ? last_inbox_ : std::string(),
    };
}

void room::on_news(const news& what)
{
    if (!what.last_inbox.empty())
    {
        last_inbox_ = what.last_inbox;
        coordinator_.on_inbox();
    }
    for (const coordinator_entry& each : what.coordinators)
    {
        measure(each);
        add_coordinator(each);
    }
    for (const message& each : what.messages)
        add_message(each);
    if (!what.messages.empty())
    {
        for (member* const each : members_)
            each->on_messages();
    }
}

bool room::is_lost(const room_status& status, std::uint64_t seen) const
{
    return status.began != began_ || status.last < seen;
}

void room::on_lost()
{
    std::cerr << "room " << name_ << ": the store has lost messages" << std::endl;
    for (member* const each : members_)
        each->on_lost();
    stop();
}

void room::on_status(const std::optional<room_status>& status, const std::vector<told_node>& nodes)
{
    const frame told = make_status(with_.how.name, status, nodes);
    for (member* const each : members_)
        each->on_status(told);
}

/// Before the room was opened, nobody here missed a coordinator.
void room::measure(const coordinator_entry& what) const
{
    if (what.server != with_.how.name || !what.ended)
        return;
    // As on the page: from its predecessor's last sign of life, or since someone is here.
    const store_time silent = std::min(*what.ended, what.heard.value_or(*what.ended));
    const store_time somebody = std::max(opened_, what.empty ? what.empty->to : opened_);
    const store_time ms = what.since - std::max(silent, somebody);
    with_.counts.take_over.Observe(static_cast<double>(ms) / 1000);
}

void room::add_message(const message& what)
{
    if (what.seq <= last_)
        return;
    deliveries_.on_message(what.what.id);
    if (what.seq != last_ + 1)  // The log has forgotten what we missed.
        recent_.clear();
    last_ = what.seq;
    recent_.push_back(make_frame(what));
    if (recent_.size() > max_recent)
        recent_.pop_front();
}

void room::add_refusal(const refused_write& what)
{
    refusals_.push_back(what);
    if (refusals_.size() > max_refusals)
        refusals_.erase(refusals_.begin());
    const frame told = make_refusal(what);
    for (member* const each : members_)
        each->on_event(told);
}

void room::add_coordinator(const coordinator_entry& what)
{
    if (!is_behind(what.id, last_coordinator_))
        return;  // Read twice.
    if (what.refused)
    {
        last_coordinator_ = what.id;
        add_refusal(*what.refused);
        return;
    }
    const bool known = find_term(what.fence) != nullptr;
    if (known != what.server.empty())
        return;  // The list has forgotten its beginning.
    last_coordinator_ = what.id;
    if (what.server.empty())
    {
        term* const left = find_term(what.fence);
        left->until = left->heard = what.ended;
        left->left = true;
    }
    else
    {
        term* const before = find_term(what.before);
        if (before != nullptr && !before->left)
        {
            before->until = what.ended;
            before->heard = what.heard;
        }
        terms_.push_back({
            .server = what.server,
            .fence = what.fence,
            .number = what.number,
            .since = what.since,
            .until = std::nullopt,
            .empty = what.empty,
        });
        if (terms_.size() > max_terms)
            terms_.erase(terms_.begin());
    }
    const term* const previous = terms_.size() > 1 ? &terms_[terms_.size() - 2] : nullptr;
    const frame told = make_coordinator(terms_.back(), previous);
    for (member* const each : members_)
        each->on_event(told);
}

term* room::find_term(redlock::fencing_token fence)
{
    const auto found = std::ranges::find(terms_, fence, &term::fence);
    return found == terms_.end() ? nullptr : &*found;
}

}  // namespace chat
