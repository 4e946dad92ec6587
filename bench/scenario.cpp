#include "scenario.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <ranges>
#include <stdexcept>

namespace bench {
namespace {

struct named_member
{
    std::string_view name;
    std::size_t scenario::* member;
};

constexpr std::array members{
    named_member{"nodes", &scenario::nodes},
    named_member{"clocks", &scenario::clocks},
    named_member{"far", &scenario::far},
    named_member{"delay", &scenario::delay},
    named_member{"missing", &scenario::missing},
    named_member{"slow", &scenario::slow},
    named_member{"lost", &scenario::lost},
    named_member{"compilers", &scenario::compilers},
    named_member{"killed", &scenario::killed},
    named_member{"frozen", &scenario::frozen},
    named_member{"wait", &scenario::wait},
};

// Reads a part such as `nodes=3`.
void set_member(scenario& what, std::string_view part)
{
    const std::size_t equals = part.find('=');
    const auto known = std::ranges::find(members, part.substr(0, equals), &named_member::name);
    const std::string_view number = equals == part.npos ? "" : part.substr(equals + 1);
    const char* const end = number.data() + number.size();
    std::size_t value = 0;
    const auto [stopped, failure] = std::from_chars(number.data(), end, value);
    if (known == members.end() || failure != std::errc() || stopped != end)
        throw std::invalid_argument("no part of a scenario: " + std::string(part));
    what.*(known->member) = value;
}

}  // namespace

scenario parse_scenario(std::string_view text)
{
    scenario what;
    what.text = text;
    if (text.empty())
        return what;
    for (const auto part : std::views::split(text, ','))
        set_member(what, std::string_view(part.begin(), part.end()));
    if (what.nodes == 0 ||
        std::max({what.missing, what.lost, std::size_t{what.slow > 1}}) > what.nodes)
        throw std::invalid_argument("a scenario with too few nodes: " + what.text);
    return what;
}

}  // namespace bench
