#ifndef REDLOCK_BENCH_SLOW_LINE_HPP
#define REDLOCK_BENCH_SLOW_LINE_HPP

#include "child.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "support/posix.hpp"

namespace bench {

/** A long way to some nodes: a proxy process that passes on all bytes later than they came.

    It is one process and not the tests' proxy, which looks at all of its sockets in each turn: a
    benchmark has hundreds of them, and has to leave the CPUs to clients and servers.
*/
class slow_line
{
public:
    /// @param ports Of the nodes.
    /// @param delay Each way.
    slow_line(std::span<const std::uint16_t> ports, std::chrono::milliseconds delay);

    /// Returns the ports at which the nodes are reached through it, in the same order.
    [[nodiscard]] std::vector<std::uint16_t> ports() const;

private:
    std::deque<redlock::test::loopback_port> ports_;
    child proxy_;
};

}  // namespace bench

#endif
