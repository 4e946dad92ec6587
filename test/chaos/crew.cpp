#include "chaos/crew.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include <poll.h>

#include "support/eventually.hpp"

namespace redlock::test {

namespace {

/// As `eventually`, but not so often: the workers need the processor.
template <class F>
bool sooner_or_later(F condition, std::chrono::milliseconds within)
{
    const auto give_up = deadline_clock::now() + within;
    while (!condition())
    {
        if (deadline_clock::now() >= give_up)
            return false;
        ::poll(nullptr, 0, 20);
    }
    return true;
}

}  // namespace

void crew::hire(const worker_options& options, std::chrono::nanoseconds skew)
{
    member& one = workers_.emplace_back();
    one.options = options;
    one.clock.set_offset(skew);
    start(one);
}

void crew::start(member& one)
{
    count_claims(one);  // What was counted late counts, too.
    one.options.number = first_number_ + static_cast<std::uint32_t>(logs_.size());
    one.options.log =
        logs_.emplace_back(folder_.path() / ("log" + std::to_string(one.options.number)));
    one.counted = 0;
    std::vector<std::string> arguments = to_arguments(one.options);
    arguments.insert(arguments.begin(), "worker");
    one.process = child_process(
        {REDLOCK_CHAOS_WORKER,
         std::move(arguments),
         one.clock.environment(),
         folder_.path() / "output"}
    );
}

bool crew::end_within(std::chrono::milliseconds time)
{
    return eventually(
        [this] {
            return std::ranges::all_of(workers_, [](member& one) {
                return one.process.has_ended();
            });
        },
        time
    );
}

bool crew::reaches(std::size_t count, std::chrono::milliseconds within)
{
    return sooner_or_later([&] { return claims() >= count; }, within);
}

bool crew::each_makes(std::size_t count, std::chrono::milliseconds within)
{
    std::ignore = claims();
    std::vector<std::size_t> goals;
    for (const member& one : workers_)
        goals.push_back(one.claims + count);
    const auto all_have = [&] {
        std::ignore = claims();
        return std::ranges::equal(workers_, goals, std::greater_equal(), &member::claims);
    };
    return sooner_or_later(all_have, within);
}

std::size_t crew::claims()
{
    std::size_t all = 0;
    for (member& one : workers_)
    {
        count_claims(one);
        all += one.claims;
    }
    return all;
}

void crew::count_claims(member& one)
{
    std::ifstream log(one.options.log);
    log.seekg(static_cast<std::streamoff>(one.counted));
    for (std::string line; std::getline(log, line) && !log.eof();)
    {
        one.counted += line.size() + 1;
        one.claims += tells_of_a_grant(line);
    }
}

void crew::kill()
{
    for (member& one : workers_)
        one.process.kill();
}

history crew::read() const
{
    history all;
    read_into(all);
    return all;
}

void crew::read_into(history& all) const
{
    for (const std::filesystem::path& log : logs_)
        read_log(read_file(log), all);
}

}  // namespace redlock::test
