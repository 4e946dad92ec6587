#include "sim/invariants.hpp"

#include "core/hold_value.hpp"
#include "core/quarantine.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <optional>
#include <ranges>

namespace redlock::sim {

namespace {

constexpr std::string_view marker_key = "redlock:marker";
constexpr std::string_view quarantine_key = "redlock:quarantine";
constexpr std::string_view own_prefix = "redlock:";
constexpr std::string_view kept_id = "kept";

std::string describe(const claim& of)
{
    return of.in->name() + " holds " + of.resource + " with token " + to_string(of.token);
}

/// Empty: the value has none.
fencing_token token_of(const entry& key)
{
    const std::string* const value = key.text();
    return value ? core::read_hold_value(*value).token : fencing_token();
}

/// The id in a value, which is all that a value has in plain mode. Nothing: it is no text.
std::optional<std::string> holder_of(const entry& key)
{
    const std::string* const value = key.text();
    return value ? std::optional(value->substr(0, value->find(' '))) : std::nullopt;
}

}  // namespace

invariants::invariants(const plan& of, schedule& time, trace& told, node_list nodes)
    : plan_(of),
      time_(time),
      trace_(told),
      nodes_(std::move(nodes)),
      endings_(of),
      marks_live_(core::quarantine_for(of.ttl_max, of.clock_window))
{
}

fencing_token invariants::highest(const std::string& resource) const
{
    const auto found = tokens_.find(resource);
    return found == tokens_.end() ? fencing_token() : found->second.highest;
}

invariants::claim_ptr invariants::begin(claim granted, fencing_token before)
{
    ++begun_;
    trace_.note(granted.in->name(), "holds", granted.resource, granted.token.value());
    i3_tokens_increase(granted, before);
    i16_a_grace_is_over(granted);
    i17_the_time_has_passed(granted);
    claims_.push_back(std::make_shared<claim>(std::move(granted)));
    return claims_.back();
}

void invariants::end(const claim_ptr& of)
{
    trace_.note(of->in->name(), "ends its claim on", of->resource, of->token.value());
    if (rolls_ && !of->seen_over)
        i19_no_extended_claim_is_lost(*of, valid(*of) && !of->cut_short);
    std::erase(claims_, of);
}

void invariants::client_is_closing(unsigned client)
{
    for (const claim_ptr& each : claims_)
        each->closing = each->closing || each->client == client;
}

/// `expired()` leaves a mark if the deadline has passed, which the other question does not.
bool invariants::valid(claim& of) const
{
    if (!of.in->alive())
        return false;
    if (plan_.looks || of.closing)
        return !of.held->expired();
    return !detail::loss_of(*of.held, boost::asio::error::operation_aborted);
}

void invariants::check()
{
    valid_.clear();
    for (const claim_ptr& each : claims_)
    {
        const bool is_valid = valid(*each);
        if (rolls_ && !each->seen_over)
            i19_no_extended_claim_is_lost(*each, is_valid);
        i7_a_loss_is_final(*each, is_valid);
        i7_a_loss_is_told_in_time(*each);
        if (is_valid)
            valid_.push_back(each.get());
    }
    i1_valid_claims_are_disjoint();
    for (claim* each : valid_)
    {
        i2_a_quorum_holds_the_attempt(*each);
        i15_a_revoked_claim_has_ended(*each);
    }
}

void invariants::i1_valid_claims_are_disjoint()
{
    for (std::size_t i = 0; i < valid_.size(); ++i)
    {
        for (std::size_t j = i + 1; j < valid_.size(); ++j)
        {
            const claim& one = *valid_[i];
            const claim& other = *valid_[j];
            const bool shared = one.client == other.client && one.owner == other.owner &&
                                one.owner != redlock::owner::none && one.token == other.token;
            if (one.resource == other.resource && !shared)
                break_rule("I1", describe(one) + " while " + describe(other));
        }
    }
}

void invariants::i2_a_quorum_holds_the_attempt(claim& of)
{
    const nanoseconds deadline =
        of.in->was_suspended() ? time_.elapsed() : of.in->when(of.held->valid_until());
    std::size_t backing = 0;
    const auto backs_it = [&](const server* each) { return backs(*each, of, deadline); };
    for (const auto& servers : nodes_)
        backing += std::ranges::all_of(servers, backs_it);
    if (backing < majority_of(plan_.nodes))
        break_rule("I2", describe(of) + ", and " + std::to_string(backing) + " nodes keep it so");
}

/// Whether a server will not grant the resource to anybody else before `until`.
bool invariants::backs(const server& node, const claim& of, nanoseconds until) const
{
    const entry* const key = node.look(of.resource);
    if (key && key->writer == of.client && node.gone_at(*key) >= until)
        return true;
    if (!node.up() && node.back_at() >= until)
        return true;
    // A replica grants nothing. Once it's promoted, it starts a quarantine.
    if (plan_.fails_over() && node.is_replica())
        return true;
    return plan_.guarded() && is_shut(node, until);
}

/// Whether a node cannot vote in any case: it has lost something, or its clock is far away.
bool invariants::is_shut(const server& node, nanoseconds until) const
{
    if (std::ranges::find(excluded_, &node) != excluded_.end())
        return true;
    const entry* const marker = node.look(marker_key);
    if (!marker)
        return true;
    const entry* const quarantine = node.look(quarantine_key);
    if (quarantine && node.gone_at(*quarantine) >= until)
        return true;
    // It starts a quarantine with the first client that meets it.
    const std::string* const text = marker->text();
    const bool keeps_all = node.durable() && !node.was_replica();
    return !keeps_all && (!text || text->find(plan_.incarnation(node)) == std::string::npos);
}

void invariants::i3_tokens_increase(const claim& granted, fencing_token before)
{
    if (!plan_.guarded())
        return;
    tokens& known = tokens_[granted.resource];
    const bool shares = granted.owner != redlock::owner::none && granted.owner == known.owner &&
                        granted.client == known.client && granted.token == known.highest;
    if (shares)
        return;
    claim copy = granted;
    const bool in_force = valid(copy);
    if (granted.token <= before)
        break_rule("I3", describe(granted) + ", and before it there was " + to_string(before));
    else if (in_force && granted.token <= known.highest)
        break_rule("I3", describe(granted) + " after " + to_string(known.highest));
    if (granted.token > known.highest)
        known = {granted.token, granted.client, granted.owner};
}

std::optional<std::uint64_t> invariants::read_store(
    const std::string& resource,
    fencing_token token
)
{
    store& of = stores_[resource];
    if (plan_.of != profile::unfenced_reads && !of.fence.accept(token))
        return std::nullopt;
    trace_.note("store", "is read with", token.value(), of.version);
    return of.version;
}

bool invariants::write_store(
    const std::string& resource,
    fencing_token token,
    std::uint64_t based_on
)
{
    store& of = stores_[resource];
    if (!of.fence.accept(token))
        return false;
    i4_no_update_is_lost(of, based_on, to_string(token));
    ++of.version;
    trace_.note("store", "is written with", token.value(), of.version);
    return true;
}

std::uint64_t invariants::read_unfenced(const std::string& resource)
{
    return stores_["unfenced " + resource].version;
}

void invariants::write_unfenced(const std::string& resource, std::uint64_t based_on)
{
    store& of = stores_["unfenced " + resource];
    i4_no_update_is_lost(of, based_on, "an unfenced writer");
    ++of.version;
}

void invariants::i4_no_update_is_lost(const store& of, std::uint64_t based_on, std::string_view who)
{
    if (based_on == of.version)
        return;
    break_rule(
        "I4",
        std::string(who) + " has written over version " + std::to_string(of.version) +
            ", having read " + std::to_string(based_on)
    );
}

void invariants::on_change(const key_change& change)
{
    if (change.key.starts_with(own_prefix))
        return;
    i5_only_its_own_key(change);
    i6_keys_end_with_their_ttl(change);
    i18_nothing_comes_after_a_release(change);
    if (rolls_ && change.after)
        last_set_[{&change.where, std::string(change.key)}] = time_.elapsed();
}

void invariants::on_run(const command_run& run)
{
    for (const ended_attempt& each : endings_.read(run))
    {
        // For a token from the future a release leaves nothing. When the node's time gets there,
        // the acquisition may still arrive.
        const std::chrono::microseconds issued(each.token.value());
        const std::string note = each.key + ' ' + each.id;
        if (issued - run.where.now() <= plan_.clock_window && !run.where.has_noted(note))
            run.where.note_with_data(note, marks_live_);
    }
}

void invariants::i5_only_its_own_key(const key_change& change)
{
    if (!change.before)
        return;
    const auto holder = holder_of(*change.before);
    const fencing_token of = token_of(*change.before);
    const std::string token = of ? to_string(of) : std::string();
    // What is kept is nobody's. Anybody may free it, and it gives way to a later hold.
    if (holder == kept_id && (!change.after || token_of(*change.after) > token_of(*change.before)))
        return;
    // A revocation names the token.
    const bool names_it = std::ranges::any_of(change.command, [&](const std::string& word) {
        return word == holder || word == token;
    });
    const bool keeps = change.after && holder_of(*change.after) == kept_id && holder != kept_id;
    const bool rewrites = change.after && holder_of(*change.after) != holder && !keeps;
    const bool shortens = change.after && change.after->expires < change.before->expires &&
                          change.after->expires != entry::never && !keeps;
    if (!names_it || rewrites)
        break_rule(
            "I5",
            "a command of client " + std::to_string(change.client) + " changes " +
                std::string(change.key) + ", which is not its own"
        );
    else if (shortens)
        break_rule("I5", "a command shortens the life of " + std::string(change.key));
}

void invariants::i6_keys_end_with_their_ttl(const key_change& change)
{
    // A clock that was set back lets a key live longer. No command did that.
    const bool keeps =
        change.before && change.after && change.before->expires == change.after->expires;
    if (!change.after || keeps)
        return;
    const std::int64_t left = change.after->expires - change.where.now_ms();
    const bool is_kept = holder_of(*change.after) == kept_id;
    // A token may be ahead of the node by the window.
    const milliseconds longest =
        is_kept ? plan_.longest_at_least() + plan_.clock_window : plan_.ttl_max;
    if (change.after->expires == entry::never || left > longest.count())
        break_rule(
            "I6", std::string(change.key) + " gets a life of " + std::to_string(left) + " ms"
        );
}

void invariants::i14_a_view_fits(const claim& of, const holding& seen)
{
    // Only clients with older scripts hold without a token.
    const bool of_another = seen.token && seen.token != of.token;
    if (seen.state == holding_state::free || seen.state == holding_state::kept || of_another)
        break_rule(
            "I14",
            describe(of) + ", and a view says that it is " + to_string(seen.state) +
                " with token " + to_string(seen.token)
        );
}

void invariants::i15_ends_by(const std::string& resource, fencing_token token, nanoseconds until)
{
    const auto [known, first] = revoked_.emplace(std::pair(resource, token), until);
    if (!first)
        known->second = std::min(known->second, until);
}

void invariants::i15_a_revoked_claim_has_ended(const claim& of)
{
    const auto found = revoked_.find(std::pair(of.resource, of.token));
    if (found != revoked_.end() && found->second < time_.elapsed())
        break_rule(
            "I15",
            describe(of) + " " + in_ms(time_.elapsed() - found->second) +
                " after its revocation said that it has ended"
        );
}

/// A claim that is over, and that nobody has ended, was lost. Its deadline cannot move any more.
void invariants::i16_note_loss(const claim& of)
{
    if (of.grace > milliseconds(0) && !of.closing && !of.in->was_suspended())
        i16_begin_grace(of.resource, of.token, of.in->when(of.held->valid_until()) + of.grace);
}

void invariants::i16_begin_grace(
    const std::string& resource,
    fencing_token token,
    nanoseconds until
)
{
    nanoseconds& known = graces_[{resource, token}];
    known = std::max(known, until);
}

void invariants::i16_a_grace_is_over(const claim& granted)
{
    if (!plan_.keeps_promises())
        return;
    for (const auto& [of, until] : graces_)
    {
        if (of.first == granted.resource && of.second != granted.token && time_.elapsed() < until)
            break_rule(
                "I16",
                describe(granted) + " " + in_ms(until - time_.elapsed()) +
                    " before the end of the grace of " + to_string(of.second)
            );
    }
}

void invariants::i17_keeps_until(
    const std::string& resource,
    fencing_token token,
    std::chrono::microseconds until
)
{
    kept_[resource] = {token, until};
}

void invariants::i17_the_time_has_passed(const claim& granted)
{
    const auto found = kept_.find(granted.resource);
    if (found == kept_.end() || !plan_.keeps_promises())
        return;
    const auto freed = freed_.find(granted.resource);
    if (freed != freed_.end() && found->second.first <= freed->second)
        return;
    if (granted.token <= found->second.first)
        return;
    const std::chrono::microseconds until = found->second.second;
    const auto is_over = [until](const server* each) {
        return !each->is_replica() && each->now() >= until;
    };
    const bool passed = std::ranges::any_of(nodes_ | std::views::join, is_over);
    if (!passed)
        break_rule(
            "I17", describe(granted) + ", and it is kept for " + to_string(found->second.first)
        );
    else
        kept_.erase(found);  // It has ended, whatever a clock says later.
}

/// Neither a late acquisition nor a late extension. In plain mode nothing stops them.
void invariants::i18_nothing_comes_after_a_release(const key_change& change)
{
    if (!plan_.guarded() || !change.after)
        return;
    const auto holder = holder_of(*change.after);
    if (holder && change.where.has_noted(std::string(change.key) + ' ' + *holder))
        break_rule(
            "I18",
            "a command of client " + std::to_string(change.client) + " sets " +
                std::string(change.key) + " on " + change.where.name() +
                " for an attempt that was released there"
        );
}

void invariants::i19_no_extended_claim_is_lost(const claim& of, bool is_valid)
{
    const bool matters = of.extended && of.covered && of.in->alive() && !of.closing;
    if (is_valid || !matters || excused_.contains({of.resource, of.token}))
        return;
    break_rule("I19", describe(of) + ", and has lost it without a cause");
}

bool invariants::i19_stands(const claim& of, nanoseconds since) const
{
    if (of.held->votes() != plan_.nodes)
        return false;
    return std::ranges::all_of(nodes_, [&](const auto& servers) {
        const server& node = *servers.front();
        const entry* const key = node.look(of.resource);
        const auto set = last_set_.find({&node, of.resource});
        if (!key || key->writer != of.client || set == last_set_.end() || set->second < since)
            return false;
        const std::string* const value = key->text();
        return !of.token || (value && core::read_hold_value(*value).token == of.token);
    });
}

bool invariants::i19_all_stand(nanoseconds since)
{
    bool all = true;
    for (const claim_ptr& each : claims_)
    {
        claim& of = *each;
        if (!of.extended || of.seen_over || of.closing || !of.in->alive() ||
            excused_.contains({of.resource, of.token}))
            continue;
        const bool stands = i19_stands(of, since);
        all = all && stands;
        if (stands)
        {
            of.covered = true;
            of.lacks_since = nanoseconds(-1);
            continue;
        }
        if (of.lacks_since < nanoseconds(0))
            of.lacks_since = time_.elapsed();
        const nanoseconds lacks = time_.elapsed() - of.lacks_since;
        longest_lack_ = std::max(longest_lack_, lacks);
        if (lacks > plan_.longest_lack())
        {
            of.lacks_since = time_.elapsed();
            break_rule(
                "I19", describe(of) + ", and a node that is back lacks it for " + in_ms(lacks)
            );
        }
    }
    return all;
}

void invariants::i19_wait()
{
    for (const claim_ptr& each : claims_)
        each->lacks_since = nanoseconds(-1);
}

void invariants::i19_nodes_return(bool returned)
{
    if (!returned)
        break_rule("I19", "the nodes are not ready again for all clients");
}

void invariants::i6_no_key_is_left(bool calm)
{
    if (!calm)
        return;
    for (const server* each : nodes_ | std::views::join)
    {
        for (const auto& [key, value] : each->keys())
        {
            if (!key.starts_with(own_prefix) && each->look(key))
                break_rule("I6", key + " is left on " + each->name());
        }
    }
}

void invariants::i7_a_loss_is_told_in_time(const claim& of)
{
    using namespace std::chrono_literals;

    if (!of.wait_lost || of.wait_lost->done() || !of.in->running())
        return;
    // A timer that is late is asked for again, and may be late once more.
    nanoseconds allowed = 3 * plan_.latest_timer + 1ms;
    if (of.in->was_suspended())
        allowed += 500ms + 2 * plan_.latest_timer;
    const nanoseconds late = of.in->now().steady - of.held->valid_until();
    // Just awake, it may have set its timer anew.
    if (late > allowed && time_.elapsed() - of.in->runs_since() > allowed)
        break_rule(
            "I7",
            describe(of) + ", and nobody told that it was lost before " +
                std::to_string(late.count()) + " ns"
        );
}

void invariants::i7_a_loss_is_final(claim& of, bool is_valid)
{
    if (of.seen_over && is_valid && of.in->alive())
        break_rule("I7", describe(of) + " once more, after it was over");
    if (!of.seen_over && !is_valid)
        i16_note_loss(of);
    of.seen_over = of.seen_over || !is_valid;
}

void invariants::i8_every_call_has_completed_once(const call_book& calls)
{
    if (calls.pending() > 0)
        break_rule(
            "I8",
            std::to_string(calls.pending()) +
                " calls have not completed: " + calls.describe_pending()
        );
    if (calls.completed_twice() > 0)
        break_rule("I8", std::to_string(calls.completed_twice()) + " calls completed twice");
}

void invariants::i9_is_alive(bool acquired, std::string_view how)
{
    if (!acquired)
        break_rule(
            "I9", "nothing was wrong any more, and an acquisition ended with " + std::string(how)
        );
}

void invariants::i13_nothing_of_nobody_is_left(
    unsigned client,
    std::span<const server* const> excused
)
{
    for (const server* each : nodes_ | std::views::join)
    {
        if (std::ranges::find(excused, each) != excused.end())
            continue;
        for (const auto& [key, value] : each->keys())
        {
            if (!key.starts_with(own_prefix) && value.writer == client && each->look(key))
                break_rule(
                    "I13",
                    key + " is left on " + each->name() + ", and client " + std::to_string(client) +
                        " has closed"
                );
        }
    }
}

void invariants::break_rule(const char* rule, std::string words)
{
    trace_.note("VIOLATION", rule, words);
    // What is wrong stays wrong for a while.
    if (found_.size() < 20)
        found_.push_back({rule, std::move(words), time_.elapsed()});
}

}  // namespace redlock::sim
