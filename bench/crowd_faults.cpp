#include "crowd_faults.hpp"

#include "node/guard.hpp"
#include "posix.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string_view>
#include <thread>

#include <sched.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using clock = scoreboard::clock;

constexpr std::chrono::minutes time_limit{5};
constexpr auto compiling = 1s;
constexpr auto running = 1ms;

// Where a clock lies between the first and the last one, which are as far from the true time.
std::chrono::nanoseconds offset_of(std::size_t node, const scenario& what)
{
    if (what.nodes == 1)
        return 0ns;
    const std::chrono::nanoseconds apart = std::chrono::milliseconds(what.clocks);
    return apart * node / (what.nodes - 1) - apart / 2;
}

// More than the default of Redis if so many clients have two connections each.
std::string most_connections(std::size_t clients)
{
    return std::to_string(std::max<std::size_t>(10'000, 2 * clients + 100));
}

// Stops and continues a process in turn, for ever. It must not be late, on a busy machine either.
void slow_down(::pid_t server, std::chrono::milliseconds stopped)
{
    const ::sched_param priority{.sched_priority = 1};
    checked(::sched_setscheduler(0, SCHED_FIFO, &priority), "sched_setscheduler");
    for (clock::time_point next = clock::now();;)
    {
        checked(::kill(server, SIGSTOP), "kill");
        std::this_thread::sleep_until(next += stopped);
        checked(::kill(server, SIGCONT), "kill");
        std::this_thread::sleep_until(next += running);
    }
}

}  // namespace

crowd_nodes::crowd_nodes(const scenario& what, std::size_t clients)
{
    std::vector<redlock::test::redis_server_options> options(what.nodes);
    for (std::size_t node = 0; node < what.nodes; ++node)
    {
        clocks_.emplace_back().set_offset(offset_of(node, what));
        options[node].environment = clocks_.back().environment();
        options[node].extra = {"--maxclients", most_connections(clients)};
    }
    servers_.emplace(options);
    for (const redlock::test::redis_server& server : *servers_)
        ports_.push_back(server.port());
}

double crowd_nodes::cpu_seconds()
{
    std::chrono::duration<double> sum{0};
    for (const redlock::test::redis_server& server : *servers_)
        sum += cpu_time_of(server.pid());
    return sum.count();
}

void crowd_nodes::lose_queues(const std::string& resource, std::size_t nodes)
{
    using namespace redlock::detail;
    std::vector<std::string> deletion{"DEL"};
    for (const std::string_view prefix : {queue_key_prefix, waits_key_prefix, reserved_key_prefix})
        deletion.push_back(std::string(prefix) + resource);
    for (std::size_t node = 0; node < nodes; ++node)
        servers()[node].command(deletion);
}

crowd_routes::crowd_routes(const scenario& what, const std::vector<std::uint16_t>& ports)
    : what_(what), ports_(ports), closed_(what.missing)
{
    if (what.far > 0)
        line_.emplace(ports, std::chrono::milliseconds(what.delay));
}

std::vector<std::uint16_t> crowd_routes::ports_for(std::size_t process) const
{
    std::vector<std::uint16_t> ports = process < what_.far ? line_->ports() : ports_;
    if (misses_nodes(process))
        for (std::size_t each = 0; each < what_.missing; ++each)
            ports[(process / 2 + each) % ports.size()] = closed_[each].number();
    return ports;
}

bool crowd_routes::is_weak(std::size_t process) const
{
    return process < what_.far || misses_nodes(process);
}

bool crowd_routes::misses_nodes(std::size_t process) const
{
    return what_.missing > 0 && process % 2 == 0;
}

slow_node::slow_node(redlock::test::redis_server& server, std::size_t factor) : server_(server)
{
    const std::chrono::milliseconds stopped = (factor - 1) * running;
    stopper_.emplace(time_limit, [&] { slow_down(server.pid(), stopped); });
}

slow_node::~slow_node()
{
    stopper_.reset();
    server_.resume();
}

std::vector<child> start_compilers(std::size_t count, const scoreboard& board)
{
    std::vector<child> compilers;
    for (std::size_t each = 0; each < count; ++each)
        compilers.emplace_back(time_limit, [&] {
            std::this_thread::sleep_until(board.start());
            while (clock::now() < board.start() + compiling)
                continue;
        });
    return compilers;
}

}  // namespace bench
