#include "client/extension_round.hpp"

#include "client/client_impl.hpp"

namespace redlock::detail {

void extension_round::on_reply(std::size_t node, const reply& answer) noexcept
{
    const bool granted = answer.vote == vote::granted;
    const bool is_taken_again = granted && answer.why == reason::gone;
    if (!granted || is_taken_again || !expected_.test(node))
        tell(node, granted, is_taken_again);
    round::on_reply(node, answer);
}

void extension_round::tell(std::size_t node, bool granted, bool is_taken_again) noexcept
{
    const auto held = held_.lock();
    if (!held)
        return;
    held->votes.on_vote(node, granted);
    held->client()->holds.on_votes(*held);
    // The key was gone and is set again, with what an extension carries. In guarded mode that isn't
    // all.
    if (held->kept && is_taken_again && guarded())
    {
        rounds& asking = held->client()->rounds;
        wording says{.what = verb::restore, .attempt = attempt(), .announced = held->announced};
        asking.put(node, asking.make<round>(std::move(says)));
    }
}

bool extension_round::wanted() const noexcept
{
    const auto held = held_.lock();
    return round::wanted() && held && held->kept;
}

}  // namespace redlock::detail
