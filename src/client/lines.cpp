#include "client/lines.hpp"

#include <boost/multi_index/composite_key.hpp>
#include <boost/multi_index/member.hpp>
#include <boost/multi_index/ordered_index.hpp>
#include <boost/multi_index/ranked_index.hpp>
#include <boost/multi_index_container.hpp>

#include <algorithm>
#include <tuple>

namespace redlock::detail {

namespace mi = boost::multi_index;

class followers
{
public:
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

    void add(waiter& last) { all_.insert(&last); }
    void remove(waiter& leaving) noexcept { all_.erase(leaving.ticket_); }

    [[nodiscard]] waiter& first() const noexcept { return **all_.begin(); }

    /// How many are before it.
    [[nodiscard]] std::size_t before(const waiter& of) const noexcept
    {
        return all_.find_rank(of.ticket_);
    }

    /// The first one of the owner behind a ticket, or null.
    [[nodiscard]] waiter* next_of(owner who, std::uint64_t ticket) const noexcept
    {
        const auto& owned = all_.get<1>();
        const auto found = owned.upper_bound(std::make_tuple(who, ticket));
        return found == owned.end() || (*found)->owner_ != who ? nullptr : *found;
    }

    void clear() noexcept
    {
        for (waiter* const each : all_)
            each->line_ = nullptr;
        all_.clear();
    }

private:
    using by_ticket = mi::member<waiter, std::uint64_t, &waiter::ticket_>;
    using by_owner = mi::member<waiter, redlock::owner, &waiter::owner_>;

    mi::multi_index_container<
        waiter*,
        mi::indexed_by<
            mi::ranked_unique<by_ticket>,
            mi::ordered_unique<mi::composite_key<waiter, by_owner, by_ticket>>>>
        all_;
};

void delete_followers::operator()(followers* of) const noexcept
{
    delete of;
}

void waiter::leave() noexcept
{
    if (line_)
        in_->remove(*this, held_here_);
}

void waiter::leave_to_hold() noexcept
{
    if (line_)
        in_->remove(*this, true);
}

std::uint64_t waiter::waits_since(std::uint64_t own, std::uint64_t era) noexcept
{
    line_->enter_era(era);
    since_ = std::max(own, line_->turn_began);
    if (line_->left_behind != 0)
        since_ = std::min(since_, line_->left_behind);
    return since_;
}

void waiter::on_wake(std::size_t by, std::size_t enough) noexcept
{
    woken_by_.set(by);
    if (woken_ || woken_by_.count() < enough)
        return;
    woken_ = true;
    sleep_.wake({});
}

bool waiter::on_next(std::size_t by, std::size_t enough, time_point reserved) noexcept
{
    next_by_.set(by);
    if (next_by_.count() < enough)
        return false;
    next_ = reserved;
    return true;
}

void waiter::pass_on() noexcept
{
    if (!std::exchange(told_to_look_, false) || !line_->behind)
        return;
    if (waiter* const next = line_->behind->next_of(owner_, ticket_))
    {
        next->told_to_look_ = true;
        next->sleep_.wake({});
    }
}

bool waiter::follows_its_owner() const noexcept
{
    return owner_ != owner::none && !is_head() && line_->head->owner_ == owner_;
}

line_position waiter::position() const noexcept
{
    const std::size_t length = 1 + (line_->behind ? line_->behind->size() : 0);
    return {is_head() ? 1 : 2 + line_->behind->before(*this), length};
}

void lines::enter(waiter& last)
{
    const auto [at, first] = lines_.try_emplace(last.resource_, line{&last});
    line& to = at->second;
    last.ticket_ = ++to.last_ticket;
    if (!first)
    {
        if (!to.behind)
            to.behind.reset(new followers);
        to.behind->add(last);
    }
    last.in_ = this;
    last.line_ = &to;
    set_size(size() + 1);
}

void lines::remove(waiter& leaving, bool held_here) noexcept
{
    // It may have been told to look, but leave before it does.
    leaving.pass_on();
    line& from = *leaving.line_;
    set_size(size() - 1);
    if (from.head == &leaving)
        remove_head(leaving, from, held_here);
    else
        from.behind->remove(leaving);
    leaving.line_ = nullptr;
}

void lines::remove_head(waiter& leaving, line& from, bool held_here) noexcept
{
    auto entry = lines_.extract(leaving.resource_);
    if (!from.behind || from.behind->size() == 0)
        return;
    // One of its owner tells the next one.
    leaving.told_to_look_ = leaving.owner_ != owner::none;
    leaving.pass_on();
    if (held_here)
        from.left_behind = 0;
    else if (leaving.since_ != 0)
        from.left_behind = leaving.since_;
    waiter& next = from.behind->first();
    from.behind->remove(next);
    from.head = &next;
    next.held_here_ = held_here;
    // The key was a view of what leaves.
    entry.key() = next.resource_;
    lines_.insert(std::move(entry));
    if (!held_here)
        next.sleep_.wake({});
}

void lines::on_hold_end(const hashed_name& resource, std::uint64_t now, std::uint64_t era) noexcept
{
    line* const found = find(resource);
    if (!found)
        return;
    found->enter_era(era);
    found->turn_began = now;
    found->head->held_here_ = false;
    found->head->sleep_.wake({});
}

waiter* lines::head_of(const hashed_name& resource) noexcept
{
    line* const found = find(resource);
    return found ? found->head : nullptr;
}

line* lines::find(const hashed_name& resource) noexcept
{
    if (lines_.empty())
        return nullptr;
    const auto found = lines_.find(resource);
    return found == lines_.end() ? nullptr : &found->second;
}

void lines::clear() noexcept
{
    for (auto& [resource, each] : lines_)
    {
        if (each.behind)
            each.behind->clear();
        each.head->line_ = nullptr;
    }
    lines_.clear();
}

}  // namespace redlock::detail
