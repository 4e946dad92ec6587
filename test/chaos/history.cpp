// A line for the call and a line for the return of each operation, as words:
//
//   call NAME ID RESOURCE ATTEMPT INVOKED TOKEN TTL VERSION AUTOMATIC
//   NAME OUTCOME ID RETURNED TOKEN DEADLINE VERSION WRITTEN ROUNDS
//   note WORKER: TEXT

#include "chaos/history.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <stdexcept>
#include <unordered_map>

#include <time.h>

namespace redlock::test {

namespace {

constexpr const char* action_names[] =
    {"acquire", "extend", "check", "lose", "release", "read", "write"};
constexpr const char* outcome_names[] = {"ok", "refused", "unknown"};

std::int64_t number(moment when)
{
    return when.time_since_epoch().count();
}

/// Reads words of one line.
class words
{
public:
    explicit words(std::string_view line) : rest_(line) {}

    std::string_view next()
    {
        const std::size_t end = std::min(rest_.find(' '), rest_.size());
        const std::string_view word = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        return word;
    }

    template <class Integer>
    void read(Integer& into)
    {
        const std::string_view word = next();
        const auto [end, ec] = std::from_chars(word.data(), word.data() + word.size(), into);
        if (ec != std::errc() || end != word.data() + word.size())
            throw std::invalid_argument("not a number: '" + std::string(word) + "'");
    }

    void read(moment& into)
    {
        moment::rep count = 0;
        read(count);
        into = moment(std::chrono::nanoseconds(count));
    }

    void read(milliseconds& into)
    {
        milliseconds::rep count = 0;
        read(count);
        into = milliseconds(count);
    }

    void read(fencing_token& into)
    {
        std::uint64_t value = 0;
        read(value);
        into = fencing_token::from_value(value);
    }

    void read(bool& into)
    {
        int value = 0;
        read(value);
        into = value != 0;
    }

private:
    std::string_view rest_;
};

template <class Value, std::size_t Count>
Value value_of(std::string_view word, const char* const (&names)[Count])
{
    const auto found = std::ranges::find(names, word);
    if (found == std::end(names))
        throw std::invalid_argument("not a word of a worker's log: '" + std::string(word) + "'");
    return static_cast<Value>(found - std::begin(names));
}

template <class... Values>
std::string line_of(std::string line, const Values&... values)
{
    ((line += ' ', line += std::to_string(values)), ...);
    return line + '\n';
}

operation read_call(words& from)
{
    operation what;
    what.what = value_of<action>(from.next(), action_names);
    from.read(what.id);
    from.read(what.resource);
    from.read(what.attempt);
    from.read(what.invoked);
    from.read(what.token);
    from.read(what.ttl);
    from.read(what.version);
    from.read(what.automatic);
    from.read(what.grace);
    return what;
}

void read_return(words& from, operation& into)
{
    from.read(into.returned);
    from.read(into.token);
    from.read(into.deadline);
    from.read(into.version);
    from.read(into.written);
    from.read(into.rounds);
}

}  // namespace

moment boot_clock::now() noexcept
{
    timespec time{};
    ::clock_gettime(CLOCK_BOOTTIME, &time);
    return moment(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

// The clocks differ by a constant as long as the machine is not suspended. It is read between two
// looks at the other clock, and what comes of the shortest time between them is used.
moment boot_time_of(time_point deadline) noexcept
{
    static const std::chrono::nanoseconds offset = [] {
        std::chrono::nanoseconds best{};
        auto shortest = std::chrono::nanoseconds::max();
        for (int attempt = 0; attempt < 100; ++attempt)
        {
            const time_point before = time_point::clock::now();
            const moment boot = boot_clock::now();
            const std::chrono::nanoseconds took = time_point::clock::now() - before;
            if (took < shortest)
                best = boot.time_since_epoch() - before.time_since_epoch() - took / 2;
            shortest = std::min(shortest, took);
        }
        return best;
    }();
    return moment(deadline.time_since_epoch() + offset);
}

const char* to_string(action value) noexcept
{
    return action_names[static_cast<std::size_t>(value)];
}

const char* to_string(outcome value) noexcept
{
    return outcome_names[static_cast<std::size_t>(value)];
}

std::vector<operation> granted(const history& all)
{
    std::vector<operation> result;
    std::ranges::copy_if(all.operations, std::back_inserter(result), [](const operation& one) {
        return one.what == action::acquire && one.result == outcome::ok;
    });
    return result;
}

std::string invoked_line(const operation& what)
{
    return line_of(
        std::string("call ") + to_string(what.what),
        what.id,
        what.resource,
        what.attempt,
        number(what.invoked),
        what.token.value(),
        what.ttl.count(),
        what.version,
        static_cast<int>(what.automatic),
        what.grace.count()
    );
}

std::string returned_line(const operation& what)
{
    return line_of(
        std::string(to_string(what.what)) + ' ' + to_string(what.result),
        what.id,
        number(what.returned),
        what.token.value(),
        number(what.deadline),
        what.version,
        what.written,
        what.rounds
    );
}

std::string note_line(std::uint32_t worker, std::string_view text)
{
    return "note " + std::to_string(worker) + ": " + std::string(text) + '\n';
}

bool tells_of_a_grant(std::string_view line) noexcept
{
    return line.starts_with("acquire ok ");
}

void read_log(std::string_view text, history& into)
{
    std::unordered_map<std::uint64_t, std::size_t> called;  // Ids of those that have not returned.
    for (;;)
    {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos)
            return;
        words line(text.substr(0, end));
        const std::string_view kind = line.next();
        if (kind == "call")
        {
            into.operations.push_back(read_call(line));
            called[into.operations.back().id] = into.operations.size() - 1;
        }
        else if (kind == "note")
        {
            into.notes.emplace_back(text.substr(5, end - 5));
        }
        else
        {
            const auto what = value_of<action>(kind, action_names);
            const auto result = value_of<outcome>(line.next(), outcome_names);
            std::uint64_t id = 0;
            line.read(id);
            const auto found = called.find(id);
            if (found == called.end() || into.operations[found->second].what != what)
                throw std::invalid_argument("a return without a call");
            into.operations[found->second].result = result;
            read_return(line, into.operations[found->second]);
            called.erase(found);
        }
        text.remove_prefix(end + 1);
    }
}

}  // namespace redlock::test
