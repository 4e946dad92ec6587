#ifndef REDLOCK_BENCH_NODES_HPP
#define REDLOCK_BENCH_NODES_HPP

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench {

/** Redis servers of our own, on free ports of 127.0.0.1, without persistence.

    The servers end with this object, and the kernel ends them if this process dies first.
    The `redis-server` of the search path is started.
*/
class nodes
{
public:
    /** Starts `count` servers and waits until each one answers.

        @throws std::runtime_error If a server does not answer in time.
    */
    explicit nodes(std::size_t count);
    nodes(const nodes&) = delete;
    nodes& operator=(const nodes&) = delete;
    ~nodes();

    [[nodiscard]] std::span<const std::uint16_t> ports() const noexcept { return ports_; }

private:
    void start_one();
    void stop() noexcept;

    std::string directory_;
    std::vector<pid_t> servers_;
    std::vector<std::uint16_t> ports_;
};

}  // namespace bench

#endif
