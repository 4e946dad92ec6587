#include "sim/simulation.hpp"

#include "node/guard.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "sim/actor.hpp"
#include "sim/client_host.hpp"
#include "sim/randomness.hpp"
#include "support/old_scripts.hpp"

namespace redlock::sim {

namespace {

using namespace std::chrono_literals;

/// More than any schedule needs. One that gets there goes round in circles.
constexpr std::size_t most_events = 60'000;
constexpr std::size_t most_events_under_load = 600'000;

/// How long clients have to end.
constexpr nanoseconds time_to_end = 30s;

}  // namespace

simulation::simulation(
    script_engine& scripts,
    std::uint64_t seed,
    profile of,
    std::ostream* words,
    const std::function<void(plan&)>& change
)
    : dice_(seed),
      plan_(draw_plan(of, dice_)),
      trace_(time_, words),
      scripts_(scripts),
      // One thread runs it, so it needs no locks.
      context_(std::make_unique<asio::io_context>(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE)),
      clock_back_left_(900ms)
{
    if (change)
        change(plan_);
    // A loop that has run out of work would stay stopped.
    open_.emplace(context_->get_executor());
    seed_randomness(dice_.bits());
    make_servers();
    std::vector<server*> nodes;
    for (const auto& each : servers_)
        nodes.push_back(each.get());
    far_forward_.resize(nodes.size());
    std::vector<std::vector<const server*>> behind_nodes;
    for (const server* const each : nodes)
        behind_nodes.push_back({each});
    for (std::size_t i = 0; i < replicas_.size(); ++i)
        behind_nodes[i].push_back(replicas_[i].get());
    rules_.emplace(plan_, time_, trace_, std::move(behind_nodes));
    // One more client, should none be left in the end.
    network_.emplace(time_, trace_, nodes, plan_.clients + 1, dice_.bits());
    network_->habits() = plan_.habits;
    if (plan_.of == profile::crowd)
    {
        processors_.emplace(time_, plan_.crowd.processors);
        network_->run_on(*processors_, plan_.crowd.server);
    }
}

simulation::~simulation()
{
    // Should something be left over, it goes before what it uses.
    for (const auto& each : contenders_)
    {
        each->locks.reset();
        each->in->clear();
    }
    if (processors_)
        processors_->clear();
    network_.reset();
    time_.clear();
    open_.reset();
    context_.reset();
}

void simulation::make_servers()
{
    const std::size_t count = plan_.of == profile::different_lists ? 5 : plan_.nodes;
    for (std::size_t i = 0; i < count; ++i)
        servers_.push_back(make_server("n" + std::to_string(i + 1)));
    for (std::size_t i = 0; i < count && plan_.fails_over(); ++i)
    {
        replicas_.push_back(make_server("n" + std::to_string(i + 1) + "b"));
        replicas_.back()->copy(*servers_[i]);
    }
}

std::unique_ptr<server> simulation::make_server(std::string name)
{
    nanoseconds apart = plan_.guarded() ? nanoseconds(plan_.clock_window) / 2 : 1h;
    if (plan_.right_nodes)
        apart = 100us;
    if (plan_.of == profile::rolling)
        apart = std::min<nanoseconds>(apart, 50ms);
    server::options how;
    how.name = std::move(name);
    how.durable = plan_.durable;
    how.keeps_replication_id = plan_.of == profile::same_replication_id;
    std::int64_t rate = dice_.between(-plan_.rate, plan_.rate);
    if (plan_.of == profile::fast_nodes)
        rate = 300'000;
    how.wall = running_clock(dice_.between(-apart, apart), rate);
    if (plan_.of == profile::crowd)
    {
        how.wall = running_clock(plan_.crowd.walls[servers_.size()], 0);
        how.crashes = false;
    }
    const auto on_change = [this](const key_change& change) { rules_->on_change(change); };
    const auto on_run = [this](const command_run& run) { rules_->on_run(run); };
    return std::make_unique<server>(time_, scripts_, trace_, how, dice_.bits(), on_change, on_run);
}

std::vector<std::size_t> simulation::list_of(unsigned client) const
{
    const bool other = plan_.of == profile::different_lists && client % 2 == 1;
    std::vector<std::size_t> list;
    for (std::size_t i = 0; i < plan_.nodes; ++i)
        list.push_back(i + (other ? 2 : 0));
    return list;
}

/// As `async_initialize_nodes` does it. Those that fail over have sat out a quarantine before.
void simulation::mark_nodes()
{
    const client_config config = plan_.config();
    const auto guard = detail::make_guard(config);
    if (!guard || !plan_.marked)
        return;
    for (const auto& each : servers_)
    {
        std::string marker = guard->fingerprint_of(config.nodes.front()) + plan_.incarnation(*each);
        each->plant(guard->marker_key, plan_.durable ? marker + " durable" : marker);
    }
}

contender& simulation::add_contender()
{
    auto made = std::make_unique<contender>();
    made->index = static_cast<unsigned>(contenders_.size());
    process::options how;
    how.name = "c" + std::to_string(made->index);
    how.rate = dice_.between(-plan_.rate, plan_.rate);
    how.wall_offset = dice_.below(2) ? 0ns : dice_.between(-nanoseconds(10s), nanoseconds(10s));
    if (plan_.right_walls)
        how.wall_offset = 0ns;
    if (made->index >= plan_.punctual)
        how.latest_timer = plan_.latest_timer;
    made->in = std::make_unique<process>(time_, trace_, how, dice_.bits());
    if (processors_)
        made->in->run_on(*processors_, plan_.crowd.client);
    const auto executor = context_->get_executor();
    std::optional<detail::script_set> old;
    if (made->index < plan_.old)
        old = test::make_old_script_set(plan_.config(made->index));
    made->locks.emplace(make_client(
        executor,
        *network_,
        *made->in,
        made->index,
        list_of(made->index),
        plan_.config(made->index),
        old ? &*old : nullptr
    ));
    made->run = launch(calls_, executor, "run", made->locks->async_run());
    contenders_.push_back(std::move(made));
    return *contenders_.back();
}

void simulation::start_actors(contender& of)
{
    const std::size_t workers = workers_of(of.index);
    for (of.actors = 0; of.actors < workers; ++of.actors)
    {
        const auto made = std::make_shared<actor>(*this, of, dice_.bits());
        // The handler keeps the actor.
        asio::co_spawn(*context_, made->work(of.actors), [made](const std::exception_ptr& failure) {
            if (failure)
                std::rethrow_exception(failure);
        });
    }
}

/// Each client reaches a quorum of its own and no more nodes.
void simulation::limit_reach()
{
    if (!plan_.bare_quorum)
        return;
    for (unsigned client = 0; client < plan_.clients; ++client)
    {
        const std::size_t first = dice_.below(plan_.nodes);
        const std::vector<std::size_t> list = list_of(client);
        for (std::size_t i = 0; i < plan_.nodes - majority_of(plan_.nodes); ++i)
        {
            const std::size_t node = list[(first + i) % plan_.nodes];
            network_->block(client, node, network::direction::to_server, plan_.heal_at);
        }
    }
}

outcome simulation::run()
{
    tell_load();
    mark_nodes();
    limit_reach();
    for (std::size_t i = 0; i < plan_.clients && plan_.of != profile::crowd; ++i)
        start_actors(add_contender());
    if (plan_.of == profile::crowd)
        begin_crowd();
    else if (plan_.of == profile::rolling)
        begin_rolling();
    else
        plan_next_fault();
    if (plan_.load.stall > 0ns)
        time_.at(plan_.load.stall_at, [this]() { inflict(fault::freeze_quorum); });
    time_.at(plan_.heal_at, [this]() { heal(); });

    run_until(&simulation::actors_ended, plan_.heal_at + 200 * plan_.ttl_max);
    check_shares();
    probe();
    end_clients();
    run_until(&simulation::clients_ended, time_.elapsed() + time_to_end);
    const nanoseconds quiet = time_.elapsed() + 50ms;
    while (time_.next() <= quiet && step())
    {
    }
    for (const auto& each : contenders_)
        count_wakes(*each);
    rules_->i6_no_key_is_left(plan_.calm);
    check_what_is_left();
    bury_the_dead();
    rules_->i8_every_call_has_completed_once(calls_);

    outcome_.hash = trace_.hash();
    outcome_.events = time_.events();
    outcome_.claims = rules_->claims();
    for (const auto& each : servers_)
        outcome_.errors += each->errors();
    outcome_.longest_lack = rules_->longest_lack();
    outcome_.violations = rules_->violations();
    return outcome_;
}

bool simulation::step()
{
    const bool is_long = plan_.has_load() || plan_.of == profile::rolling;
    const std::size_t most = is_long ? most_events_under_load : most_events;
    if (time_.events() >= most || !time_.step())
        return false;
    context_->poll();
    calls_.step();
    context_->poll();
    if (plan_.of == profile::no_quarantine)
    {
        for (const auto& each : servers_)
        {
            if (each->look("redlock:quarantine"))
                each->remove("redlock:quarantine");
        }
    }
    rules_->check();
    return true;
}

void simulation::run_until(bool (simulation::*done)() const, nanoseconds limit)
{
    context_->poll();
    while (!(this->*done)() && time_.next() <= limit && step())
    {
    }
}

bool simulation::actors_ended() const
{
    return healed_ && std::ranges::all_of(contenders_, [](const auto& each) {
               return each->actors == 0 || !each->in->alive();
           });
}

bool simulation::probes_ended() const
{
    return probes_ == 0;
}

bool simulation::clients_ended() const
{
    return std::ranges::all_of(contenders_, [](const auto& each) {
        return each->run->done() || !each->in->alive();
    });
}

void simulation::heal()
{
    if (plan_.of == profile::rolling && !healed_)
        end_rolling();
    healed_ = true;
    network_->heal();
    for (const auto* list : {&servers_, &replicas_})
    {
        for (const auto& each : *list)
        {
            // In plain mode one that forgot has to stay away until its time.
            if (!each->up() && plan_.guarded())
                each->start();
            each->impair(impairment::none);
            if (!plan_.fails_over())
                each->promote();
        }
    }
}

/// Whether a quorum of the nodes can agree on a time.
bool simulation::clocks_agree() const
{
    if (!plan_.guarded())
        return true;
    std::vector<std::chrono::microseconds> times;
    for (std::size_t i = 0; i < servers_.size(); ++i)
        times.push_back(network_->leads_to(i).now());
    std::ranges::sort(times);
    const std::size_t quorum = majority_of(times.size());
    for (std::size_t i = 0; i + quorum <= times.size(); ++i)
    {
        if (times[i + quorum - 1] - times[i] < plan_.clock_window)
            return true;
    }
    return false;
}

void simulation::probe()
{
    if (!clocks_agree())
        return;
    const auto usable =
        std::ranges::find_if(contenders_, [](const auto& each) { return each->usable(); });
    contender& by = usable == contenders_.end() ? add_contender() : **usable;
    const auto made = std::make_shared<actor>(*this, by, dice_.bits());
    ++probes_;
    asio::co_spawn(*context_, made->probe(), [made](const std::exception_ptr& failure) {
        if (failure)
            std::rethrow_exception(failure);
    });
    run_until(&simulation::probes_ended, time_.elapsed() + 200s);
}

void simulation::end_clients()
{
    for (const auto& each : contenders_)
    {
        if (!each->usable())
            continue;
        if (plan_.calm || plan_.has_load() || dice_.below(2) == 0)
            close_client(*each);
        else
            each->locks->cancel();
    }
}

/// Where nothing but time was lost, a client that has closed leaves nothing.
void simulation::check_what_is_left()
{
    if (!plan_.has_load())
        return;
    for (const auto& each : contenders_)
    {
        if (!each->close || !each->close->done() || std::get<0>(each->close->outcome))
            continue;
        std::vector<const server*> excused;
        // There is no order between two connections, and no tombstone in plain mode: an acquisition
        // that was sent on a lost connection may come behind its release. Its ttl ends it.
        for (std::size_t node = 0; node < servers_.size() && !plan_.guarded(); ++node)
        {
            if (network_->connections(each->index, node) > 1)
                excused.push_back(servers_[node].get());
        }
        rules_->i13_nothing_of_nobody_is_left(each->index, excused);
    }
}

/// To be called before a client is destroyed.
void simulation::count_wakes(const contender& of)
{
    if (!of.locks)
        return;
    const auto woken = of.locks->metrics().woken;
    outcome_.woken += woken;
    if (of.index < plan_.old)
        outcome_.old_woken += woken;
}

/// What has crashed is destroyed, out of everybody's sight.
void simulation::bury_the_dead()
{
    for (const auto& each : contenders_)
    {
        if (each->in->alive())
            continue;
        network_->cut_off(each->index);
        if (each->locks)
            each->locks->cancel();
        each->in->bury();
    }
    const auto all_done = [this]() { return calls_.pending() == 0; };
    const nanoseconds limit = time_.elapsed() + time_to_end;
    context_->poll();
    while (!all_done() && time_.next() <= limit && time_.step())
        context_->poll();
}

}  // namespace redlock::sim
