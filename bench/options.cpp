#include "options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ranges>
#include <stdexcept>

#include <getopt.h>

namespace bench {
namespace {

constexpr const char* usage_text =
    "usage: redlock_bench [options]\n"
    "\n"
    "Runs acquire and release pairs on five Redis servers of its own, then acquires with two of\n"
    "them frozen and closed. With --only it does something else. Prints tables to the standard\n"
    "error stream and one JSON object per line to the standard output.\n"
    "\n"
    "  --quick          a tenth of the pairs in 3 rounds, a fifth of the acquisitions, leases for\n"
    "                   12 seconds, contention for 3 and 20 times instead of 100\n"
    "  --only NAME,...  measure only these:\n"
    "      limit, redlock   pairs of the bare client, of the library\n"
    "      faults           acquisitions with two servers frozen and closed\n"
    "    and these, which take minutes and are left out otherwise:\n"
    "      overlap          pairs of the library on nodes that may fail over\n"
    "      leases           a hundred thousand of them are held\n"
    "      absence          the same while a node is away for 15 s, frozen or restarted: when it\n"
    "                       has all of them again, and the longest handler\n"
    "      contended        8 tasks of one client want one resource, beside one task alone\n"
    "      contended-procs  processes want one resource, beside the bare client's. That one waits\n"
    "                       in a queue (the limit), is woken by tracking, or polls\n"
    "      waiting          1,000 tasks of one client wait for what another process holds\n"
    "      killed-waiters   64 processes want one resource and a quarter of them is killed\n"
    "                       while it waits; who has keys just then is spared for the moment\n"
    "      frozen-waiters   the same, and the quarter is frozen by SIGSTOP\n"
    "      killed-holder    how much longer than the ttl it takes until another one has the lock\n"
    "      foreign-release  from a compare-and-delete by another client until a waiter has the\n"
    "                       lock\n"
    "      expiry           from the end of the ttl until a waiter has the lock\n"
    "      burst            thousands of free resources at once, beside the bare client with its\n"
    "                       best window of 32, 64, 128 and 256\n"
    "      stall            the same while a quorum stands still for a while, and many leases\n"
    "                       that extend themselves meanwhile\n"
    "      inquiries        20,000 inspections, watchers and so on at once in one client\n"
    "      crowd            many clients want one resource while nodes, ways or other clients "
    "give\n"
    "                       trouble, see --scenario\n"
    "      long-line        50,000 tasks of one client want one resource: its longest handler\n"
    "  --concurrency N  pairs of so many tasks at a time; may be repeated (default 1, 16, 256)\n"
    "  --apart          pairs with the client on the first CPU and the servers on the others\n"
    "  --context NAME   pairs with the library in an io_context that is `plain` (default) or\n"
    "                   `one_thread`, which is `io_context{1}`\n"
    "  --pairs N        pairs per measurement (default: enough for some seconds)\n"
    "  --rounds N       measurements of each kind; the median is printed (default 5). One is cut\n"
    "                   into up to 20 parts, in which the kinds take turns\n"
    "  --mode NAME      `guarded` (default) or `plain`, for the library from `contended` on\n"
    "  --crowd PxT      P processes of T tasks in the rows about processes. May be repeated for\n"
    "                   contended-procs (default 8x1, 8x8, 64x1, 256x1) and for burst, where T is\n"
    "                   how much each asks for. The others take one (default 64x1, 8x1 from\n"
    "                   killed-holder on) and `waiting` its tasks. A crowd has T clients in each\n"
    "                   process, with connections of their own\n"
    "  --scenario TEXT  what the crowd meets, such as nodes=3,clocks=10. May be repeated; each is\n"
    "                   measured with each --crowd (default 256x1), --rounds times (default 1).\n"
    "                   Without both there are some usual rows\n"
    "      nodes=N          servers (5)\n"
    "      clocks=MS        from the clock of the first node to that of the last one\n"
    "      far=P,delay=MS   so many processes reach the nodes with so much delay each way (40)\n"
    "      missing=N        every second process cannot connect to so many nodes\n"
    "      slow=N           the first node is stopped, but for 1 ms of N\n"
    "      lost=N           so many nodes lose their queue when half of the time has passed\n"
    "      killed=P         so many processes are killed at once then\n"
    "      frozen=P         so many processes are frozen at once then\n"
    "      compilers=P      so many busy processes in the first second\n"
    "      wait=S           for how long they ask for the lock (5)\n"
    "  --seconds N      contention and waiting for so long in each row (default 10)\n"
    "  --times N        how often the lock gets free, from killed-holder on (default 100)\n"
    "  --help           print this text\n"
    "\n"
    "A p99 of pairs is the mean of those of the parts. With --concurrency, --apart or --context\n"
    "the frozen and closed servers are left out, unless --only asks for them.\n"
    "\n"
    "Columns where several want one resource, with an empty critical section, ttl and wait 5 s:\n"
    "  handovers/s      acquisitions by another process (task, of one process) than the last one\n"
    "  rounds/pair      how often all nodes were asked for one lock\n"
    "  p50, p99, max    from asking to having it; max counts those too that were in vain. / fair\n"
    "                   is max as a multiple of the time in which each contender gets one pair\n"
    "  shares           of the process (task) with the fewest and the most pairs; 1 is fair\n"
    "  failed           acquisitions that came to nothing within 5 s\n"
    "  waiting/s        commands per node and second while one holds for 2 s and all others wait\n"
    "  violations       entries while another one was in, most of which would be seen in a second\n"
    "                   after the others, in which the critical section lasts for 1 ms\n"
    "  errors           releases that found nothing, and acquisitions that failed by a node\n"
    "  ratio            hand-overs to those of the limit, or pairs to those of the task alone\n"
    "For a crowd all of that is by client, and there are:\n"
    "  first, best, slowest s   hand-overs in the first, the best, and the slowest other second\n"
    "  us/pair, nodes   CPU time of all clients and of all nodes for a pair\n"
    "  recovered        from the blow until half a second begins with 0.8 of the rate before, "
    "which\n"
    "                   is told without the first second; -1: never\n";

constexpr std::array contexts{
    named_context{"one_thread", loop::kind::one_thread},
    named_context{"plain", loop::kind::plain},
};

constexpr std::array<std::string_view, 3> pairs_benchmarks{"limit", "redlock", "overlap"};

constexpr std::array<std::string_view, 16> other_benchmarks{
    "absence",
    "burst",
    "crowd",
    "faults",
    "inquiries",
    "leases",
    "long-line",
    "contended",
    "contended-procs",
    "waiting",
    "killed-waiters",
    "frozen-waiters",
    "killed-holder",
    "foreign-release",
    "expiry",
    "stall",
};

[[noreturn]] void exit_with_usage(std::FILE* stream, int status)
{
    std::fputs(usage_text, stream);
    std::exit(status);
}

std::size_t parse_count(std::string_view text)
{
    std::size_t count = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, failure] = std::from_chars(text.data(), end, count);
    if (failure != std::errc() || stopped != end || count == 0)
        exit_with_usage(stderr, 2);
    return count;
}

std::vector<std::string> parse_names(std::string_view text)
{
    std::vector<std::string> found;
    for (const auto part : std::views::split(text, ','))
    {
        const std::string name(part.begin(), part.end());
        if (std::ranges::find(pairs_benchmarks, name) == pairs_benchmarks.end() &&
            std::ranges::find(other_benchmarks, name) == other_benchmarks.end())
            exit_with_usage(stderr, 2);
        found.push_back(name);
    }
    return found;
}

const named_context& parse_context(std::string_view text)
{
    for (const named_context& known : contexts)
        if (known.name == text)
            return known;
    exit_with_usage(stderr, 2);
}

redlock::mode parse_mode(std::string_view text)
{
    if (text == "guarded")
        return redlock::mode::guarded;
    if (text == "plain")
        return redlock::mode::plain;
    exit_with_usage(stderr, 2);
}

crowd parse_crowd(std::string_view text)
{
    const std::size_t times = text.find('x');
    if (times == text.npos)
        exit_with_usage(stderr, 2);
    return {
        .processes = parse_count(text.substr(0, times)),
        .tasks = parse_count(text.substr(times + 1)),
    };
}

void check(const options& chosen)
{
    if ((chosen.apart || chosen.context) && !chosen.wants_pairs())
    {
        const std::string which = chosen.apart ? "--apart" : "--context";
        throw std::invalid_argument(which + " goes with pairs, and --only names none");
    }
}

}  // namespace

bool options::names(std::string_view benchmark) const
{
    return std::ranges::find(only, benchmark) != only.end();
}

bool options::wants_pairs() const
{
    const auto is_named = [this](std::string_view name) { return names(name); };
    return only.empty() || std::ranges::any_of(pairs_benchmarks, is_named);
}

bool options::wants_overlap() const
{
    return names("overlap");
}

bool options::wants_faults() const
{
    const bool all = only.empty() && concurrencies.empty() && !apart && !context;
    return all || names("faults");
}

options parse_options(int argc, char** argv)
{
    static constexpr std::array<option, 14> known{{
        {"quick", no_argument, nullptr, 'q'},
        {"only", required_argument, nullptr, 'o'},
        {"apart", no_argument, nullptr, 'a'},
        {"context", required_argument, nullptr, 'x'},
        {"concurrency", required_argument, nullptr, 'c'},
        {"rounds", required_argument, nullptr, 'r'},
        {"pairs", required_argument, nullptr, 'p'},
        {"mode", required_argument, nullptr, 'm'},
        {"crowd", required_argument, nullptr, 'w'},
        {"scenario", required_argument, nullptr, 'S'},
        {"seconds", required_argument, nullptr, 's'},
        {"times", required_argument, nullptr, 't'},
        {"help", no_argument, nullptr, 'h'},
        {nullptr, 0, nullptr, 0},
    }};

    options chosen;
    for (int name = 0; (name = ::getopt_long(argc, argv, "", known.data(), nullptr)) != -1;)
    {
        switch (name)
        {
        case 'q': chosen.size = scale::quick; break;
        case 'o': chosen.only = parse_names(optarg); break;
        case 'a': chosen.apart = true; break;
        case 'x': chosen.context = &parse_context(optarg); break;
        case 'c': chosen.concurrencies.push_back(parse_count(optarg)); break;
        case 'r': chosen.rounds = parse_count(optarg); break;
        case 'p': chosen.pairs = parse_count(optarg); break;
        case 'm': chosen.mode = parse_mode(optarg); break;
        case 'w': chosen.crowds.push_back(parse_crowd(optarg)); break;
        case 'S': chosen.scenarios.push_back(parse_scenario(optarg)); break;
        case 's': chosen.seconds = parse_count(optarg); break;
        case 't': chosen.times = parse_count(optarg); break;
        case 'h': exit_with_usage(stdout, 0);
        default: exit_with_usage(stderr, 2);
        }
    }
    if (optind != argc)
        exit_with_usage(stderr, 2);
    check(chosen);
    return chosen;
}

}  // namespace bench
