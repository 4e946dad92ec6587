#include "client/lines.hpp"

#include <iterator>
#include <utility>

namespace redlock::detail {

void waiter::leave() noexcept
{
    if (in_)
        in_->remove(*this, held_here_);
}

void waiter::leave_to_hold() noexcept
{
    if (in_)
        in_->remove(*this, true);
}

void waiter::on_wake(std::size_t by, std::size_t enough) noexcept
{
    woken_by_.set(by);
    if (woken_ || woken_by_.count() < enough)
        return;
    woken_ = true;
    sleep_.wake({});
}

const waiter& waiter::head() const noexcept
{
    return is_head_ ? *this : *in_->heads_.find(resource_)->second;
}

bool waiter::follows_its_owner() const noexcept
{
    return owner_ != owner::none && !is_head_ && head().owner_ == owner_;
}

waiting_place waiter::place() const noexcept
{
    const list& behind = head().behind_;
    const std::size_t length = 1 + behind.size();
    if (is_head_)
        return {1, length};
    const auto before = std::distance(behind.begin(), behind.iterator_to(*this));
    return {2 + static_cast<std::size_t>(before), length};
}

void lines::enter(waiter& last)
{
    const auto [at, first] = heads_.try_emplace(last.resource_, &last);
    last.is_head_ = first;
    last.in_ = this;
    set_size(size() + 1);
    if (!first)
        at->second->behind_.push_back(last);
}

void lines::remove(waiter& leaving, bool held_here) noexcept
{
    leaving.in_ = nullptr;
    set_size(size() - 1);
    if (!leaving.is_head_)
    {
        leaving.unlink();
        return;
    }

    auto entry = heads_.extract(leaving.resource_);
    if (leaving.behind_.empty())
        return;
    wake_owner(leaving);
    waiter& next = leaving.behind_.front();
    leaving.behind_.pop_front();
    next.behind_.swap(leaving.behind_);
    next.is_head_ = true;
    next.held_here_ = held_here;
    // The key has been a view of what leaves.
    entry.key() = next.resource_;
    entry.mapped() = &next;
    heads_.insert(std::move(entry));
    if (!held_here)
        next.sleep_.wake({});
}

void lines::wake_owner(waiter& leaving) noexcept
{
    if (leaving.owner_ == owner::none)
        return;
    for (waiter& each : leaving.behind_)
    {
        if (each.owner_ == leaving.owner_)
            each.sleep_.wake({});
    }
}

void lines::on_hold_end(std::string_view resource) noexcept
{
    waiter* const head = head_of(resource);
    if (!head)
        return;
    head->held_here_ = false;
    head->sleep_.wake({});
}

waiter* lines::head_of(std::string_view resource) noexcept
{
    if (heads_.empty())
        return nullptr;
    const auto found = heads_.find(resource);
    return found == heads_.end() ? nullptr : found->second;
}

void lines::clear() noexcept
{
    for (const auto& [resource, head] : heads_)
    {
        while (!head->behind_.empty())
        {
            head->behind_.front().in_ = nullptr;
            head->behind_.pop_front();
        }
        head->in_ = nullptr;
    }
    heads_.clear();
}

}  // namespace redlock::detail
