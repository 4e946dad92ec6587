#include "crowd.hpp"
#include "text.hpp"

namespace bench {
namespace {

using counter = unsigned long long;

std::string describe(const kind_of_client& kind)
{
    return format("%4.2f (%4.2f - %5.2f)", kind.share, kind.share_min, kind.share_max);
}

std::string to_json(const char* name, const kind_of_client& kind)
{
    return format(
        R"("%s":{"clients":%zu,"share":%.3f,"share_min":%.3f,"share_max":%.3f})",
        name,
        kind.clients,
        kind.share,
        kind.share_min,
        kind.share_max
    );
}

}  // namespace

std::string crowd_heading()
{
    return "\na crowd for one resource\n"
           "procs x clients  handovers/s  first s   best s  slowest s  rounds/pair    p50 ms    "
           "p99 ms    max ms  / fair  shares       failed  us/pair    nodes  waiting/s  violations "
           " "
           "errors  scenario\n";
}

std::string to_table(const crowd_row& row)
{
    const contention_row& found = row.found;
    std::string line = format(
        "%5zu x %-7zu %12.0f %8.0f %8.0f %10.0f %12.2f %9.1f %9.1f %9.1f %7.2f  %4.2f - %5.2f "
        "%7llu %8.0f %8.0f %10.0f %11llu %7llu  %s",
        found.contenders.processes,
        found.contenders.tasks,
        found.handovers_per_s,
        row.per_second.empty() ? 0 : row.per_second.front(),
        row.best_second(),
        row.slowest_second(),
        found.rounds_per_pair,
        found.wait_p50_ms,
        found.wait_p99_ms,
        found.wait_max_ms,
        found.wait_max_to_fair(),
        found.share_min,
        found.share_max,
        counter{found.failed},
        found.cpu_us_per_pair,
        row.node_cpu_us_per_pair,
        found.waiting_commands,
        counter{found.violations},
        counter{found.errors},
        row.what.text.empty() ? "-" : row.what.text.c_str()
    );
    if (row.weak.clients > 0)
        line += "; shares of these " + describe(row.weak) + ", others " + describe(row.strong);
    if (row.recovered_after_s)
        line += format(
            "; %.0f/s before, %.0f/s after, recovered after %.1f s, spared %zu",
            row.before_per_s,
            row.after_per_s,
            *row.recovered_after_s,
            found.spared
        );
    return line + '\n';
}

std::string to_json_line(const crowd_row& row)
{
    // As a row of the other benchmarks about contention, with more at its end.
    std::string line = to_json_lines({row.found});
    line.resize(line.rfind('}'));
    line += format(
        R"(,"scenario":"%s","nodes":%zu,"first_s":%.0f,"best_s":%.0f,"slowest_s":%.0f,)",
        row.what.text.c_str(),
        row.what.nodes,
        row.per_second.empty() ? 0 : row.per_second.front(),
        row.best_second(),
        row.slowest_second()
    );
    line += format(R"("node_cpu_us_per_pair":%.1f,"per_second":[)", row.node_cpu_us_per_pair);
    for (const double each : row.per_second)
        line += format("%.0f,", each);
    if (!row.per_second.empty())
        line.back() = ']';
    else
        line += ']';
    if (row.weak.clients > 0)
        line += ',' + to_json("weak", row.weak) + ',' + to_json("strong", row.strong);
    if (row.recovered_after_s)
        line += format(
            R"(,"before_per_s":%.0f,"after_per_s":%.0f,"recovered_after_s":%.2f)",
            row.before_per_s,
            row.after_per_s,
            *row.recovered_after_s
        );
    return line + "}\n";
}

}  // namespace bench
