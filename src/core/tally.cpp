#include "core/tally.hpp"

#include <boost/assert.hpp>

namespace redlock::core {

tally::tally(electorate voters, aim of) noexcept
    : voters_(voters), missing_(voters.size()), aim_(of)
{
    BOOST_ASSERT(voters.size() >= 1);
    BOOST_ASSERT(voters.size() <= 255);
}

void tally::on_vote(vote value) noexcept
{
    BOOST_ASSERT(missing_ > 0);

    ++counts_[static_cast<std::size_t>(value)];
    --missing_;
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

verdict tally::decide() const noexcept
{
    if (aim_ == aim::all)
        return missing_ == 0 ? verdict::granted : verdict::undecided;
    if (granted() >= voters_.quorum() || (aim_ == aim::answers && answered()))
        return verdict::granted;

    // The cause decides what a caller can do: unreachable needs an operator, contended patience.
    // A held resource with two of five nodes down is contended. Otherwise try_acquire would throw.
    const std::size_t spare = voters_.spare();
    if (unknown() > spare)
        return verdict::unreachable;
    const std::size_t denials = aim_ == aim::grants ? denied() : 0;
    if (unknown() + refused() + denials <= spare)
        return verdict::undecided;
    if (denials > 0)
        return verdict::contended;
    return refused() > 0 ? verdict::rejected : verdict::unreachable;
}

}  // namespace redlock::core
