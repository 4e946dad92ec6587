// What goes wrong in a schedule, apart from what the network does to messages.

#include "node/guard.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "sim/simulation.hpp"

namespace redlock::sim {

namespace {

using namespace std::chrono_literals;

/// Longer ago than anything.
constexpr nanoseconds everything = 1000h;

/// Whether a node has its own marker, or none. It may have that of another node for a while.
bool has_no_foreign_marker(const server& node)
{
    const entry* const marker = node.look("redlock:marker");
    const std::string* const text = marker ? marker->text() : nullptr;
    return !marker || (text && text->find(node.run_id()) != text->npos);
}

}  // namespace

void simulation::plan_next_fault()
{
    if (plan_.faults.empty())
        return;
    const nanoseconds pause = dice_.between(0ns, 2 * plan_.between_faults);
    time_.after(pause, [this]() {
        if (healed_)
            return;
        inflict(plan_.faults[dice_.below(plan_.faults.size())]);
        plan_next_fault();
    });
}

void simulation::inflict(fault what)
{
    ++outcome_.faults[static_cast<std::size_t>(what)];
    if (what == fault::majority_forward)
        return move_majority_forward();
    if (what == fault::delete_keys)
        return delete_a_lock_key();
    if (what == fault::freeze_quorum)
        return freeze_quorum();
    contender& who = *contenders_[dice_.below(contenders_.size())];
    if (what >= fault::wall_of_client && what <= fault::client_closed)
        return inflict_on_client(what, who);
    const std::size_t node = dice_.below(servers_.size());
    switch (what)
    {
    case fault::block_to_server:
    case fault::block_to_client:
        return network_->block(
            who.index,
            node,
            what == fault::block_to_server ? network::direction::to_server
                                           : network::direction::to_client,
            dice_.between(0ns, 2 * nanoseconds(plan_.ttl_max))
        );
    case fault::reset: return network_->reset(who.index, node);
    default: return inflict_on_node(what, node);
    }
}

void simulation::inflict_on_node(fault what, std::size_t node)
{
    server& hit = network_->leads_to(node);
    switch (what)
    {
    case fault::freeze:
        return network_->freeze(hit, dice_.between(0ns, 3 * nanoseconds(plan_.ttl_max)));
    case fault::crash: return crash(hit);
    case fault::copy: return copy_another(hit);
    case fault::failover: return fail_over(node);
    case fault::there_and_back: return go_there_and_back(node);
    case fault::flush: return hit.flush_all();
    case fault::flush_scripts: return hit.flush_scripts();
    case fault::error_replies: return send_errors(hit);
    case fault::clock_back: return set_clock_back(hit);
    case fault::clock_far_forward: return set_clock_far_forward(hit);
    case fault::spoil_queue: return spoil_queue(hit);
    default: break;
    }
}

void simulation::inflict_on_client(fault what, contender& who)
{
    switch (what)
    {
    case fault::wall_of_client:
    {
        const nanoseconds distance = dice_.below(2) ? nanoseconds(24h * 3650) : nanoseconds(2s);
        return who.in->step_wall(dice_.between(-distance, distance));
    }
    case fault::stall: return who.in->stall(dice_.between(0ns, 3 * nanoseconds(plan_.ttl_max)));
    case fault::suspend: return who.in->suspend(dice_.between(0ns, 3 * nanoseconds(plan_.ttl_max)));
    case fault::client_crash:
        // There has to be a client to be in the way of.
        if (++crashed_clients_ < plan_.clients)
            who.in->crash();
        return;
    case fault::client_destroyed: return destroy_client(who);
    case fault::client_closed: return close_client(who);
    default: break;
    }
}

void simulation::crash(server& node)
{
    // What its disk keeps is what another one had. That is not noticed if it is restarted before a
    // client has met it.
    if (!node.up() || (node.durable() && !has_no_foreign_marker(node)))
        return;
    const nanoseconds ttl = plan_.ttl_max;
    const bool may_forget = plan_.guarded() || plan_.of != profile::respecting;
    nanoseconds lost = 0ns;
    nanoseconds down = dice_.between(0ns, ttl);
    switch (may_forget ? dice_.below(3) : 3)
    {
    case 0: lost = everything; break;
    case 1: lost = dice_.between(0ns, 2 * ttl); break;
    case 2: break;
    default:
        // Without a quarantine it loses nothing, or stays away until all leases have ended.
        if (dice_.below(2))
        {
            lost = everything;
            down = ttl + ttl / 10;
        }
    }
    if (plan_.of == profile::plain_amnesia || dice_.below(2))
        down = lost == everything && !may_forget ? down : 0ns;
    node.crash(lost, time_.elapsed() + down);
    network_->reset_all(node);
    time_.after(down, [&node]() {
        if (!node.up())
            node.start();
    });
}

/// A node has what another one has, and has forgotten what it had. With its connections, or
/// without.
void simulation::copy_another(server& node)
{
    const std::size_t from = dice_.below(servers_.size());
    const server& master = *servers_[from];
    if (&master == &node || !node.up() || !master.up())
        return;
    // One that has a copy of the node itself would give it its own marker back, with older data:
    // that is not noticed. One whose clock is far off would leave keys and fences of the future.
    if (!has_no_foreign_marker(master) || far_forward_[from])
        return;
    node.copy(master);
    if (dice_.below(2))
        network_->reset_all(node);
    const nanoseconds longest = dice_.below(2) ? 0ns : 2 * nanoseconds(plan_.ttl_max);
    time_.after(dice_.between(0ns, longest), [&node]() { node.promote(); });
}

/// The server behind a node that is not the master. Null if it is down or still acts as the master.
server* simulation::replica_of(std::size_t node)
{
    const bool is_first = &network_->leads_to(node) == servers_[node].get();
    server& other = is_first ? *replicas_[node] : *servers_[node];
    return other.up() && other.is_replica() ? &other : nullptr;
}

/// A replica takes over, with what it has got so far. Some clients notice.
void simulation::hand_over(std::size_t node, server& to)
{
    const nanoseconds lag = dice_.below(2) ? 0ns : dice_.between(0ns, nanoseconds(plan_.ttl_max));
    to.take_over(network_->leads_to(node), lag);
    network_->lead(node, to);
    for (const auto& each : contenders_)
    {
        if (dice_.below(2))
            network_->reset(each->index, node);
    }
}

void simulation::fail_over(std::size_t node)
{
    server& old = network_->leads_to(node);
    server* const fresh = replica_of(node);
    if (!fresh)
        return;
    hand_over(node, *fresh);
    nanoseconds goes_on = plan_.overlap;
    if (plan_.of == profile::long_overlap)
        goes_on += dice_.between(0ns, 2 * nanoseconds(plan_.ttl_max));
    else if (dice_.below(2))
        goes_on = dice_.between(0ns, goes_on);
    if (dice_.below(4) == 0)
        network_->freeze(old, dice_.between(0ns, goes_on));
    // A name or a Sentinel that lags behind leads some back to the old one. Not to one that has
    // crashed: whoever takes it for a new master refuses the real one until the next failover.
    for (const auto& each : contenders_)
    {
        if (dice_.below(3) != 0 || !old.up())
            continue;
        const unsigned client = each->index;
        time_.after(dice_.between(0ns, goes_on), [this, client, node, &old]() {
            network_->mislead(client, node, old.is_replica() ? nullptr : &old);
            network_->reset(client, node);
        });
    }
    time_.after(goes_on, [this, node, &old, fresh]() {
        old.copy(*fresh);
        for (const auto& each : contenders_)
            network_->mislead(each->index, node, nullptr);
        if (dice_.below(2))  // Sentinel ends connections, FAILOVER does not.
            network_->reset_all(old);
    });
}

/// Too fast for a client's probes.
void simulation::go_there_and_back(std::size_t node)
{
    server& first = network_->leads_to(node);
    server* const other = replica_of(node);
    if (!other || !first.up())
        return;
    hand_over(node, *other);
    first.copy(*other);
    const nanoseconds away = dice_.below(2) ? 0ns : dice_.between(0ns, nanoseconds(10ms));
    time_.after(away, [this, node, &first, other]() {
        if (&network_->leads_to(node) != other || !first.is_replica())
            return;
        first.take_over(*other, 0ns);
        other->copy(first);
        network_->lead(node, first);
    });
}

void simulation::send_errors(server& node)
{
    node.impair(static_cast<impairment>(1 + dice_.below(impairment_count - 1)));
    time_.after(dice_.between(0ns, 2 * nanoseconds(plan_.ttl_max)), [&node]() {
        node.impair(impairment::none);
    });
}

/// A clock may go back by a second in all.
void simulation::set_clock_back(server& node)
{
    const nanoseconds by = dice_.between(0ns, clock_back_left_ / 2);
    clock_back_left_ -= by;
    node.set_clock(-by);
}

/// A minority, and never back: no quorum has one of them from then on.
void simulation::set_clock_far_forward(server& node)
{
    const auto index = std::ranges::find(servers_, &node, &std::unique_ptr<server>::get);
    const auto at = static_cast<std::size_t>(index - servers_.begin());
    const auto so_far = static_cast<std::size_t>(std::ranges::count(far_forward_, true));
    if (far_forward_[at] || so_far >= plan_.nodes - majority_of(plan_.nodes))
        return;
    far_forward_[at] = true;
    const nanoseconds least = 3 * nanoseconds(plan_.clock_window) + 3s;
    node.set_clock(dice_.between(least, nanoseconds(1h)));
    rules_->exclude(node);
}

/// Queues and reservations only delay: whatever is in them, and for however long.
void simulation::spoil_queue(server& node)
{
    if (!node.up())
        return;
    const std::string resource = "r" + std::to_string(dice_.below(plan_.resources));
    const std::string queue = std::string(detail::queue_key_prefix) + resource;
    const std::string waits = std::string(detail::waits_key_prefix) + resource;
    const std::string reserved = std::string(detail::reserved_key_prefix) + resource;
    const std::string later = std::to_string(node.now().count() + 3'600'000'000);
    const std::array<arguments, 13> rubbish{{
        {"DEL", queue},
        {"DEL", reserved},
        {"DEL", waits},
        {"SET", queue, "no queue"},
        {"ZADD", queue, "-inf", "no name"},
        {"ZADD", queue, "0", "abcdef"},
        {"ZADD", queue, later, "fedcba"},
        {"ZADD", queue, "inf", ""},
        {"SET", waits, "x"},
        {"SET", reserved, "no place"},
        {"SET", reserved, "abcdef:0"},
        {"SET", reserved, "abcdef:0", "PX", "3600000"},
        {"ZADD", reserved, "0", "abcdef:0"},
    }};
    static_cast<void>(node.execute(vandal_, rubbish[dice_.below(rubbish.size())]));
}

void simulation::move_majority_forward()
{
    const nanoseconds by = 2 * nanoseconds(plan_.ttl_max);
    for (std::size_t i = 0; i < majority_of(servers_.size()); ++i)
        servers_[i]->set_clock(by);
}

void simulation::delete_a_lock_key()
{
    const std::string key = "r" + std::to_string(dice_.below(plan_.resources));
    for (std::size_t i = 0; i < majority_of(servers_.size()); ++i)
        servers_[i]->remove(key);
}

/// The first ones: nothing tells them apart.
void simulation::freeze_quorum()
{
    for (std::size_t i = 0; i < majority_of(servers_.size()); ++i)
        network_->freeze(*servers_[i], plan_.load.stall);
}

void simulation::destroy_client(contender& who)
{
    if (!who.usable())
        return;
    trace_.note(who.in->name(), "has its client destroyed");
    count_wakes(who);
    who.locks.reset();
}

void simulation::close_client(contender& who)
{
    if (!who.usable())
        return;
    trace_.note(who.in->name(), "is closed");
    who.closing = true;
    rules_->client_is_closing(who.index);
    who.close = launch(calls_, context_->get_executor(), "close", who.locks->async_close());
}

}  // namespace redlock::sim
