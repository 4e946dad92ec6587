#include "chaos/checker.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <ostream>
#include <sstream>

namespace redlock::test {

namespace {

using pointers = std::vector<const claim*>;

template <class Member>
pointers sorted(pointers claims, Member by)
{
    std::ranges::sort(claims, std::less(), [by](const claim* one) { return one->*by; });
    return claims;
}

// The one that ends last speaks for all before it: whoever comes next and overlaps any of them
// overlaps that one.
void check_overlaps(const pointers& claims, std::vector<violation>& found)
{
    const claim* latest = nullptr;
    for (const claim* next : sorted(claims, &claim::granted))
    {
        if (next->granted >= next->end)
            continue;
        if (latest != nullptr && next->granted < latest->end)
            found.push_back({breach::overlap, *latest, *next});
        if (latest == nullptr || next->end > latest->end)
            latest = next;
    }
}

void check_each_token_is_one_of_its_own(const pointers& claims, std::vector<violation>& found)
{
    const claim* previous = nullptr;
    for (const claim* next : sorted(claims, &claim::token))
    {
        if (!next->token)
            found.push_back({breach::missing_token, *next, *next});
        else if (previous != nullptr && previous->token == next->token)
            found.push_back({breach::same_token, *previous, *next});
        previous = next;
    }
}

// Goes through the claims as they were asked for. Of those granted before that instant the one with
// the highest token speaks for all.
void check_token_order(const pointers& claims, std::vector<violation>& found)
{
    const pointers granted = sorted(claims, &claim::granted);
    auto done = granted.begin();
    const claim* highest = nullptr;
    for (const claim* next : sorted(claims, &claim::invoked))
    {
        for (; done != granted.end() && (*done)->granted < next->invoked; ++done)
        {
            if (highest == nullptr || (*done)->token > highest->token)
                highest = *done;
        }
        if (highest != nullptr && next->token && next->token < highest->token)
            found.push_back({breach::lower_token, *highest, *next});
    }
}

class since
{
public:
    explicit since(const std::vector<claim>& claims)
    {
        const auto first = std::ranges::min_element(claims, std::less(), &claim::granted);
        if (first != claims.end())
            start_ = first->granted;
    }

    [[nodiscard]] double operator()(time_point when) const
    {
        return std::chrono::duration<double, std::milli>(when - start_).count();
    }

private:
    time_point start_{};
};

void print(std::ostream& out, const since& time, const claim& what)
{
    out << "worker " << what.worker << " asked at " << time(what.invoked) << " ms, had it from "
        << time(what.granted) << " to " << time(what.end) << " ms, token " << what.token << '\n';
}

}  // namespace

const char* to_string(breach value) noexcept
{
    switch (value)
    {
    case breach::overlap: return "two at the same time";
    case breach::same_token: return "the same token twice";
    case breach::lower_token: return "a lower token later";
    case breach::missing_token: return "no token";
    }
    return "unknown";
}

std::vector<violation> check(const std::vector<claim>& claims, tokens expected)
{
    std::map<std::uint32_t, pointers> resources;
    for (const claim& one : claims)
        resources[one.resource].push_back(&one);

    std::vector<violation> found;
    for (const auto& [resource, each] : resources)
    {
        check_overlaps(each, found);
        if (expected == tokens::none)
            continue;
        check_each_token_is_one_of_its_own(each, found);
        check_token_order(each, found);
    }
    return found;
}

std::string describe(
    const std::vector<violation>& violations,
    const std::vector<claim>& claims,
    std::size_t at_most
)
{
    const since time(claims);
    std::ostringstream out;
    out << std::fixed;
    out.precision(3);
    out << violations.size() << " violations in " << claims.size() << " claims\n";
    for (std::size_t index = 0; index < std::min(at_most, violations.size()); ++index)
    {
        const violation& one = violations[index];
        out << to_string(one.what) << ", resource " << one.second.resource << ":\n    ";
        print(out, time, one.first);
        out << "    ";
        print(out, time, one.second);
    }
    return out.str();
}

}  // namespace redlock::test
