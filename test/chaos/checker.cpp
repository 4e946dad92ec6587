#include "chaos/checker.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <ostream>
#include <sstream>
#include <unordered_map>

namespace redlock::test {

namespace {

using pointers = std::vector<const operation*>;
using violations = std::vector<violation>;

template <class Element, class Member>
std::vector<Element> sorted(std::vector<Element> all, Member by)
{
    std::ranges::stable_sort(all, std::less(), by);
    return all;
}

bool is_granted(const operation& one)
{
    return one.what == action::acquire && one.result == outcome::ok;
}

/// The operations of one lease, as they were called.
struct attempt
{
    const operation* acquired = nullptr;  ///< Null: it was not granted.
    pointers rest{};                      ///< What was done with the lease.
};

std::unordered_map<std::uint64_t, attempt> attempts_of(const std::vector<operation>& operations)
{
    std::unordered_map<std::uint64_t, attempt> all;
    for (const operation& one : operations)
    {
        attempt& its = all[one.attempt];
        if (is_granted(one))
            its.acquired = &one;
        else if (one.what != action::acquire)
            its.rest.push_back(&one);
    }
    for (auto& [id, one] : all)
        one.rest = sorted(std::move(one.rest), &operation::invoked);
    return all;
}

/// An extension that reports a revocation may have moved the deadline before: its worker asked the
/// lease.
bool tells_a_deadline(const operation& one)
{
    if (one.what == action::extend && one.result == outcome::unknown)
        return one.deadline != moment{};
    return one.result == outcome::ok && (one.what == action::extend || one.what == action::check);
}

/// When its owner began to give it back.
moment release_of(const attempt& its)
{
    const auto released = std::ranges::find(its.rest, action::release, &operation::what);
    return released == its.rest.end() ? never : (*released)->invoked;
}

/// When the lease was over by what the worker did or heard, whatever the deadline.
moment end_of(const attempt& its)
{
    moment end = never;
    for (const operation* one : its.rest)
    {
        if (one->what == action::release)
            end = std::min(end, one->invoked);
        else if (one->what == action::lose && one->result == outcome::ok)
            end = std::min(end, one->returned);
    }
    return end;
}

claim claim_of(const attempt& its)
{
    moment deadline = its.acquired->deadline;
    for (const operation* one : its.rest)
    {
        if (tells_a_deadline(*one))
            deadline = std::max(deadline, one->deadline);
    }
    const milliseconds grace = its.acquired->grace;
    const moment end = grace > milliseconds(0) ? release_of(its) : end_of(its);
    return {its.acquired, its.acquired->returned, std::min(deadline + grace, end)};
}

/// The latest deadline that a lease may have: the ttl, less the margin of the default drift, from
/// the last instant at which it can have been granted.
moment latest_deadline(const operation& told, milliseconds ttl)
{
    return told.returned + ttl - (std::chrono::nanoseconds(ttl) / 100 + milliseconds(2));
}

void check_lease(const attempt& its, tokens expected, violations& found)
{
    const operation& acquired = *its.acquired;
    const moment end = end_of(its);
    moment deadline = acquired.deadline;
    milliseconds ttl = acquired.ttl;
    if (expected == tokens::increasing && !acquired.token)
        found.push_back({breach::missing_token, acquired, acquired});
    if (deadline > latest_deadline(acquired, ttl))
        found.push_back({breach::long_deadline, acquired, acquired});
    for (const operation* one : its.rest)
    {
        if (one->token != acquired.token)
            found.push_back({breach::changed_token, acquired, *one});
        if (!tells_a_deadline(*one))
            continue;
        ttl = std::max(ttl, one->ttl);
        const bool over = !acquired.automatic && one->invoked > deadline;
        if (over || one->invoked > end)
            found.push_back({breach::revived, acquired, *one});
        if (one->deadline < deadline)
            found.push_back({breach::shortened, acquired, *one});
        if (one->deadline > latest_deadline(*one, ttl))
            found.push_back({breach::long_deadline, acquired, *one});
        deadline = std::max(deadline, one->deadline);
    }
}

// The one that ends last speaks for all before it: what comes next and overlaps any of them
// overlaps that one.
void check_overlaps(const std::vector<claim>& by_begin, violations& found)
{
    const claim* latest = nullptr;
    for (const claim& next : by_begin)
    {
        if (next.begin >= next.end)
            continue;
        if (latest != nullptr && next.begin < latest->end)
            found.push_back({breach::overlap, *latest->acquired, *next.acquired});
        if (latest == nullptr || next.end > latest->end)
            latest = &next;
    }
}

void check_tokens_follow_claims(const std::vector<claim>& by_begin, violations& found)
{
    const operation* highest = nullptr;
    for (const claim& next : by_begin)
    {
        if (next.begin >= next.end)
            continue;
        if (highest != nullptr && next.acquired->token < highest->token)
            found.push_back({breach::token_order, *highest, *next.acquired});
        if (highest == nullptr || next.acquired->token > highest->token)
            highest = next.acquired;
    }
}

void check_each_token_is_one_of_its_own(const pointers& granted, violations& found)
{
    const operation* previous = nullptr;
    for (const operation* next : sorted(granted, &operation::token))
    {
        if (previous != nullptr && next->token && previous->token == next->token)
            found.push_back({breach::same_token, *previous, *next});
        previous = next;
    }
}

// Goes through the leases as they were asked for. Of those granted before that instant the one with
// the highest token speaks for all.
void check_tokens_follow_time(const pointers& granted, violations& found)
{
    const pointers by_return = sorted(granted, &operation::returned);
    auto done = by_return.begin();
    const operation* highest = nullptr;
    for (const operation* next : sorted(granted, &operation::invoked))
    {
        for (; done != by_return.end() && (*done)->returned < next->invoked; ++done)
        {
            if (highest == nullptr || (*done)->token > highest->token)
                highest = *done;
        }
        if (highest != nullptr && next->token && next->token < highest->token)
            found.push_back({breach::lower_token, *highest, *next});
    }
}

void check_leases(const std::vector<operation>& operations, tokens expected, violations& found)
{
    std::map<std::uint32_t, std::vector<claim>> resources;
    for (const auto& [id, one] : attempts_of(operations))
    {
        if (one.acquired != nullptr)
        {
            check_lease(one, expected, found);
            resources[one.acquired->resource].push_back(claim_of(one));
            continue;
        }
        for (const operation* orphan : one.rest)
            found.push_back({breach::not_granted, *orphan, *orphan});
    }
    for (auto& [resource, claims] : resources)
    {
        const std::vector<claim> by_begin = sorted(std::move(claims), &claim::begin);
        check_overlaps(by_begin, found);
        if (expected == tokens::none)
            continue;
        pointers granted;
        std::ranges::transform(by_begin, std::back_inserter(granted), &claim::acquired);
        check_tokens_follow_claims(by_begin, found);
        check_each_token_is_one_of_its_own(granted, found);
        check_tokens_follow_time(granted, found);
    }
}

/// What was asked of the store for one resource, and what it accepted.
struct accesses
{
    pointers reads{};    ///< Answered with a version.
    pointers refused{};  ///< Of both kinds.
    pointers all{};
    std::vector<const store_entry*> entries{};
};

using by_id = std::unordered_map<std::uint64_t, const operation*>;

const operation* writer_of(const store_entry& entry, const by_id& writes)
{
    const auto found = writes.find(entry.write);
    return found != writes.end() ? found->second : nullptr;
}

/// An entry of the store in the form of the operation that made it.
operation as_operation(const store_entry& entry)
{
    operation result;
    result.what = action::write;
    result.result = outcome::ok;
    result.resource = entry.resource;
    result.returned = {};  // The store has no clock.
    result.id = entry.write;
    result.token = entry.token;
    result.version = entry.base;
    result.written = entry.version;
    return result;
}

// The order of the store by itself, and in comparison with the times.
void check_entries(const accesses& of, const by_id& writes, violations& found)
{
    const store_entry* previous = nullptr;
    const operation* latest = nullptr;
    for (std::size_t index = 0; index < of.entries.size(); ++index)
    {
        const store_entry& entry = *of.entries[index];
        const operation shown = as_operation(entry);
        const operation before = previous != nullptr ? as_operation(*previous) : shown;
        if (entry.version != index + 1)
            found.push_back({breach::version_gap, before, shown});
        if (entry.base + 1 != entry.version)
            found.push_back({breach::lost_update, before, shown});
        if (previous != nullptr && entry.token < previous->token)
            found.push_back({breach::lower_write, before, shown});
        previous = &entry;

        const operation* const writer = writer_of(entry, writes);
        if (writer == nullptr)
            continue;
        if (latest != nullptr && writer->returned < latest->invoked)
            found.push_back({breach::early_write, *writer, *latest});
        if (latest == nullptr || writer->invoked > latest->invoked)
            latest = writer;
    }
}

// That the store has exactly the writes that it confirmed, and of those without an answer some.
void check_writes(const std::vector<store_entry>& entries, const by_id& writes, violations& found)
{
    std::unordered_map<std::uint64_t, const store_entry*> present;
    for (const store_entry& entry : entries)
    {
        const operation shown = as_operation(entry);
        const operation* const writer = writer_of(entry, writes);
        if (!present.emplace(entry.write, &entry).second)
            found.push_back({breach::repeated_write, shown, shown});
        else if (writer == nullptr)
            found.push_back({breach::foreign_write, shown, shown});
        else if (writer->result == outcome::refused)
            found.push_back({breach::refused_write, *writer, shown});
        else if (writer->resource != entry.resource || writer->token != entry.token ||
                 writer->version != entry.base ||
                 (writer->result == outcome::ok && writer->written != entry.version))
            found.push_back({breach::altered_write, *writer, shown});
    }
    for (const auto& [id, one] : writes)
    {
        if (one->result == outcome::ok && !present.contains(id))
            found.push_back({breach::missing_write, *one, *one});
    }
}

// A read raises the fence. So what it saw was written with its token or lower ones, and what was
// written later has its token or a higher one.
void check_neighbours(
    const operation& read,
    const std::vector<const store_entry*>& entries,
    violations& found
)
{
    if (read.version < entries.size() && entries[read.version]->token < read.token)
        found.push_back({breach::lower_write, read, as_operation(*entries[read.version])});
    if (read.version > 0 && read.version <= entries.size())
    {
        const store_entry& seen = *entries[read.version - 1];
        if (seen.token > read.token)
            found.push_back({breach::stale_access, as_operation(seen), read});
    }
}

// Goes through reads as they were called. Of the writes that had returned, the last version speaks
// for all.
void check_reads(const accesses& of, const by_id& writes, violations& found)
{
    struct done_write
    {
        moment returned;
        std::uint64_t version;
        const operation* writer;
    };
    std::vector<done_write> done;
    for (const store_entry* entry : of.entries)
    {
        if (const operation* const writer = writer_of(*entry, writes); writer != nullptr)
            done.push_back({writer->returned, entry->version, writer});
    }
    done = sorted(std::move(done), &done_write::returned);

    auto next = done.begin();
    const done_write* last = nullptr;
    for (const operation* read : sorted(of.reads, &operation::invoked))
    {
        for (; next != done.end() && next->returned < read->invoked; ++next)
        {
            if (last == nullptr || next->version > last->version)
                last = &*next;
        }
        if (last != nullptr && last->version > read->version)
            found.push_back({breach::stale_read, *last->writer, *read});
        check_neighbours(*read, of.entries, found);
        if (read->version == 0)
            continue;
        const operation* const seen = read->version <= of.entries.size()
                                          ? writer_of(*of.entries[read->version - 1], writes)
                                          : nullptr;
        if (seen == nullptr || seen->invoked > read->returned)
            found.push_back({breach::early_read, seen != nullptr ? *seen : *read, *read});
    }
}

// An access that was accepted must not come after one with a higher token had returned.
void check_fence(const accesses& of, const by_id& writes, violations& found)
{
    pointers accepted = of.reads;
    for (const store_entry* entry : of.entries)
    {
        if (const operation* const writer = writer_of(*entry, writes); writer != nullptr)
            accepted.push_back(writer);
    }
    const pointers by_return = sorted(accepted, &operation::returned);
    auto done = by_return.begin();
    const operation* highest = nullptr;
    for (const operation* next : sorted(accepted, &operation::invoked))
    {
        for (; done != by_return.end() && (*done)->returned < next->invoked; ++done)
        {
            if (highest == nullptr || (*done)->token > highest->token)
                highest = *done;
        }
        if (highest != nullptr && next->token < highest->token)
            found.push_back({breach::stale_access, *highest, *next});
    }
}

// An access may only be refused if one with a higher token was called before that was told.
void check_refusals(const accesses& of, violations& found)
{
    const pointers by_call = sorted(of.all, &operation::invoked);
    auto called = by_call.begin();
    fencing_token highest;
    for (const operation* next : sorted(of.refused, &operation::returned))
    {
        for (; called != by_call.end() && (*called)->invoked < next->returned; ++called)
            highest = std::max(highest, (*called)->token);
        if (highest <= next->token)
            found.push_back({breach::unfounded, *next, *next});
    }
}

void check_store(const history& all, violations& found)
{
    std::map<std::uint32_t, accesses> resources;
    by_id writes;
    for (const operation& one : all.operations)
    {
        if (one.what != action::read && one.what != action::write)
            continue;
        accesses& of = resources[one.resource];
        of.all.push_back(&one);
        if (one.what == action::write)
            writes[one.id] = &one;
        else if (one.result == outcome::ok)
            of.reads.push_back(&one);
        if (one.result == outcome::refused)
            of.refused.push_back(&one);
    }
    for (const store_entry& entry : all.store)
        resources[entry.resource].entries.push_back(&entry);

    check_writes(all.store, writes, found);
    for (const auto& [resource, of] : resources)
    {
        check_entries(of, writes, found);
        check_reads(of, writes, found);
        check_fence(of, writes, found);
        check_refusals(of, found);
    }
}

/// Prints operations with times since the first one.
class printer
{
public:
    explicit printer(const history& all)
    {
        const auto first = std::ranges::min_element(all.operations, {}, &operation::invoked);
        if (first != all.operations.end())
            start_ = first->invoked;
    }

    void print(std::ostream& out, const operation& what) const
    {
        out << "    worker " << worker_of(what.id) << ": " << to_string(what.what) << ' '
            << to_string(what.result) << ", id " << what.id << ", attempt " << what.attempt
            << ", token " << what.token;
        print_time(out, ", called at ", what.invoked);
        print_time(out, ", returned at ", what.returned);
        print_time(out, ", deadline ", what.deadline);
        if (what.what == action::read)
            out << ", version " << what.version;
        if (what.what == action::write)
            out << ", version " << what.version << " to " << what.written;
        out << '\n';
    }

private:
    void print_time(std::ostream& out, const char* before, moment when) const
    {
        if (when == never)
            out << before << "no time";
        else if (when != moment{})
            out << before << std::chrono::duration<double, std::milli>(when - start_).count()
                << " ms";
    }

    moment start_{};
};

}  // namespace

const char* to_string(breach value) noexcept
{
    switch (value)
    {
    case breach::overlap: return "two at the same time";
    case breach::same_token: return "the same token twice";
    case breach::lower_token: return "a lower token later";
    case breach::token_order: return "a lower token of a later claim";
    case breach::missing_token: return "no token";
    case breach::changed_token: return "another token of the same lease";
    case breach::long_deadline: return "a deadline beyond the ttl";
    case breach::shortened: return "an extension that shortens";
    case breach::revived: return "a lease valid after its end";
    case breach::not_granted: return "use of a lease that was not granted";
    case breach::lost_update: return "a lost update";
    case breach::version_gap: return "a version left out";
    case breach::lower_write: return "a write after one with a higher token";
    case breach::stale_access: return "an access after one with a higher token";
    case breach::unfounded: return "a refusal without a higher token";
    case breach::missing_write: return "a confirmed write that is not there";
    case breach::refused_write: return "a refused write that is there";
    case breach::repeated_write: return "a write that is there twice";
    case breach::foreign_write: return "a write that nobody made";
    case breach::altered_write: return "a write that is not as it was made";
    case breach::early_write: return "a write before one that had returned";
    case breach::stale_read: return "a read that misses a write";
    case breach::early_read: return "a read of a version that is to come";
    }
    return "unknown";
}

std::vector<claim> claims_of(const std::vector<operation>& operations)
{
    std::vector<claim> all;
    for (const auto& [id, one] : attempts_of(operations))
    {
        if (one.acquired != nullptr)
            all.push_back(claim_of(one));
    }
    return sorted(std::move(all), &claim::begin);
}

std::vector<violation> check(const history& all, tokens expected)
{
    violations found;
    check_leases(all.operations, expected, found);
    if (expected == tokens::increasing)
        check_store(all, found);
    return sorted(std::move(found), [](const violation& one) { return one.second.invoked; });
}

std::string describe(
    const std::vector<violation>& violations,
    const history& all,
    std::size_t at_most
)
{
    const printer print(all);
    std::ostringstream out;
    out << std::fixed;
    out.precision(3);
    out << violations.size() << " violations in " << all.operations.size() << " operations\n";
    for (std::size_t index = 0; index < std::min(at_most, violations.size()); ++index)
    {
        const violation& one = violations[index];
        out << to_string(one.what) << ", resource " << one.second.resource << ":\n";
        print.print(out, one.first);
        print.print(out, one.second);
    }
    return out.str();
}

}  // namespace redlock::test
