#include "comparison.hpp"

#include "child.hpp"
#include "isolated.hpp"
#include "limit.hpp"
#include "pairs.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

/// Measures `pairs` pairs of `concurrency` tasks on the servers at `ports`.
using run_function =
    result (*)(std::span<const std::uint16_t> ports, std::size_t concurrency, std::size_t pairs);

/// Longer than any measurement takes.
constexpr std::chrono::minutes time_limit{5};

struct implementation
{
    std::string_view name;
    std::string_view mode;
    std::string_view limit_mode;  ///< Of the limit that sends the same scripts.
    run_function run;
};

constexpr std::string_view overlap_mode = "overlap";

constexpr std::array implementations{
    implementation{"limit", "plain", "plain", &run_limit},
    implementation{"redlock", "plain", "plain", &run_plain},
    implementation{"limit", "guarded", "guarded", &run_guarded_limit},
    implementation{"redlock", "guarded", "guarded", &run_guarded},
    implementation{"redlock", overlap_mode, "guarded", &run_guarded_with_overlap},
};

// A second or two of work for the bare client, and more where the noise of the scheduler is worst.
std::size_t default_pairs(std::size_t concurrency)
{
    if (concurrency < 4)
        return 40'000;
    if (concurrency < 64)
        return 60'000;
    return 150'000;
}

std::vector<std::size_t> choose_concurrencies(const options& chosen)
{
    return chosen.concurrencies.empty() ? std::vector<std::size_t>{1, 16, 256}
                                        : chosen.concurrencies;
}

std::size_t choose_pairs(const options& chosen, std::size_t concurrency)
{
    const std::size_t divisor = chosen.size == scale::quick ? 10 : 1;
    const std::size_t pairs = chosen.pairs.value_or(default_pairs(concurrency) / divisor);
    return std::max(pairs, concurrency);
}

// Into so many parts a measurement is cut. In shorter ones the end would count too much, when tasks
// are done and the others go on.
std::size_t choose_parts(std::size_t pairs, std::size_t concurrency)
{
    const std::size_t shortest = std::max<std::size_t>(1'000, 100 * concurrency);
    return std::clamp<std::size_t>(pairs / shortest, 1, 20);
}

std::vector<implementation> choose_implementations(const options& chosen)
{
    const auto is_chosen = [&](const implementation& candidate) {
        if (candidate.mode == overlap_mode)
            return chosen.wants_overlap();
        return chosen.only.empty() || chosen.names(candidate.name);
    };
    std::vector<implementation> selected;
    std::ranges::copy_if(implementations, std::back_inserter(selected), is_chosen);
    return selected;
}

double cpu_seconds_of(const std::vector<::pid_t>& servers)
{
    std::chrono::duration<double> sum{0};
    for (const ::pid_t server : servers)
        sum += cpu_time_of(server);
    return sum.count();
}

// The results of each implementation, in the order of the rounds.
using results = std::vector<std::vector<result>>;

// Interleaves the implementations, part by part, so that a disturbance of the machine meets all of
// them. The first one and the direction alternate, so that none profits from its place or from who
// comes before it.
results measure(
    const std::vector<implementation>& selected,
    const pair_nodes& nodes,
    const options& chosen,
    const placement& where,
    std::size_t concurrency
)
{
    const std::size_t pairs = choose_pairs(chosen, concurrency);
    const std::size_t parts = choose_parts(pairs, concurrency);
    const auto run_alone = [&](const implementation& one) {
        const auto& ports = one.mode == overlap_mode ? nodes.with_overlap : nodes.plain;
        const double before = cpu_seconds_of(nodes.servers);
        auto found = run_isolated<result>(time_limit, [&] {
            move_to(where.client);
            return one.run(ports, concurrency, pairs / parts);
        });
        const std::size_t asked = pair_meter::total_of(pairs / parts) * ports.size();
        const double spent = cpu_seconds_of(nodes.servers) - before;
        found.server_us_per_pair = spent * 1e6 / static_cast<double>(asked);
        return found;
    };
    for (const implementation& warmed : selected)
        (void)run_alone(warmed);

    results found(selected.size());
    const std::size_t rounds = chosen.rounds.value_or(chosen.size == scale::quick ? 3 : 5);
    for (std::size_t round = 0; round < rounds; ++round)
    {
        results of_round(selected.size());
        for (std::size_t part = 0; part < parts; ++part)
        {
            for (std::size_t turn = 0; turn < selected.size(); ++turn)
            {
                const std::size_t place = part % 2 == 0 ? turn : selected.size() - 1 - turn;
                const std::size_t index = (round + part + place) % selected.size();
                of_round[index].push_back(run_alone(selected[index]));
            }
        }
        for (std::size_t index = 0; index < selected.size(); ++index)
            found[index].push_back(add_up(of_round[index]));
    }
    return found;
}

// Each round has a ratio of its own, because its measurements shared the state of the machine.
double ratio_to(const results& found, std::size_t yardstick, std::size_t index)
{
    std::vector<double> ratios;
    for (std::size_t round = 0; round < found[0].size(); ++round)
        ratios.push_back(found[index][round].pairs_per_s() / found[yardstick][round].pairs_per_s());
    return median(ratios);
}

std::size_t find_limit(const std::vector<implementation>& selected, std::string_view mode)
{
    const auto is_limit = [mode](const implementation& one) {
        return one.name == "limit" && one.mode == mode;
    };
    const auto found = std::ranges::find_if(selected, is_limit);
    return static_cast<std::size_t>(found - selected.begin());
}

// Of the library to the limit of plain mode, and in guarded mode to that of its scripts too.
std::vector<ratio_row> ratios_of(
    const std::vector<implementation>& selected,
    const results& found,
    std::size_t concurrency
)
{
    std::vector<ratio_row> ratios;
    for (std::size_t index = 0; index < selected.size(); ++index)
    {
        const implementation& one = selected[index];
        if (one.name == "limit")
            continue;
        ratio_row row{std::string(one.mode), concurrency, ratio_to(found, 0, index), {}};
        if (const std::size_t own = find_limit(selected, one.limit_mode); own != 0)
            row.ratio_to_guarded_limit = ratio_to(found, own, index);
        ratios.push_back(std::move(row));
    }
    return ratios;
}

}  // namespace

report compare_pairs(const options& chosen, const placement& where, const pair_nodes& nodes)
{
    const std::vector<implementation> selected = choose_implementations(chosen);

    report found;
    found.apart = chosen.apart;
    found.context = chosen.context ? chosen.context->name : "";
    for (const std::size_t concurrency : choose_concurrencies(chosen))
    {
        const results measured = measure(selected, nodes, chosen, where, concurrency);
        for (std::size_t index = 0; index < selected.size(); ++index)
        {
            found.rows.push_back({
                .impl = std::string(selected[index].name),
                .mode = std::string(selected[index].mode),
                .concurrency = concurrency,
                .summary = summarize(measured[index]),
            });
        }
        if (chosen.only.empty() || (chosen.names("limit") && chosen.names("redlock")))
        {
            std::ranges::move(
                ratios_of(selected, measured, concurrency), std::back_inserter(found.ratios)
            );
        }
    }
    return found;
}

}  // namespace bench
