#include "result.hpp"

#include "text.hpp"

#include <algorithm>
#include <utility>

#include <sys/resource.h>
#include <sys/time.h>

namespace bench {
namespace {

double to_seconds(const timeval& time)
{
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double cpu_seconds()
{
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return to_seconds(usage.ru_utime) + to_seconds(usage.ru_stime);
}

template <class Member>
double median_of(std::span<const result> rounds, Member member)
{
    std::vector<double> values;
    for (const result& round : rounds)
        values.push_back(static_cast<double>(round.*member));
    return median(std::move(values));
}

}  // namespace

stopwatch::stopwatch() : started_(std::chrono::steady_clock::now()), cpu_started_(cpu_seconds()) {}

cost stopwatch::elapsed() const
{
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - started_;
    return {.seconds = wall.count(), .cpu_seconds = cpu_seconds() - cpu_started_};
}

pair_meter::pair_meter(std::size_t pairs) : warm_up_(total_of(pairs) - pairs), pairs_(pairs)
{
    latencies_us_.reserve(pairs);
}

void pair_meter::start()
{
    watch_ = stopwatch();
}

void pair_meter::add(std::chrono::duration<float, std::micro> latency)
{
    if (left_of_warm_up_ == 0)
        latencies_us_.push_back(latency.count());
    else if (--left_of_warm_up_ == 0)
        start();
    if (latencies_us_.size() == pairs_)
        spent_ = watch_.elapsed();
}

result pair_meter::sum_up(std::uint64_t errors)
{
    std::sort(latencies_us_.begin(), latencies_us_.end());
    return {
        .pairs = pairs_,
        .seconds = spent_->seconds,
        .p50_us = percentile(latencies_us_, 50),
        .p99_us = percentile(latencies_us_, 99),
        .cpu_us_per_pair = spent_->cpu_seconds * 1e6 / static_cast<double>(pairs_),
        .errors = errors,
    };
}

double percentile(const std::vector<float>& sorted, std::size_t percent)
{
    if (sorted.empty())
        return 0;
    const std::size_t index = std::min(sorted.size() * percent / 100, sorted.size() - 1);
    return static_cast<double>(sorted[index]);
}

double median(std::vector<double> values)
{
    if (values.empty())
        return 0;
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    if (values.size() % 2 == 1)
        return values[middle];
    return (values[middle - 1] + values[middle]) / 2;
}

result add_up(std::span<const result> parts)
{
    result sum;
    for (const result& part : parts)
    {
        const auto pairs = static_cast<double>(part.pairs);
        sum.pairs += part.pairs;
        sum.seconds += part.seconds;
        sum.p50_us += part.p50_us * pairs;
        sum.p99_us += part.p99_us * pairs;
        sum.cpu_us_per_pair += part.cpu_us_per_pair * pairs;
        sum.server_us_per_pair += part.server_us_per_pair * pairs;
        sum.errors += part.errors;
    }
    const double divisor = static_cast<double>(std::max<std::size_t>(sum.pairs, 1));
    sum.p50_us /= divisor;
    sum.p99_us /= divisor;
    sum.cpu_us_per_pair /= divisor;
    sum.server_us_per_pair /= divisor;
    return sum;
}

result summarize(std::span<const result> rounds)
{
    if (rounds.empty())
        return {};
    result summary{
        .pairs = rounds.front().pairs,
        .seconds = median_of(rounds, &result::seconds),
        .p50_us = median_of(rounds, &result::p50_us),
        .p99_us = median_of(rounds, &result::p99_us),
        .cpu_us_per_pair = median_of(rounds, &result::cpu_us_per_pair),
        .server_us_per_pair = median_of(rounds, &result::server_us_per_pair),
    };
    for (const result& round : rounds)
        summary.errors += round.errors;
    return summary;
}

std::string to_table(const report& found)
{
    std::string table = found.apart ? "The client had a CPU for itself.\n" : "";
    if (!found.context.empty())
        table += "The library had the context '" + found.context + "'.\n";
    table += format(
        "%11s  %-8s %-8s %10s %10s %10s %12s %10s %7s\n",
        "concurrency",
        "impl",
        "mode",
        "pairs/s",
        "p50 us",
        "p99 us",
        "cpu us/pair",
        "server us",
        "errors"
    );
    for (const row& line : found.rows)
    {
        table += format(
            "%11zu  %-8s %-8s %10.0f %10.1f %10.1f %12.2f %10.2f %7llu\n",
            line.concurrency,
            line.impl.c_str(),
            line.mode.c_str(),
            line.summary.pairs_per_s(),
            line.summary.p50_us,
            line.summary.p99_us,
            line.summary.cpu_us_per_pair,
            line.summary.server_us_per_pair,
            static_cast<unsigned long long>(line.summary.errors)
        );
    }
    for (const ratio_row& line : found.ratios)
    {
        table += format(
            "%11zu  redlock, %s mode / limit: %.3f\n",
            line.concurrency,
            line.mode.c_str(),
            line.ratio_to_limit
        );
        if (line.ratio_to_guarded_limit)
        {
            table += format(
                "%11zu  redlock, %s mode / limit of its scripts: %.3f\n",
                line.concurrency,
                line.mode.c_str(),
                *line.ratio_to_guarded_limit
            );
        }
    }
    return table;
}

std::string to_json_lines(const report& found)
{
    const char* const placement = found.apart ? R"("placement":"apart",)" : "";
    const std::string context =
        found.context.empty() ? "" : R"("context":")" + found.context + R"(",)";
    std::string lines;
    for (const row& line : found.rows)
    {
        lines += format(
            R"({"bench":"pairs",%s%s"impl":"%s","mode":"%s","concurrency":%zu,"pairs_per_s":%.0f,)",
            placement,
            line.impl == "redlock" ? context.c_str() : "",
            line.impl.c_str(),
            line.mode.c_str(),
            line.concurrency,
            line.summary.pairs_per_s()
        );
        lines += format(
            R"("p50_us":%.1f,"p99_us":%.1f,"cpu_us_per_pair":%.2f,"server_us_per_pair":%.2f,)",
            line.summary.p50_us,
            line.summary.p99_us,
            line.summary.cpu_us_per_pair,
            line.summary.server_us_per_pair
        );
        lines += format(R"("errors":%llu})", static_cast<unsigned long long>(line.summary.errors));
        lines += '\n';
    }
    for (const ratio_row& line : found.ratios)
    {
        lines += format(
            R"({"bench":"pairs",%s%s"ratio_to_limit":%.3f,"mode":"%s","concurrency":%zu)",
            placement,
            context.c_str(),
            line.ratio_to_limit,
            line.mode.c_str(),
            line.concurrency
        );
        if (line.ratio_to_guarded_limit)
            lines += format(R"(,"ratio_to_guarded_limit":%.3f)", *line.ratio_to_guarded_limit);
        lines += '}';
        lines += '\n';
    }
    return lines;
}

}  // namespace bench
