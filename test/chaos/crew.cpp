#include "chaos/crew.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include <poll.h>

#include "support/eventually.hpp"

namespace redlock::test {

void crew::hire(worker_options options, std::chrono::nanoseconds skew)
{
    member& one = workers_.emplace_back();
    one.clock.set_offset(skew);
    one.log = folder_.path() / ("log" + std::to_string(workers_.size()));
    options.log = one.log;
    std::vector<std::string> arguments = to_arguments(options);
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
    const auto give_up = deadline_clock::now() + within;
    while (claims() < count)
    {
        if (deadline_clock::now() >= give_up)
            return false;
        ::poll(nullptr, 0, 20);  // Not more often: the workers need the processor.
    }
    return true;
}

std::size_t crew::claims()
{
    for (member& one : workers_)
        count_claims(one);
    return claims_;
}

void crew::count_claims(member& one)
{
    std::ifstream log(one.log);
    log.seekg(static_cast<std::streamoff>(one.counted));
    for (std::string line; std::getline(log, line) && !log.eof();)
    {
        one.counted += line.size() + 1;
        claims_ += line.starts_with("granted ");
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
    for (const member& one : workers_)
        read_log(read_file(one.log), all);
    return all;
}

}  // namespace redlock::test
