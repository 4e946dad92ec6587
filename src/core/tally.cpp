#include "core/tally.hpp"

#include "core/quorum.hpp"

#include <boost/assert.hpp>

namespace redlock::core {

tally::tally(std::size_t node_count) noexcept : node_count_(node_count)
{
    BOOST_ASSERT(node_count >= 1);
    BOOST_ASSERT(node_count <= 255);
}

void tally::on_vote(vote value) noexcept
{
    BOOST_ASSERT(!complete());

    switch (value)
    {
    case vote::granted: ++granted_; break;
    case vote::denied: ++denied_; break;
    case vote::refused: ++refused_; break;
    case vote::unknown: ++unknown_; break;
    }
    if (verdict_ == verdict::undecided)
        verdict_ = decide();
}

verdict tally::at(instant now, instant deadline) const noexcept
{
    // After the deadline a quorum is worthless: the first node that granted may have dropped the
    // key by now, and another client may hold it. The cause of a lost round doesn't change with
    // time.
    const bool open = verdict_ == verdict::granted || verdict_ == verdict::undecided;
    return open && reached(now, deadline) ? verdict::too_late : verdict_;
}

bool tally::denied_by_majority() const noexcept
{
    return denied_ > spare_nodes(node_count_);
}

bool tally::complete() const noexcept
{
    return granted_ + denied_ + refused_ + unknown_ == node_count_;
}

verdict tally::decide() const noexcept
{
    if (granted_ >= quorum_size(node_count_))
        return verdict::granted;

    // The cause decides what a caller can do: unreachable needs an operator, contended patience.
    // A held resource with two of five nodes down is contended. Otherwise try_acquire would throw.
    const std::size_t spare = spare_nodes(node_count_);
    if (unknown_ > spare)
        return verdict::unreachable;
    if (unknown_ + refused_ + denied_ <= spare)
        return verdict::undecided;
    if (denied_ > 0)
        return verdict::contended;
    return refused_ > 0 ? verdict::rejected : verdict::unreachable;
}

}  // namespace redlock::core
