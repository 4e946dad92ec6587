#include "node/vetting/vetting.hpp"

#include "core/one_line.hpp"
#include "core/overlap.hpp"
#include "node/pipeline.hpp"
#include "scripts.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

namespace redlock::detail {

namespace {

/// How long a node remembers that an initialization has looked at it. It must look at the others
/// within this time.
constexpr milliseconds look_note_life{10'000};

/// What makes a server durable: it never answers before its disk has the data.
constexpr std::array durable_settings{
    std::pair{"appendonly", "yes"},
    std::pair{"appendfsync", "always"},
    std::pair{"no-appendfsync-on-rewrite", "no"},
};

/// Whether a server's words quote the password. If they were cut, its beginning is enough.
bool quote(std::string_view words, std::string_view password)
{
    if (password.empty())
        return false;
    if (words.find(password) != words.npos)
        return true;
    constexpr std::size_t telling = 4;  // Fewer letters reveal little, and many words end in them.
    if (!words.ends_with(core::cut_mark))
        return false;
    words.remove_suffix(core::cut_mark.size());
    for (std::size_t size = telling; size < password.size(); ++size)
    {
        if (words.ends_with(password.substr(0, size)))
            return true;
    }
    return false;
}

}  // namespace

lua_script make_last_script(const script_set& scripts)
{
    std::string all;
    for (const lua_script& each : scripts)
        all += each.sha;
    return make_script("return '" + make_script(std::move(all)).sha + "'");
}

request make_vetting_request(const node_config& config, const script_set& scripts, std::string name)
{
    request made;
    if (name.empty())
        name = "redlock";
    // Redis refuses other characters in a name.
    std::ranges::replace_if(name, [](char each) { return each < '!' || each > '~'; }, '_');
    std::string_view user = "default";
    if (!config.username.empty())
        user = config.username;
    if (config.username.empty() && config.password.empty())
        made.push("HELLO", "3", "SETNAME", name);
    else
        made.push("HELLO", "3", "AUTH", user, config.password, "SETNAME", name);
    if (config.database != 0)
        made.push("SELECT", config.database);
    // Ask for one section at a time: several in one command need Redis 7.
    for (const char* section : {"server", "replication", "memory", "cluster"})
        made.push("INFO", section);
    // The scripts are long, and nearly every server has them already. Comes last, because the first
    // error is the one that is told.
    made.push("EVALSHA", make_last_script(scripts).sha, 0);
    return made;
}

request make_script_request(const script_set& scripts)
{
    request made;
    for (const lua_script& each : scripts)
    {
        if (!each.text.empty())
            made.push("SCRIPT", "LOAD", each.text);
    }
    made.push("SCRIPT", "LOAD", make_last_script(scripts).text);
    return made;
}

std::string without_login(const std::string& error, const node_config& config)
{
    // Redis quotes the arguments of a command that it doesn't know, and only part of long ones.
    std::string shown = error.substr(0, error.find(", with args beginning with"));
    const auto begins_with = [&shown](const char* code) { return shown.starts_with(code); };
    // A proxy before the server may quote them in other ways, but not after these codes.
    if (quote(shown, config.password) &&
        std::ranges::none_of(std::array{"WRONGPASS ", "NOPERM ", "NOAUTH "}, begins_with))
        return "the server's message isn't shown because it contains the password";
    return shown;
}

request make_settings_request()
{
    request made;
    for (const auto& [name, value] : durable_settings)
        made.push("CONFIG", "GET", name);
    return made;
}

request make_replica_settings_request()
{
    request made;
    for (const char* name : {"min-replicas-to-write", "min-replicas-max-lag"})
        made.push("CONFIG", "GET", name);
    return made;
}

bool is_durable(const std::vector<std::string>& told)
{
    return std::ranges::all_of(durable_settings, [&told](const auto& setting) {
        for (std::size_t i = 0; i + 1 < told.size(); i += 2)
        {
            if (told[i] == setting.first)
                return told[i + 1] == setting.second;
        }
        return false;
    });
}

vetting::vetting(link& vetted, link_group group, std::size_t index, node_config config)
    : link_(vetted),
      group_(std::move(group)),
      index_(index),
      node_(std::move(config)),
      may_fail_over_(core::may_fail_over(node_)),
      derives_overlap_(group_.guarded && group_.seal.empty() && core::derives_overlap(node_)),
      overlap_(node_.overlap.value_or(milliseconds(0)))
{
}

// What isn't here changes nothing: the node was asked and its answer is to come, or it is no longer
// asked.
const std::array<vetting::transition, 18> vetting::transitions{{
    {state::asking, event::marked, state::subscribing, nullptr},
    {state::asking, event::unmarked, state::waiting, &vetting::wait},
    {state::asking, event::to_be_marked, state::asking_alone, &vetting::ask_to_admit},

    {state::asking_alone, event::marked, state::admitted, &vetting::admit_marked},
    {state::asking_alone, event::unmarked, state::waiting, &vetting::wait},
    {state::asking_alone, event::to_be_marked, state::asking_alone, &vetting::ask_to_admit},

    {state::subscribing, event::subscribed, state::admitted, &vetting::admit_marked},

    {state::waiting, event::quorum, state::asking_again, &vetting::ask_to_admit},
    {state::waiting, event::idle, state::asking_again, &vetting::ask_to_admit},

    {state::asking_again, event::marked, state::admitted, &vetting::admit_marked},
    {state::asking_again, event::unmarked, state::unmarked, &vetting::admit_unmarked},
    {state::asking_again, event::to_be_marked, state::asking_again, &vetting::ask_to_admit},

    {state::unmarked, event::quorum, state::asking_unmarked, &vetting::ask_to_admit},
    {state::unmarked, event::idle, state::asking_unmarked, &vetting::ask_to_admit},

    {state::asking_unmarked, event::marked, state::admitted, &vetting::report_marker},
    {state::asking_unmarked, event::unmarked, state::unmarked, nullptr},
    {state::asking_unmarked, event::to_be_marked, state::asking_unmarked, &vetting::ask_to_admit},

    {state::admitted, event::idle, state::admitted, &vetting::probe},
}};

void vetting::on(event what)
{
    const auto* const found = std::ranges::find_if(transitions, [&](const transition& each) {
        return each.from == state_ && each.by == what;
    });
    if (found == transitions.end())
        return;
    state_ = found->to;
    if (found->act)
        (this->*found->act)();
}

void vetting::use(credentials login)
{
    node_.username = std::move(login.username);
    node_.password = std::move(login.password);
}

std::string vetting::shown(const std::string& error) const
{
    return without_login(error, node_);
}

void vetting::begin()
{
    link_.exchange(
        make_vetting_request(node_, group_.encoder->scripts(), group_.name), &vetting::on_introduced
    );
}

void vetting::on_introduced(const texts& told)
{
    server_info server;
    for (const std::string& text : told.all)
        read_info(server, text);
    if (const refusal judgement = judge_mode(server))
        return link_.refuse(judgement.why, judgement.text);
    const bool lacks_scripts = told.error.starts_with("NOSCRIPT");
    if (!told.error.empty() && !lacks_scripts)
        return link_.refuse(reason::rejected, shown(told.error));
    if (const refusal judgement = judge(server, node_))
        return link_.refuse(judgement.why, judgement.text);
    server_ = std::move(server);
    if (!recognize())
        return;

    // Before whatever comes next, so that costs no round trip.
    if (lacks_scripts)
        link_.exchange(make_script_request(group_.encoder->scripts()), &vetting::on_scripts_loaded);
    if (!group_.guarded)
    {
        if (!lacks_scripts)
            admit({});
        return;
    }
    if (!group_.seal.empty())
        return send_initialize("look", &vetting::on_looked);
    durable_ = node_.durable;
    if (node_.durable && !node_.trust_durable)
        return link_.exchange(make_settings_request(), &vetting::on_settings);
    if (derives_overlap_)
        return link_.exchange(make_replica_settings_request(), &vetting::on_replica_settings);
    introduce();
}

void vetting::on_scripts_loaded(const texts& told)
{
    if (!told.error.empty())
        link_.refuse(reason::rejected, shown(told.error));
    else if (!group_.guarded)
        admit({});
}

void vetting::end() noexcept
{
    group_.passed->leave(index_, *this);
}

/** Whether to continue with this server.

    A server that overlaps with the last one is refused for now. In guarded mode it is admitted
    first, so that its quarantine passes at the same time: after a failover the entry is away for
    one quarantine. It doesn't vote before everything that the last one granted to this client is
    over.
*/
bool vetting::recognize()
{
    using finding = core::incarnations::finding;

    core::introduction met{server_.run_id, {}, server_.uptime};
    if (may_fail_over_)
    {
        met.replication_id = server_.replication_id;
        met.predecessor = server_.predecessor;
    }
    switch (group_.servers->meet(index_, met, link_.now()))
    {
    case finding::fine: return true;
    case finding::same_server:
        link_.refuse(
            reason::same_server,
            "it is the same server as entry " +
                std::to_string(*group_.servers->other_entry(index_, server_.run_id) + 1) +
                " of the list of nodes"
        );
        break;
    case finding::overlaps:
        overlaps_ = true;
        if (group_.guarded && group_.seal.empty())
            return true;
        refuse_overlapping();
        break;
    case finding::returned:
        link_.refuse(
            reason::other_server,
            may_fail_over_
                ? "two masters answer at this address at the same time; this one was there before "
                  "the last one and is refused until it has been a replica"
                : "several servers alternate at this address; this one was there before the last "
                  "one and is refused for the client's lifetime"
        );
        break;
    }
    return false;
}

void vetting::refuse_overlapping()
{
    refusal why{
        reason::other_server,
        "several servers alternate at this address; this one ran while the last one did and is "
        "admitted if that one stays away"
    };
    why.ends_in =
        std::chrono::ceil<milliseconds>(group_.servers->overlaps_until(index_) - link_.now());
    link_.refuse(std::move(why));
}

void vetting::on_settings(const texts& told)
{
    durable_ = is_durable(told.all);
    introduce();
}

void vetting::on_replica_settings(const texts& told)
{
    replica_settings set;
    read_settings(set, told.all);
    set.error = told.error;
    if (const refusal judgement = judge_replicas(server_, set, group_.known_replicas(index_)))
        return link_.refuse(judgement.why, judgement.text);
    overlap_ = core::overlap_after(set.max_lag);
    introduce();
}

/// The last commands before it is admitted. The server is the right one.
void vetting::introduce()
{
    state_ = group_.guarded->queue_name.empty() ? state::asking_alone : state::asking;
    ask_to_admit();
    if (state_ == state::asking)
        subscribe();
}

std::string vetting::incarnation() const
{
    return may_fail_over_ ? server_.run_id + " " + server_.replication_id : server_.run_id;
}

std::string vetting::fingerprint() const
{
    const guard& guarded = *group_.guarded;
    return has_smaller_ ? guarded.smaller_fingerprint_of(node_) : guarded.fingerprint_of(node_);
}

std::string vetting::marker_end() const
{
    return group_.guarded ? group_.guarded->end_of(fingerprint() + incarnation()) : "";
}

milliseconds vetting::full_quarantine() const
{
    return group_.guarded->quarantine + overlap_;
}

void vetting::ask_to_admit()
{
    const guard& guarded = *group_.guarded;
    const std::string smaller = guarded.smaller_fingerprint_of(node_);
    request made;
    made.begin(smaller.empty() ? 11 : 13);
    made.add("EVAL");
    made.add(admit_script.text);
    made.add(2);
    made.add(guarded.marker_key);
    made.add(guarded.quarantine_key);
    made.add(guarded.fingerprint_of(node_));
    made.add(incarnation());
    made.add(full_quarantine());
    made.add(durable_ ? 1 : 0);
    // A server that ran while the last one did isn't a restart of it.
    made.add(overlaps_ || group_.servers->was_admitted(index_) ? 1 : 0);
    made.add(group_.passed->are_quorum() ? 1 : 0);
    if (!smaller.empty())
    {
        made.add(smaller);
        made.add(guarded.raises ? 1 : 0);
    }
    link_.exchange(made, &vetting::on_asked_to_admit);
}

void vetting::on_asked_to_admit(const texts& told)
{
    if (told.error.starts_with("NOREPLICAS"))
        return link_.refuse(reason::too_few_replicas, told.error);
    if (!told.error.empty())
        return link_.refuse(reason::rejected, told.error);
    const std::string found = told.first();
    const auto remaining = read_number(std::string_view(found));
    const bool unmarked = found == "unmarked";
    has_smaller_ = remaining && told.all.size() > 1;
    if (!remaining && !unmarked)
        return link_.refuse(reason::config_mismatch, mismatch(told));
    pass();
    if (unmarked && group_.passed->are_quorum())
        return on(event::to_be_marked);
    if (overlaps_)
        return refuse_overlapping();
    if (unmarked)
        return on(event::unmarked);
    group_.servers->admitted(index_);
    quarantine_ = *remaining < 0 ? forever : milliseconds(*remaining);
    on(event::marked);
}

void vetting::pass()
{
    if (const auto& told = group_.sentinels[index_])
        told->believe();
    group_.passed->enter(index_, *this);
}

void vetting::admit(admission what)
{
    state_ = state::admitted;
    link_.on_admitted(std::move(what));
}

void vetting::admit_marked()
{
    link_.on_admitted({.quarantine = quarantine_, .polls = polls_});
}

void vetting::admit_unmarked()
{
    link_.on_admitted({.polls = polls_, .unmarked = true});
}

/// Asks to be woken when a client gives back a resource, and when a watched key changes.
void vetting::subscribe()
{
    const std::string channel = group_.guarded->channel();
    request wakes;
    wakes.push("PUBLISH", channel, "");  // Tests whether scripts may. Nobody is subscribed yet.
    wakes.push("SUBSCRIBE", channel);
    wakes.push("SUBSCRIBE", group_.guarded->next_channel());
    wakes.push("SUBSCRIBE", group_.guarded->revoked_channel());
    request tracks;
    tracks.push("CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP");

    link_.exchange(wakes, &vetting::on_subscribed);
    link_.exchange(tracks, &vetting::on_tracking);
}

void vetting::on_subscribed(const texts& told)
{
    polls_ = told.error;
}

void vetting::on_tracking(const texts& told)
{
    if (polls_.empty())
        polls_ = told.error;
    on(event::subscribed);
}

std::string vetting::mismatch(const texts& told) const
{
    std::string found = told.first();
    if (constexpr std::string_view begin = "marked '"; found.starts_with(begin))
        found.erase(0, begin.size());
    return "the node's marker " + guard::describe_difference(found, fingerprint()) +
           "; give all clients of the database the same settings, or stop them and delete "
           "the key '" +
           group_.guarded->marker_key + "'";
}

void vetting::probe()
{
    request probe;
    switch (probe_by())
    {
    case probe_kind::marker:
        probe.push("GET", group_.guarded->marker_key);
        if (may_fail_over_)
            probe.push("INFO", "replication");
        break;
    case probe_kind::role: probe.push("ROLE"); break;
    case probe_kind::life: probe.push("PING"); break;
    }
    link_.exchange(probe, &vetting::on_looked_again);
    if (derives_overlap_)
        link_.exchange(make_replica_settings_request(), &vetting::on_settings_again);
}

vetting::probe_kind vetting::probe_by() const noexcept
{
    if (!group_.guarded)
        return may_ask_role_ ? probe_kind::role : probe_kind::life;
    return group_.seal.empty() ? probe_kind::marker : probe_kind::life;
}

void vetting::on_looked_again(const texts& told)
{
    if (const refusal now = judge_error(told.error))
        return link_.refuse(now.why, now.text);
    if (!told.error.empty())
    {
        // The user may not ask this, but the server is alive.
        may_ask_role_ = false;
        return;
    }
    const std::string found = told.first();
    switch (probe_by())
    {
    case probe_kind::marker:
        if (!is_own_marker(found))
            return link_.refuse(reason::unmarked, data_replaced);
        if (may_fail_over_)
            look_at_replication(told.all.back());
        break;
    case probe_kind::role:
        if (const refusal now = judge_role(found))
            link_.refuse(now.why, now.text);
        break;
    case probe_kind::life: break;
    }
}

void vetting::look_at_replication(const std::string& told)
{
    server_info server;
    read_info(server, told);
    if (const refusal now = judge_replication(server, server_.replication_id))
        return link_.refuse(now.why, now.text);
    server_.replicas = std::move(server.replicas);
}

/// A lag that has changed counts from the next failover on: the new master is asked for its own.
void vetting::on_settings_again(const texts& told)
{
    const bool may_not_ask = told.error.starts_with("NOPERM");
    if (!told.error.empty() && !may_not_ask)
        return;  // Such as BUSY. It is asked again in a second.
    replica_settings set;
    read_settings(set, told.all);
    set.error = told.error;
    if (const refusal now = judge_replicas(server_, set, group_.known_replicas(index_)))
        link_.refuse(now.why, now.text);
}

bool vetting::is_own_marker(const std::string& found) const
{
    const std::string expected = fingerprint() + incarnation();
    return found == expected || found == expected + " durable";
}

void vetting::on_looked(const texts& told)
{
    if (!told.error.empty())
        return link_.refuse(reason::rejected, told.error);
    admission what;
    what.marker = told.first();
    admit(std::move(what));
}

void vetting::on_mark_answered(const texts& told)
{
    link_.on_mark_answered({told.first(), told.error});
}

/// Marks a node without a marker, or only looks for one. The answer is the marker that was there.
/// @param what "mark" or "look".
void vetting::send_initialize(const char* what, step next)
{
    request made;
    made.push(
        "EVAL",
        initialize_script.text,
        2,
        group_.guarded->marker_key,
        group_.guarded->seal_key,
        fingerprint(),
        incarnation(),
        what,
        group_.seal,
        look_note_life
    );
    link_.exchange(made, next);
}

}  // namespace redlock::detail
