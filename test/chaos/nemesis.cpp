#include "chaos/nemesis.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace redlock::test {

namespace {

bool is_on_a_node(harm kind)
{
    return kind == harm::node || kind == harm::all_nodes;
}

bool is_for_plain(const fault& what)
{
    return what.where == site::any || what.where == site::always;
}

}  // namespace

nemesis::nemesis(
    stage& on,
    const std::string& mode,
    const std::vector<std::string>& names,
    std::uint64_t seed
)
    : on_(on), random_(seed)
{
    for (const std::string& name : names)
    {
        if (std::ranges::find(all_faults(), name, &fault::name) == all_faults().end())
            throw std::invalid_argument("no such fault: " + name);
    }
    for (const fault& one : all_faults())
    {
        const bool wanted = names.empty() ? mode != "plain" || is_for_plain(one)
                                          : std::ranges::find(names, one.name) != names.end();
        if (wanted && (one.what != harm::link || on.has_links()))
            menu_.insert(menu_.end(), names.empty() ? one.weight : 1, &one);
    }
}

void nemesis::act()
{
    const moment now = boot_clock::now();
    const auto is_over = [now](const wound& one) { return one.until <= now; };
    for (const wound& one : wounds_)
    {
        if (is_over(one))
            undo(one);
    }
    std::erase_if(wounds_, is_over);

    const fault& what = *menu_[draw(menu_.size())];
    const std::vector<place> places = places_for(what);
    if (places.empty())
        return;
    ++counts_[what.name];
    const auto range = static_cast<std::size_t>((what.most - what.least).count()) + 1;
    const std::chrono::milliseconds lasting = what.least + std::chrono::milliseconds(draw(range));
    for (const place& at : places)
        strike(what, at, lasting);
}

void nemesis::heal_all()
{
    for (const wound& one : wounds_)
        undo(one);
    wounds_.clear();
}

void nemesis::restart_in_turn(std::size_t node)
{
    static constexpr fault restart{"restart in turn", harm::node, 0, {}, {}, nullptr};
    note("does", restart, {node, 0});
    ++counts_[restart.name];
    on_.node(node).kill();
    on_.bring_back(node);
}

std::string nemesis::last_notes() const
{
    constexpr std::size_t bytes = 2'000;
    return diary_.substr(diary_.size() - std::min(bytes, diary_.size()));
}

bool nemesis::suits(const fault& what, std::size_t node)
{
    const redis_storage storage = on_.storage(node);
    switch (what.where)
    {
    case site::any:
    case site::guarded: return true;
    case site::always: return storage == redis_storage::every_write;
    case site::everysec: return storage == redis_storage::every_second;
    case site::snapshot: return storage == redis_storage::none;
    case site::not_durable: return storage != redis_storage::every_write;
    case site::admitted: return on_.is_admitted(node);
    }
    return false;
}

bool nemesis::is_free(harm kind, const place& at) const
{
    return std::ranges::none_of(wounds_, [&](const wound& one) {
        if (is_on_a_node(kind))
            return is_on_a_node(one.kind) && one.node == at.node;
        if (kind == harm::worker)
            return one.kind == harm::worker && one.worker == at.worker;
        return one.kind == harm::link && one.node == at.node && one.worker == at.worker;
    });
}

std::size_t nemesis::harmed(harm kind) const
{
    return static_cast<std::size_t>(std::ranges::count(wounds_, kind, &wound::kind));
}

std::vector<nemesis::place> nemesis::places_for(const fault& what)
{
    switch (what.what)
    {
    case harm::node:
    case harm::all_nodes: return some_nodes(what);
    case harm::link: return some_links();
    case harm::worker: break;
    }
    const std::size_t workers = on_.workers().size();
    const place at{0, draw(workers)};
    if (harmed(harm::worker) >= workers / 2 || !is_free(harm::worker, at))
        return {};
    return {at};
}

std::vector<nemesis::place> nemesis::some_nodes(const fault& what)
{
    std::vector<place> all;
    for (std::size_t node = 0; node < on_.node_count(); ++node)
    {
        if (is_free(what.what, {node}) && (what.what == harm::all_nodes || suits(what, node)))
            all.push_back({node});
    }
    if (all.empty() || what.what == harm::all_nodes)
        return all;
    if (harmed(harm::node) >= (on_.node_count() - 1) / 2)
        return {};
    return {all[draw(all.size())]};
}

std::vector<nemesis::place> nemesis::some_links()
{
    std::vector<place> all;
    if (harmed(harm::link) > on_.node_count() * on_.workers().size() / 5)
        return all;
    const std::size_t shape = draw(8);
    const place one{draw(on_.node_count()), draw(on_.workers().size())};
    for (std::size_t worker = 0; worker < on_.workers().size(); ++worker)
    {
        for (std::size_t node = 0; node < on_.node_count(); ++node)
        {
            const bool is_part = (shape < 4 && worker == one.worker && node == one.node) ||
                                 ((shape == 4 || shape == 5) && worker == one.worker) ||
                                 (shape == 6 && node == one.node) || (shape == 7 && draw(2) == 0);
            if (is_part && is_free(harm::link, {node, worker}))
                all.push_back({node, worker});
        }
    }
    return all;
}

std::size_t nemesis::draw(std::size_t count)
{
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
}

void nemesis::strike(const fault& what, const place& at, std::chrono::milliseconds lasting)
{
    note("does", what, at);
    heal undo = what.strike({on_, random_, at.node, at.worker});
    wounds_.push_back(
        {&what, what.what, at.node, at.worker, boot_clock::now() + lasting, std::move(undo)}
    );
}

void nemesis::undo(const wound& one)
{
    if (!one.undo)
        return;
    note("undoes", *one.what, {one.node, one.worker});
    one.undo();
}

void nemesis::note(const char* what, const fault& which, const place& at)
{
    diary_ += std::to_string(boot_clock::now().time_since_epoch().count()) + ' ' + what + " '" +
              which.name + '\'';
    if (which.what != harm::worker)
        diary_ += " node " + std::to_string(at.node);
    if (which.what == harm::link || which.what == harm::worker)
        diary_ += " worker " + std::to_string(at.worker);
    diary_ += '\n';
}

}  // namespace redlock::test
