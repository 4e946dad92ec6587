#include "sim/server.hpp"

#include <boost/assert.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

#include "testing/manual_time.hpp"

namespace redlock::sim {

namespace {

/// The database of what is noted with the data.
constexpr unsigned notes_database = 1'000'000;

/// Takes one command from `input`, from `at` on. @return False if it is not whole.
bool take_command(std::string_view input, std::size_t& at, arguments& to)
{
    const auto read_size = [&](std::size_t& from, char first, std::size_t& size) {
        const std::size_t end = input.find("\r\n", from);
        if (end == input.npos)
            return false;
        BOOST_ASSERT_MSG(input[from] == first, "the library writes commands as lists of strings");
        std::from_chars(input.data() + from + 1, input.data() + end, size);
        from = end + 2;
        return true;
    };
    std::size_t next = at;
    std::size_t count = 0;
    if (!read_size(next, '*', count))
        return false;
    to.resize(count);  // Strings that are there keep their memory.
    for (std::string& each : to)
    {
        std::size_t size = 0;
        if (!read_size(next, '$', size) || input.size() < next + size + 2)
            return false;
        each.assign(input.substr(next, size));
        next += size + 2;
    }
    at = next;
    return true;
}

/// How many commands it is worth.
std::size_t work_of(const arguments& command)
{
    std::size_t keys = 1;
    if (command.size() > 2 && (command[0] == "EVAL" || command[0] == "EVALSHA"))
        std::from_chars(command[2].data(), command[2].data() + command[2].size(), keys);
    return std::max<std::size_t>(keys, 1);
}

std::size_t errors_in(const answer& replied)
{
    std::size_t count = replied.is_error() && !replied.text.starts_with("NOSCRIPT");
    for (const answer& each : replied.elements)
        count += errors_in(each);
    return count;
}

/// What is told of an argument: not all of a script, and no byte that spoils a terminal.
std::string show(std::string_view argument)
{
    constexpr std::size_t longest = 60;
    std::string shown(argument.substr(0, longest));
    std::ranges::replace_if(shown, [](char each) { return each < ' ' || each > '~'; }, '.');
    return argument.size() > longest ? shown + "..." : shown;
}

std::string show(const answer& replied)
{
    using enum answer::kind;
    switch (replied.what)
    {
    case status: return replied.text;
    case error: return "-" + show(replied.text);
    case integer: return std::to_string(replied.number);
    case bulk:
    case real:
    case verbatim: return "'" + show(replied.text) + "'";
    case null: return "nil";
    case array:
    case pushed:
    case map: break;
    }
    std::string shown = "[";
    for (const answer& each : replied.elements)
        shown += (shown.size() > 1 ? ", " : "") + show(each);
    return shown + "]";
}

}  // namespace

const char* to_string(impairment value) noexcept
{
    switch (value)
    {
    case impairment::none: return "well";
    case impairment::loading: return "loading";
    case impairment::busy: return "busy";
    case impairment::out_of_memory: return "out of memory";
    case impairment::misconf: return "unable to save";
    case impairment::read_only: return "read only";
    case impairment::no_replicas: return "short of replicas";
    case impairment::master_down: return "without its master";
    case impairment::no_permission: return "without permission for us";
    }
    return "unknown";
}

server::server(
    schedule& time,
    script_engine& scripts,
    trace& told,
    options how,
    std::uint64_t seed,
    std::function<void(const key_change&)> changed,
    std::function<void(const command_run&)> ran
)
    : time_(time),
      scripts_(scripts),
      trace_(told),
      how_(std::move(how)),
      dice_(seed),
      changed_(std::move(changed)),
      ran_(std::move(ran))
{
    databases_[0];
    databases_[notes_database];
    for (auto& [number, each] : databases_)
    {
        if (!how_.crashes)
            each.forget_changes();
    }
    draw_run_id();
    start();
}

std::string server::receive(session& from, std::string_view bytes)
{
    // Nearly always the commands are whole, and need not be kept.
    const bool whole = from.input.empty();
    if (!whole)
        from.input += bytes;
    const std::string_view input = whole ? bytes : std::string_view(from.input);
    std::size_t at = 0;
    while (take_command(input, at, received_))
    {
        const answer replied = execute(from, received_);
        work_ += work_of(received_);
        encode(replied, from.resp3, from.output);
    }
    if (whole)
        from.input = input.substr(at);
    else
        from.input.erase(0, at);
    return std::exchange(from.output, {});
}

answer server::execute(session& from, const arguments& command)
{
    command_ = &command;
    at_work_ = &from;
    answer replied = run_command({from, command, false});
    at_work_ = nullptr;
    command_ = nullptr;
    if (impaired_ == impairment::none && !replica_)
        errors_ += errors_in(replied);
    note(from, command, replied);
    if (ran_ && from.database == 0)
        ran_({*this, command, replied});
    return replied;
}

void server::note(const session& from, const arguments& command, const answer& replied)
{
    trace_.count(
        how_.name,
        command.front(),
        from.client,
        command.size(),
        std::string_view(command.back()).substr(0, 50),
        std::string_view(replied.text).substr(0, 50),
        replied.number
    );
    if (!trace_.in_words())
        return;
    std::string words = "c" + std::to_string(from.client) + ": " + command.front();
    for (std::size_t i = 1; i < command.size(); ++i)
        words += ' ' + show(command[i]);
    trace_.tell(how_.name, words + " -> " + show(replied));
}

void server::impair(impairment by)
{
    impaired_ = by;
    trace_.note(how_.name, "is", std::string_view(to_string(by)));
}

void server::set_clock(nanoseconds by)
{
    how_.wall.step(by);
    trace_.note(how_.name, "clock is set by ns", by.count());
    for (const auto& each : listeners_)
    {
        for (const std::string& key : each->tracked)
            plan_expiry(key, each->database);
    }
}

void server::flush_all()
{
    for (auto& [index, keys] : databases_)
        keys.clear(time_.elapsed());
    trace_.note(how_.name, "is flushed");
    invalidate_all();
}

void server::remove(std::string_view key)
{
    databases_[0].erase(key, time_.elapsed());
    trace_.note(how_.name, "loses the key", key);
    invalidate(key);
}

void server::flush_scripts()
{
    loaded_.clear();
    trace_.note(how_.name, "has its scripts flushed");
}

void server::crash(nanoseconds lost, nanoseconds back_at)
{
    up_ = false;
    back_at_ = back_at;
    draw_run_id();
    ++life_;
    impaired_ = impairment::none;
    replica_ = was_replica_ = false;
    loaded_.clear();
    listeners_.clear();
    if (!how_.durable)
    {
        for (auto& [index, keys] : databases_)
            keys.roll_back(time_.elapsed() - lost);
    }
    trace_.note(how_.name, "crashes and loses ns", how_.durable ? 0 : lost.count());
}

void server::copy(const server& master)
{
    replica_ = was_replica_ = true;
    replication_id_ = master.replication_id_;
    for (auto& [index, keys] : databases_)
    {
        keys.clear(time_.elapsed());
        const auto from = master.databases_.find(index);
        if (from == master.databases_.end())
            continue;
        for (const auto& [key, value] : from->second.all())
            keys.set(key, value, time_.elapsed());
    }
    invalidate_all();
    trace_.note(how_.name, "is a replica of", std::string_view(master.name()));
}

void server::promote()
{
    if (!std::exchange(replica_, false))
        return;
    trace_.note(how_.name, "is a master again");
    if (!how_.keeps_replication_id)
        renew_replication_id();
}

void server::take_over(const server& from, nanoseconds lag)
{
    databases_ = from.databases_;
    for (auto& [index, keys] : databases_)
        keys.roll_back(time_.elapsed() - lag);
    invalidate_all();
    trace_.note(how_.name, "lags behind by ns", lag.count());
    replica_ = was_replica_ = true;
    promote();
}

void server::draw_run_id()
{
    static constexpr char digits[] = "0123456789abcdef";
    run_id_.clear();
    for (int i = 0; i < 40; ++i)
        run_id_ += digits[dice_.below(16)];
    renew_replication_id();
}

/// Another one each time, and of no other server.
void server::renew_replication_id()
{
    const std::string count = std::to_string(++promotions_);
    former_replication_id_ = std::exchange(replication_id_, run_id_);
    replication_id_.replace(0, count.size() + 1, count + "-");
}

void server::start()
{
    up_ = true;
    started_ = now().count() / 1'000'000;
    trace_.note(how_.name, "starts");
}

std::chrono::microseconds server::now() const noexcept
{
    const nanoseconds shown = how_.wall.read(time_.elapsed());
    return testing::beginning_of_time + std::chrono::floor<std::chrono::microseconds>(shown);
}

const entry* server::look(std::string_view key) const
{
    const auto& all = keys();
    const auto found = all.find(key);
    return found == all.end() || found->second.expired(now_ms()) ? nullptr : &found->second;
}

nanoseconds server::gone_at(const entry& key) const noexcept
{
    if (key.expires == entry::never)
        return nanoseconds::max();
    // Its last millisecond is over with the next one.
    const milliseconds shown(key.expires + 1);
    return how_.wall.when(shown - testing::beginning_of_time);
}

void server::plant(std::string_view key, std::string value)
{
    entry made;
    made.value = std::move(value);
    databases_[0].set(key, std::move(made), -nanoseconds(1) - nanoseconds(1'000'000'000'000));
}

void server::note_with_data(std::string_view what, milliseconds for_how_long)
{
    entry made;
    made.expires = now_ms() + for_how_long.count();
    databases_[notes_database].set(what, std::move(made), time_.elapsed());
}

bool server::has_noted(std::string_view what) const
{
    const auto& all = databases_.at(notes_database).all();
    const auto found = all.find(what);
    return found != all.end() && !found->second.expired(now_ms());
}

entry* server::find(const call& by, std::string_view key)
{
    entry* const found = database(by).find(key, now_ms());
    if (!found)
        expire(key, by.from.database);
    return found;
}

void server::put(const call& by, std::string_view key, entry after)
{
    tell(by, key, &after);
    database(by).set(key, std::move(after), time_.elapsed());
}

void server::erase(const call& by, std::string_view key)
{
    tell(by, key, nullptr);
    database(by).erase(key, time_.elapsed());
}

/// A key is about to change.
void server::tell(const call& by, std::string_view key, const entry* after)
{
    script_wrote_ = true;
    if (changed_ && by.from.database == 0)
        changed_({*this, key, find(by, key), after, *command_, by.from.client});
    invalidate(key);
}

}  // namespace redlock::sim
