#include <redlock/detail/recycling.hpp>

#include "client/client_impl.hpp"
#include "core/limits.hpp"
#include "core/quorum.hpp"
#include "loop/pause.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace redlock::detail {

namespace {

std::chrono::microseconds microseconds_of(std::uint64_t stamp) noexcept
{
    return std::chrono::microseconds(static_cast<std::chrono::microseconds::rep>(stamp));
}

reply not_connected() noexcept
{
    reply answer;
    answer.why = reason::connecting;
    return answer;
}

/// @param stamp Of the question.
void write_vote(node_vote& to, const reply& from, std::uint64_t stamp)
{
    to.vote = from.vote;
    to.reason = from.why;
    to.code = from.code;
    to.text = from.text;
    to.held_for = from.held_for;
    to.position = from.position;
    to.ready_in = from.ready_in;
    if (from.why == reason::clock && from.node_time)
        to.clock_ahead = *from.node_time - microseconds_of(stamp);
    to.round_trip = from.round_trip;
}

}  // namespace

std::shared_ptr<const attempt> client_impl::new_attempt(
    std::shared_ptr<const demand> wanted,
    fencing_token above
)
{
    fencing_token token;
    if (guarded())
        token = fencing_token::from_value(token_clock_.next(time_->wall() + way(), above.value()));
    return make_recycled<attempt>(attempt{std::move(wanted), ids_.next(), token});
}

template <class Round, class... More>
boost::intrusive_ptr<Round> client_impl::make_round(wording says, More&&... more)
{
    says.serial = ++last_serial_;
    says.stamp = stamp_for(says.what, *says.about);
    // The time is taken before anything is sent: validity counts from here.
    round::subject of{std::move(says), nodes_.size(), now()};
    return question::keep(make_recycled<Round>(std::move(of), *turn_, std::forward<More>(more)...));
}

vote_round_ptr client_impl::make_vote(wording says)
{
    return make_round<vote_round>(std::move(says));
}

std::uint64_t client_impl::stamp_for(verb what, const attempt& about) const noexcept
{
    if (guarded() && what == verb::extend)
        return token_clock_.stamp(time_->wall());
    return about.token.value();
}

void client_impl::put(std::size_t node, const boost::intrusive_ptr<round>& asked)
{
    if (const auto answer = nodes_[node]->ask(asked))
        asked->on_reply(node, *answer);
}

void client_impl::put_to_all(const boost::intrusive_ptr<round>& asked)
{
    for (std::size_t node = 0; node < nodes_.size(); ++node)
        put(node, asked);
    set_deadline(*asked);
}

std::chrono::microseconds client_impl::way() const noexcept
{
    if (own_reservation() == milliseconds(0))
        return std::chrono::microseconds(0);
    const core::nanoseconds longest = std::min(config_.node_timeout, config_.clock_window);
    const core::nanoseconds round_trip = std::min(acquisitions_.size().shortest(), longest);
    return std::chrono::duration_cast<std::chrono::microseconds>(round_trip / 2);
}

std::uint64_t client_impl::arrival_now() const noexcept
{
    return token_clock_.stamp(time_->wall());
}

milliseconds client_impl::own_reservation() const noexcept
{
    // Half of it for the way there and back, the rest for what happens at its ends.
    const auto wanted = std::chrono::ceil<milliseconds>(2 * acquisitions_.size().shortest());
    const bool is_near = wanted <= core::reservation_for(config_.node_timeout);
    return is_near ? milliseconds(0) : std::min(wanted, core::longest_reservation);
}

vote_round_ptr client_impl::ask_the_absent(std::shared_ptr<const attempt> about)
{
    const auto asked = make_vote({.what = verb::acquire, .about = std::move(about)});
    for (std::size_t node = 0; node < nodes_.size(); ++node)
    {
        const node_state now = nodes_[node]->status().state;
        if (now == node_state::connecting)
            asked->on_reply(node, not_connected());
        else if (now != node_state::ready)
            put(node, asked);
    }
    return asked;
}

release_round_ptr client_impl::release(
    vote_round& left_behind,
    milliseconds ttl,
    core::queue_move move
)
{
    left_behind.abandon();
    queue_entry entry = left_behind.entry();
    entry.move = move;
    const auto asked = make_round<release_round>(
        {.what = verb::release, .about = left_behind.about(), .ttl = ttl, .entry = entry}
    );
    releases_.add(*asked);
    last_key_ends_ = std::max(last_key_ends_, core::shifted(asked->started(), ttl).steady);
    // A client that leaves the queues has a place where it was denied.
    const bool leaves = move == core::queue_move::leave;
    const node_set touched = leaves ? left_behind.sent() : left_behind.touched();
    for (std::size_t node = 0; node < nodes_.size(); ++node)
    {
        // Everywhere the attempt may have had an effect, or may have one later. Nowhere else.
        if (touched.test(node))
            put(node, asked);
        else
            asked->skip(node);
    }
    set_deadline(*asked);
    return asked;
}

void client_impl::watch_key(std::shared_ptr<const attempt> about)
{
    put_to_all(
        make_round<watch_round>({.what = verb::watch, .about = std::move(about)}, weak_from_this())
    );
}

void client_impl::leave_queues(const std::shared_ptr<const attempt>& about)
{
    put_to_all(make_round<whole_round>({.what = verb::leave, .about = about}));
}

/// What of a key is the resource. Nothing: it is no key of this client.
std::optional<std::string_view> client_impl::resource_of(std::string_view key) const noexcept
{
    const std::string& prefix = config_.key_prefix;
    if (!key.starts_with(prefix))
        return std::nullopt;
    const std::string_view resource = key.substr(prefix.size());
    if (resource.empty() || resource.size() > core::max_resource_size)
        return std::nullopt;
    return resource;
}

void client_impl::on_next(std::size_t node, std::string_view key, milliseconds reserved)
{
    const auto resource = resource_of(key);
    waiter* const head = resource ? lines_.head_of(*resource) : nullptr;
    if (!head)
        return;
    // A node's own count may be a millisecond behind ours.
    reserved = std::clamp(reserved, milliseconds(0), core::longest_reservation) + milliseconds(2);
    const auto end = core::shifted(now(), reserved).steady;
    if (!head->on_next(node, core::quorum_size(nodes_.size()), end))
        return;
    pause& sleep = head->sleep();
    if (!sleep.deadline::is_linked() || sleep.due() <= end)
        return;
    sleep.forget();
    deadlines_->add(sleep, end);
}

void client_impl::on_wake(std::size_t node, std::string_view key)
{
    const auto found = resource_of(key);
    if (!found)
        return;
    const std::string_view resource = *found;
    if (waiter* const head = lines_.head_of(resource))
        return head->on_wake(node, core::quorum_size(nodes_.size()));
    // Nobody waits any more, and the next one should not wait for the reservation to end.
    demand nothing(resource, acquire_options());
    nothing.put_in_front(config_.key_prefix);
    const auto about = new_attempt(make_recycled<demand>(std::move(nothing)), fencing_token());
    put(node, make_round<whole_round>({.what = verb::leave, .about = about}));
}

whole_round_ptr client_impl::ask_holders(const vote_round& lost)
{
    const auto asked = make_round<whole_round>({.what = verb::holder, .about = lost.about()});
    const node_set deniers = lost.deniers();
    for (std::size_t node = 0; node < nodes_.size(); ++node)
    {
        if (deniers.test(node))
            put(node, asked);
        else
            asked->skip(node);
    }
    set_deadline(*asked);
    return asked;
}

void client_impl::set_deadline(round& asked)
{
    set_deadline(asked, core::shifted(asked.started(), config_.node_timeout).steady);
}

void client_impl::set_deadline(round& asked, time_point until)
{
    asked.forget();
    if (!asked.decided())
        deadlines_->add(asked, until);
}

bool client_impl::correct_stamp(const vote_round& lost, fencing_token& above)
{
    if (!lost.guarded())
        return false;

    std::vector<std::chrono::microseconds> node_times;
    for (std::size_t node = 0; node < lost.node_count(); ++node)
    {
        const auto answer = lost.answer_of(node);
        if (answer && answer->node_time)
            node_times.push_back(*answer->node_time);
    }
    // So many are a majority, or deny one together with those that are away. Who follows wrong ones
    // loses rounds and nothing else: the nodes check every stamp. When a late answer was given is
    // not known. A clock that a node has accepted is not given up for that of a few others, or the
    // client follows one after the other.
    const bool accepted = lost.tally().granted() > 0;
    const std::size_t away = accepted ? 0 : lost.node_count() - lost.sent().count();
    const bool enough = node_times.size() + away > core::spare_nodes(lost.node_count());
    const auto elapsed = now().steady - lost.started().steady;
    if (enough && !node_times.empty() && elapsed <= config_.node_timeout)
    {
        const auto halfway = std::chrono::duration_cast<std::chrono::microseconds>(elapsed / 2);
        token_clock_.learn(std::move(node_times), time_->wall() - halfway);
    }
    // A fence beyond the window is of no use: the other nodes would refuse a token above it.
    const auto latest = token_clock_.stamp(time_->wall() + config_.clock_window);
    for (std::size_t node = 0; node < lost.node_count(); ++node)
    {
        const auto answer = lost.answer_of(node);
        if (answer && answer->fence.value() < latest)
            above = std::max(above, answer->fence);
    }
    const std::size_t open = lost.tally().granted() + lost.unanswered();
    const std::size_t mended = lost.count_of(reason::fence) + lost.count_of(reason::clock);
    return mended > 0 && open + mended >= core::quorum_size(lost.node_count());
}

core::nanoseconds client_impl::first_delay() const noexcept
{
    if (config_.retry.first_delay > milliseconds(0))
        return config_.retry.first_delay;
    // Comparably longer than a round, so that a competitor can finish his; and never nothing.
    return std::max<core::nanoseconds>(4 * round_time_.value(), milliseconds(1));
}

void client_impl::write_report(
    diagnostics& report,
    std::size_t rounds,
    const vote_round& asked,
    const whole_round* holders
) const
{
    report.rounds = rounds;
    report.quorum = core::quorum_size(nodes_.size());
    report.votes.clear();
    for (std::size_t node = 0; node < nodes_.size(); ++node)
    {
        node_vote& to = report.votes.emplace_back();
        to.node = nodes_[node]->status().node;
        if (const auto answer = asked.answer_of(node))
            write_vote(to, *answer, asked.stamp());
        if (const auto told = holders ? holders->answer_of(node) : std::nullopt)
            to.held_for = told->held_for;
    }
}

}  // namespace redlock::detail
