// Compares what the library does in a second with what a bare client does on the same servers.

#include "faults.hpp"
#include "isolated.hpp"
#include "leases.hpp"
#include "limit.hpp"
#include "loop.hpp"
#include "pairs.hpp"
#include "placement.hpp"
#include "result.hpp"

#include <getopt.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t node_count = 5;

constexpr const char* usage_text =
    "usage: redlock_bench [options]\n"
    "\n"
    "Runs acquire and release pairs on five Redis servers of its own, then acquires with two of\n"
    "them frozen and closed, or holds many leases. Prints tables to the standard error stream and\n"
    "one JSON object per line to the standard output.\n"
    "\n"
    "  --quick          a tenth of the pairs in 3 rounds, a fifth of the acquisitions, and leases\n"
    "                   for 12 seconds\n"
    "  --only NAME      measure only `limit`, `redlock`, `faults` or `leases`; the last one takes\n"
    "                   two minutes for each mode and is left out otherwise\n"
    "  --concurrency N  pairs of so many tasks at a time; may be repeated (default 1, 16, 256)\n"
    "  --apart          pairs with the client on the first CPU and the servers on the others\n"
    "  --context NAME   pairs with the library in an io_context that is `plain` (default) or\n"
    "                   `one_thread`, which is `io_context{1}`\n"
    "  --pairs N        pairs per measurement (default: enough for some seconds)\n"
    "  --rounds N       measurements of each kind; the median is printed (default 5). One is cut\n"
    "                   into up to 20 parts, in which the kinds take turns\n"
    "  --help           print this text\n"
    "\n"
    "A p99 is the mean of those of the parts. With --concurrency, --apart or --context the\n"
    "frozen and closed servers are left out, unless --only asks for them.\n";

/// Measures `pairs` pairs of `concurrency` tasks on the servers at `ports`.
using run_function = bench::result (*)(
    std::span<const std::uint16_t> ports,
    std::size_t concurrency,
    std::size_t pairs
);

/// Longer than any measurement takes.
constexpr std::chrono::minutes time_limit{5};

struct implementation
{
    std::string_view name;
    std::string_view mode;
    run_function run;
};

constexpr std::array implementations{
    implementation{"limit", "plain", &bench::run_limit},
    implementation{"redlock", "plain", &bench::run_plain},
    implementation{"limit", "guarded", &bench::run_guarded_limit},
    implementation{"redlock", "guarded", &bench::run_guarded},
};

struct named_context
{
    const char* name;
    bench::loop::kind kind;
};

constexpr std::array contexts{
    named_context{"one_thread", bench::loop::kind::one_thread},
    named_context{"plain", bench::loop::kind::plain},
};

enum class scale : std::uint8_t
{
    full,
    quick,
};

struct options
{
    scale size{scale::full};
    std::string only;
    bool apart{false};
    const named_context* context{nullptr};  ///< Null: the default one.
    std::vector<std::size_t> concurrencies;  ///< Empty: the default ones.
    std::optional<std::size_t> rounds;
    std::optional<std::size_t> pairs;
};

[[noreturn]] void exit_with_usage(std::FILE* stream, int status)
{
    std::fputs(usage_text, stream);
    std::exit(status);
}

std::size_t parse_count(const char* text)
{
    std::size_t count = 0;
    const char* const end = text + std::strlen(text);
    const auto [stopped, failure] = std::from_chars(text, end, count);
    if (failure != std::errc() || stopped != end || count == 0)
        exit_with_usage(stderr, 2);
    return count;
}

std::string parse_name(std::string_view text)
{
    for (const implementation& known : implementations)
        if (known.name == text)
            return std::string(text);
    if (text == "faults" || text == "leases")
        return std::string(text);
    exit_with_usage(stderr, 2);
}

const named_context& parse_context(std::string_view text)
{
    for (const named_context& known : contexts)
        if (known.name == text)
            return known;
    exit_with_usage(stderr, 2);
}

options parse_options(int argc, char** argv)
{
    static constexpr std::array<option, 9> known{{
        {"quick", no_argument, nullptr, 'q'},
        {"only", required_argument, nullptr, 'o'},
        {"apart", no_argument, nullptr, 'a'},
        {"context", required_argument, nullptr, 'x'},
        {"concurrency", required_argument, nullptr, 'c'},
        {"rounds", required_argument, nullptr, 'r'},
        {"pairs", required_argument, nullptr, 'p'},
        {"help", no_argument, nullptr, 'h'},
        {nullptr, 0, nullptr, 0},
    }};

    options chosen;
    for (int name = 0; (name = ::getopt_long(argc, argv, "", known.data(), nullptr)) != -1;)
    {
        switch (name)
        {
        case 'q': chosen.size = scale::quick; break;
        case 'o': chosen.only = parse_name(optarg); break;
        case 'a': chosen.apart = true; break;
        case 'x': chosen.context = &parse_context(optarg); break;
        case 'c': chosen.concurrencies.push_back(parse_count(optarg)); break;
        case 'r': chosen.rounds = parse_count(optarg); break;
        case 'p': chosen.pairs = parse_count(optarg); break;
        case 'h': exit_with_usage(stdout, 0);
        default: exit_with_usage(stderr, 2);
        }
    }
    const bool has_pairs = chosen.only != "faults" && chosen.only != "leases";
    if ((chosen.apart || chosen.context) && !has_pairs)
    {
        const std::string which = chosen.apart ? "--apart" : "--context";
        throw std::invalid_argument(which + " goes with pairs, not with --only " + chosen.only);
    }
    if (optind != argc)
        exit_with_usage(stderr, 2);
    return chosen;
}

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
    std::vector<implementation> selected;
    for (const implementation& candidate : implementations)
        if (chosen.only.empty() || candidate.name == chosen.only)
            selected.push_back(candidate);
    return selected;
}

// The results of each implementation, in the order of the rounds.
using results = std::vector<std::vector<bench::result>>;

// Interleaves the implementations, part by part, so that a disturbance of the machine meets all of
// them. The first one and the direction alternate, so that none profits from its place or from who
// comes before it.
results measure(
    const std::vector<implementation>& selected,
    std::span<const std::uint16_t> ports,
    const options& chosen,
    const bench::placement& where,
    std::size_t concurrency
)
{
    const std::size_t pairs = choose_pairs(chosen, concurrency);
    const std::size_t parts = choose_parts(pairs, concurrency);
    const auto run_alone = [&](run_function run, std::size_t count) {
        return bench::run_isolated<bench::result>(time_limit, [&] {
            bench::move_to(where.client);
            return run(ports, concurrency, count);
        });
    };
    for (const implementation& warmed : selected)
        (void)run_alone(warmed.run, pairs / parts);

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
                of_round[index].push_back(run_alone(selected[index].run, pairs / parts));
            }
        }
        for (std::size_t index = 0; index < selected.size(); ++index)
            found[index].push_back(bench::add_up(of_round[index]));
    }
    return found;
}

// Each round has a ratio of its own, because its measurements shared the state of the machine.
double ratio_to(const results& found, std::size_t yardstick, std::size_t index)
{
    std::vector<double> ratios;
    for (std::size_t round = 0; round < found[0].size(); ++round)
        ratios.push_back(found[index][round].pairs_per_s() / found[yardstick][round].pairs_per_s());
    return bench::median(ratios);
}

std::size_t find_limit(std::string_view mode)
{
    const auto is_limit = [mode](const implementation& one) {
        return one.name == "limit" && one.mode == mode;
    };
    const auto found = std::ranges::find_if(implementations, is_limit);
    return static_cast<std::size_t>(found - implementations.begin());
}

// Of the library to the limit of plain mode, and in guarded mode to that of its scripts too.
std::vector<bench::ratio_row> ratios_of(const results& found, std::size_t concurrency)
{
    std::vector<bench::ratio_row> ratios;
    for (std::size_t index = 0; index < implementations.size(); ++index)
    {
        const implementation& one = implementations[index];
        if (one.name == "limit")
            continue;
        bench::ratio_row row{std::string(one.mode), concurrency, ratio_to(found, 0, index), {}};
        if (const std::size_t own = find_limit(one.mode); own != 0)
            row.ratio_to_guarded_limit = ratio_to(found, own, index);
        ratios.push_back(std::move(row));
    }
    return ratios;
}

bench::report run(
    const options& chosen,
    const bench::placement& where,
    redlock::test::redis_servers& servers
)
{
    std::vector<std::uint16_t> ports;
    for (const redlock::test::redis_server& server : servers)
        ports.push_back(server.port());
    const std::vector<implementation> selected = choose_implementations(chosen);
    bench::initialize_nodes(ports);

    bench::report found;
    found.apart = chosen.apart;
    found.context = chosen.context ? chosen.context->name : "";
    for (const std::size_t concurrency : choose_concurrencies(chosen))
    {
        const results measured = measure(selected, ports, chosen, where, concurrency);
        for (std::size_t index = 0; index < selected.size(); ++index)
        {
            found.rows.push_back({
                .impl = std::string(selected[index].name),
                .mode = std::string(selected[index].mode),
                .concurrency = concurrency,
                .summary = bench::summarize(measured[index]),
            });
        }
        if (chosen.only.empty())
            std::ranges::move(ratios_of(measured, concurrency), std::back_inserter(found.ratios));
    }
    return found;
}

// A hundred thousand leases, as long as an operator would watch.
bool hold_leases(const options& chosen, redlock::test::redis_servers& servers)
{
    std::vector<std::uint16_t> ports;
    for (const redlock::test::redis_server& server : servers)
        ports.push_back(server.port());
    bench::initialize_nodes(ports);

    using namespace std::chrono_literals;
    const bool quick = chosen.size == scale::quick;
    const bench::leases_plan plan{
        .leases = quick ? 10'000U : 100'000U,
        .ttl = quick ? 6s : 30s,
        .held_for = quick ? 12s : 120s,
    };
    bool none_lost = true;
    for (const char* mode : {"guarded", "plain"})
    {
        const auto found = bench::run_isolated<bench::leases_row>(time_limit, [&] {
            return bench::measure_leases(mode, ports, plan);
        });
        std::fputs(bench::to_table(found).c_str(), stderr);
        std::fputs(bench::to_json_line(found).c_str(), stdout);
        none_lost &= found.lost == 0;
    }
    return none_lost;
}

bool wants_faults(const options& chosen)
{
    const bool all = chosen.only.empty() && chosen.concurrencies.empty() && !chosen.apart &&
                     !chosen.context;
    return all || chosen.only == "faults";
}

bool has_errors(const bench::report& found)
{
    const auto failed = [](const bench::row& line) { return line.summary.errors != 0; };
    return std::any_of(found.rows.begin(), found.rows.end(), failed);
}

}  // namespace

int main(int argc, char** argv)
{
    try
    {
        const options chosen = parse_options(argc, argv);
        if (chosen.context)
            bench::loop::use(chosen.context->kind);
        const bench::placement where = chosen.apart ? bench::keep_apart() : bench::share_all();
        bench::move_to(where.servers);
        redlock::test::redis_servers servers(node_count);
        bool failed = false;
        if (chosen.only != "faults" && chosen.only != "leases")
        {
            const bench::report found = run(chosen, where, servers);
            std::fputs(bench::to_table(found).c_str(), stderr);
            std::fputs(bench::to_json_lines(found).c_str(), stdout);
            failed = has_errors(found);
        }
        if (wants_faults(chosen))
        {
            const std::size_t pairs = chosen.size == scale::quick ? 2'000 : 10'000;
            const auto rows = bench::measure_faults(servers, chosen.rounds.value_or(5), pairs);
            std::fputs(bench::to_table(rows).c_str(), stderr);
            std::fputs(bench::to_json_lines(rows).c_str(), stdout);
            failed |= std::ranges::any_of(rows, [](const auto& row) { return row.errors != 0; });
        }
        if (chosen.only == "leases")
            failed = !hold_leases(chosen, servers);
        return failed ? 1 : 0;
    }
    catch (const std::exception& failure)
    {
        std::fprintf(stderr, "redlock_bench: %s\n", failure.what());
        return 1;
    }
}
