#include "testing/fake_node.hpp"

#include "node/verbs.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace redlock::testing {

namespace {

using detail::question_ptr;
using detail::reply;
using detail::verb;

/// What real nodes say most often in this state.
reason reason_of(node_state state) noexcept
{
    switch (state)
    {
    case node_state::connecting:
    case node_state::ready: break;
    case node_state::down: return reason::down;
    case node_state::rejected: return reason::rejected;
    case node_state::quarantined: return reason::quarantined;
    }
    return reason::none;
}

/// All of one width, so that equal arrivals sort in order of creation.
std::string unique_channel()
{
    static std::atomic<unsigned> count = 1'000'000;
    return std::to_string(++count);
}

}  // namespace

/// A command that was written to the connection.
struct fake_node::flight
{
    kept_question kept;
    rule how;
    reply answer;
    bool over = false;  ///< Answered, or its connection broke.
};

fake_node::fake_node(
    std::size_t index,
    std::shared_ptr<world> time,
    std::shared_ptr<journal> log,
    std::shared_ptr<fake_server> server
)
    : index_(index),
      channel_(unique_channel()),
      time_(std::move(time)),
      log_(std::move(log)),
      server_(std::move(server)),
      status_{"node" + std::to_string(index), node_state::connecting, {}}
{
}

void fake_node::start(std::weak_ptr<owner> of)
{
    owner_ = std::move(of);
    server_->queues.channels[channel_] = weak_from_this();
    becomes(starts_as_.state, starts_as_.because, starts_as_.code);
}

void fake_node::stop() noexcept
{
    becomes(node_state::down, "stopped", boost::asio::error::operation_aborted);
    stopping_ = true;
    later(stops_after_, [](fake_node& self) {
        if (const auto told = std::exchange(self.owner_, {}).lock())
            told->on_node_stopped();
    });
}

std::optional<reply> fake_node::ask(question_ptr asked)
{
    log_->push_back({
        .node = index_,
        .what = asked->what(),
        .key = std::string(asked->key()),
        .id = std::string(asked->id()),
        .ttl = asked->ttl(),
        .at = time_->elapsed(),
    });
    kept_question kept{std::move(asked), log_->size() - 1};
    switch (status_.state)
    {
    case node_state::connecting: waiting_.push_back(std::move(kept)); return std::nullopt;
    case node_state::ready: return put_to_connection(std::move(kept));
    case node_state::quarantined:
        if (sits_out_ && !detail::rules_of(kept.asked->what()).votes)
            return put_to_connection(std::move(kept));
        break;
    case node_state::down:
    case node_state::rejected: break;
    }
    if (detail::rules_of(kept.asked->what()).outlives_link)
        releases_.push_back(std::move(kept));
    return absent_reply();
}

std::size_t fake_node::owed_releases() const noexcept
{
    const bool connected =
        status_.state == node_state::ready || status_.state == node_state::quarantined;
    if (!connected && !reconnects_)
        return 0;
    const auto in_flight = std::ranges::count_if(in_flight_, [](const auto& each) {
        return detail::rules_of(each->kept.asked->what()).gives_back;
    });
    return releases_.size() + static_cast<std::size_t>(in_flight);
}

rule& fake_node::on(verb what)
{
    auto& rules = rules_[what];
    if (!rules.empty() && rules.back().uses_ == rule::always)
        rules.pop_back();
    return rules.emplace_back();
}

void fake_node::becomes(node_state state, std::string because, error_code code)
{
    later(nanoseconds(0), [to = change{state, std::move(because), code}](fake_node& self) {
        self.apply(to);
    });
}

template <class F>
void fake_node::later(nanoseconds delay, F what)
{
    time_->at(time_->elapsed() + delay, [weak = weak_from_this(), what = std::move(what)]() {
        if (const auto self = weak.lock())
            what(*self);
    });
}

rule fake_node::take_rule(verb what)
{
    if (const rule* const failure = fuse_ ? fuse_->count() : nullptr)
        return *failure;

    auto& rules = rules_[what];
    if (rules.empty())
        return {};
    const rule taken = rules.front();
    if (taken.uses_ != rule::always && --rules.front().uses_ == 0)
        rules.pop_front();
    return taken;
}

std::optional<reply> fake_node::put_to_connection(kept_question asked)
{
    const rule how = take_rule(asked.asked->what());
    if (how.at_once_)
    {
        if (detail::rules_of(asked.asked->what()).outlives_link)
            keep(std::move(asked));
        return how.made_up_;
    }
    send(std::move(asked), how);
    return std::nullopt;
}

reply fake_node::absent_reply() const
{
    const vote counts_as = status_.state == node_state::down ? vote::unknown : vote::refused;
    reply told{counts_as, status_.reason, status_.code, status_.because};
    if (status_.state == node_state::quarantined && sits_out_)
        told.ready_in = quarantine_left();
    return told;
}

milliseconds fake_node::quarantine_left() const
{
    const nanoseconds left = server_->guard.quarantined_until - time_->elapsed();
    return std::max(std::chrono::ceil<milliseconds>(left), milliseconds(0));
}

/// A node that is connected but doesn't take a release now sends it a little later.
void fake_node::keep(kept_question release)
{
    releases_.push_back(std::move(release));
    later(milliseconds(5), [](fake_node& self) {
        if (self.status_.state == node_state::ready)
            self.send_kept();
    });
}

void fake_node::send(kept_question asked, const rule& how)
{
    (*log_)[asked.in_journal].sent = true;
    asked.asked->mark_sent(index_);
    const auto command = std::make_shared<flight>(flight{std::move(asked), how, {}});
    in_flight_.push_back(command);
    if (!how.arrives_)
        return;

    last_arrival_ = std::max(last_arrival_, time_->elapsed() + how.runs_after_);
    later(last_arrival_ - time_->elapsed(), [command](fake_node& self) { self.arrive(command); });
}

void fake_node::arrive(const std::shared_ptr<flight>& command)
{
    // The command runs even if its connection has broken by now, because the server has its bytes.
    const rule& how = command->how;
    if (how.away_)
        return break_connection(*how.away_);
    command->answer = how.made_up_
                          ? *how.made_up_
                          : server_->answer(*command->kept.asked, channel_, time_->elapsed());
    if (how.answers_ == 0)
        return;

    last_answer_ = std::max(last_answer_, time_->elapsed() + how.answers_after_);
    if (last_answer_ <= time_->elapsed())
        return deliver(command);
    later(last_answer_ - time_->elapsed(), [command](fake_node& self) { self.deliver(command); });
}

void fake_node::deliver(const std::shared_ptr<flight>& command)
{
    if (std::exchange(command->over, true))
        return;
    std::erase(in_flight_, command);
    const nanoseconds took = time_->elapsed() - (*log_)[command->kept.in_journal].at;
    shortest_ = std::min(shortest_, took);
    for (std::size_t answer = 0; answer < command->how.answers_; ++answer)
        command->kept.asked->on_reply(index_, command->answer);
}

void fake_node::break_connection(milliseconds away)
{
    apply({node_state::down, "connection reset", boost::asio::error::connection_reset});
    reconnects_ = true;
    later(away, [](fake_node& self) {
        if (!self.stopping_)
            self.apply({node_state::ready, {}, {}});
    });
}

void fake_node::apply(change to)
{
    const milliseconds left = quarantine_left();
    if (sits_out_ && to.state == node_state::ready && left > milliseconds(0))
    {
        to.state = node_state::quarantined;
        to.because = "it may have lost locks, so it doesn't vote for " +
                     std::to_string(left.count()) + " ms";
        later(left, [](fake_node& self) {
            if (self.status_.state == node_state::quarantined)
                self.apply({node_state::ready, {}, {}});
        });
    }
    reconnects_ = false;
    if (to.state != node_state::ready)
        shortest_ = nanoseconds::max();
    status_.state = to.state;
    status_.because = to.because;
    status_.reason = reason_of(to.state);
    status_.code = to.code;
    switch (to.state)
    {
    case node_state::connecting: break;
    case node_state::ready: send_kept(); break;
    case node_state::quarantined:
        if (sits_out_)
        {
            send_kept();
            break;
        }
        [[fallthrough]];
    case node_state::down:
    case node_state::rejected: fail_all(); break;
    }
    if (const auto told = owner_.lock())
        told->on_node_change();
}

void fake_node::fail_all()
{
    for (const auto& command : std::exchange(in_flight_, {}))
    {
        command->over = true;
        command->kept.asked->on_reply(
            index_, {vote::unknown, reason::connection_lost, status_.code}
        );
        if (detail::rules_of(command->kept.asked->what()).outlives_link)
            releases_.push_back(command->kept);
    }
    for (const auto& kept : std::exchange(waiting_, {}))
        kept.asked->on_reply(index_, absent_reply());
}

void fake_node::send_kept()
{
    for (auto& kept : std::exchange(waiting_, {}))
    {
        if (!kept.asked->wanted())
            continue;
        const rule how = take_rule(kept.asked->what());
        send(std::move(kept), how);
    }
    for (auto& kept : std::exchange(releases_, {}))
        send(std::move(kept), {});
}

bool fake_node::tell(const detail::news& what)
{
    if (stopping_ || status_.state != node_state::ready)
        return false;
    later(nanoseconds(0), [what, key = std::string(what.key)](fake_node& self) {
        if (const auto told = self.owner_.lock())
            told->on_news(self.index_, {what.what, key, what.number});
    });
    return true;
}

}  // namespace redlock::testing
