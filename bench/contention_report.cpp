#include "contention.hpp"
#include "text.hpp"

namespace bench {
namespace {

using counter = unsigned long long;

}  // namespace

double contention_row::wait_max_to_fair() const
{
    const auto all = static_cast<double>(contenders.processes * contenders.tasks);
    const double turn_ms = pairs == 0 ? 0 : all * seconds * 1000 / static_cast<double>(pairs);
    return turn_ms > 0 ? wait_max_ms / turn_ms : 0;
}

std::string to_table(const std::vector<contention_row>& rows)
{
    std::string table =
        "\none contended resource\n"
        "procs x tasks  impl     mode/waiting     pairs/s  handovers/s  rounds/pair   p50 ms    "
        "p99 ms    max ms  / fair  shares       failed  us/pair  waiting/s  violations  errors  "
        " ratio\n";
    for (const contention_row& row : rows)
    {
        const std::string& how = row.waiting.empty() ? row.mode : row.waiting;
        table += format(
            "%5zu x %-5zu  %-8s %-12s %11.0f %12.0f %12.2f %8.2f %9.2f %9.1f  %6.2f  "
            "%4.2f - %5.2f %6llu %8.0f %10.0f %11llu %7llu",
            row.contenders.processes,
            row.contenders.tasks,
            row.impl.c_str(),
            how.c_str(),
            row.pairs_per_s(),
            row.handovers_per_s,
            row.rounds_per_pair,
            row.wait_p50_ms,
            row.wait_p99_ms,
            row.wait_max_ms,
            row.wait_max_to_fair(),
            row.share_min,
            row.share_max,
            counter{row.failed},
            row.cpu_us_per_pair,
            row.waiting_commands,
            counter{row.violations},
            counter{row.errors}
        );
        for (const auto& compared : {row.ratio_to_limit, row.ratio_to_uncontended})
            if (compared)
                table += format("   %.3f", *compared);
        if (row.victims != 0)
            table += format("   %zu %s, spared %zu", row.victims, row.name.c_str(), row.spared);
        table += '\n';
    }
    return table;
}

std::string to_json_lines(const std::vector<contention_row>& rows)
{
    std::string lines;
    for (const contention_row& row : rows)
    {
        lines += format(
            R"({"bench":"%s","impl":"%s","mode":"%s",)",
            row.name.c_str(),
            row.impl.c_str(),
            row.mode.c_str()
        );
        if (!row.waiting.empty())
            lines += format(R"("waiting":"%s",)", row.waiting.c_str());
        if (row.victims != 0)
            lines += format(R"("victims":%zu,"spared":%zu,)", row.victims, row.spared);
        else
            lines += format(R"("cpu_us_per_pair":%.1f,)", row.cpu_us_per_pair);
        lines += format(
            R"("processes":%zu,"tasks":%zu,"seconds":%.0f,)"
            R"("pairs_per_s":%.0f,"handovers_per_s":%.0f,"rounds_per_pair":%.2f,)"
            R"("wait_mean_ms":%.3f,"wait_p50_ms":%.3f,"wait_p99_ms":%.3f,"wait_max_ms":%.3f,)"
            R"("wait_max_to_fair":%.3f,"share_min":%.3f,"share_max":%.3f,"failed":%llu,)"
            R"("waiting_commands_per_node_s":%.1f,"violations":%llu,"errors":%llu)",
            row.contenders.processes,
            row.contenders.tasks,
            row.seconds,
            row.pairs_per_s(),
            row.handovers_per_s,
            row.rounds_per_pair,
            row.wait_mean_ms,
            row.wait_p50_ms,
            row.wait_p99_ms,
            row.wait_max_ms,
            row.wait_max_to_fair(),
            row.share_min,
            row.share_max,
            counter{row.failed},
            row.waiting_commands,
            counter{row.violations},
            counter{row.errors}
        );
        if (row.ratio_to_limit)
            lines += format(R"(,"ratio_to_limit":%.3f)", *row.ratio_to_limit);
        if (row.ratio_to_uncontended)
            lines += format(R"(,"ratio_to_uncontended":%.3f)", *row.ratio_to_uncontended);
        lines += "}\n";
    }
    return lines;
}

}  // namespace bench
