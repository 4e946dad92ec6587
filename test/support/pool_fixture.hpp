#ifndef REDLOCK_TEST_SUPPORT_POOL_FIXTURE_HPP
#define REDLOCK_TEST_SUPPORT_POOL_FIXTURE_HPP

#include <redlock/client.hpp>
#include <redlock/config.hpp>

#include "client/client_impl.hpp"
#include "loop/clock.hpp"
#include "loop/strand.hpp"
#include "loop/turn.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/real_time.hpp"
#include "testing/fake_node.hpp"
#include "testing/manual_time.hpp"

namespace redlock::test {

using namespace redlock::testing;

/** A running client of fake nodes in a pool of threads, in real time.

    Rules for the nodes are set before the client starts; what they hold is looked at after `join`.
*/
class pool_fixture
{
public:
    explicit pool_fixture(
        std::size_t node_count = 5,
        std::size_t thread_count = 4,
        mode how = mode::plain,
        milliseconds node_timeout = milliseconds(1000)  // Sanitizers and busy machines are slow.
    )
        : pool_(thread_count), strand_(boost::asio::any_io_executor(pool_.get_executor()))
    {
        const boost::asio::any_io_executor executor = pool_.get_executor();
        const detail::ground on{
            strand_,
            std::make_shared<detail::turn>(executor, strand_),
            detail::make_system_clock(strand_),
        };
        // Clients in real time look at the clock of the machine. So does a node of theirs.
        const auto since_the_beginning_of_time =
            std::chrono::duration_cast<std::chrono::microseconds>(
                std::chrono::system_clock::now().time_since_epoch()
            ) -
            beginning_of_time;
        client_config config;
        config.nodes.resize(node_count);
        config.mode = how;
        config.node_timeout = node_timeout;
        for (std::size_t index = 0; index < node_count; ++index)
        {
            nodes_.push_back(std::make_shared<fake_node>(index, time_, log_));
            nodes_.back()->guard().clock_offset = since_the_beginning_of_time;
        }
        locks_ = detail::make_client(std::make_shared<detail::client_impl>(
            executor, std::move(config), on, detail::node_list(nodes_.begin(), nodes_.end())
        ));
    }

    pool_fixture(const pool_fixture&) = delete;
    pool_fixture& operator=(const pool_fixture&) = delete;

    ~pool_fixture() { join(); }

    void start() { locks_->async_run(boost::asio::detached); }

    [[nodiscard]] client& locks() noexcept { return *locks_; }
    [[nodiscard]] fake_node& node(std::size_t index) noexcept { return *nodes_[index]; }
    [[nodiscard]] boost::asio::thread_pool& pool() noexcept { return pool_; }

    /// Each node says that a resource may be free.
    void wake(const std::string& resource)
    {
        boost::asio::post(strand_, [nodes = nodes_, resource] {
            for (const auto& each : nodes)
                each->tell({detail::news::kind::free, resource});
        });
    }

    /// Destroys the client. Its operations may still be under way.
    void destroy_client() { locks_.reset(); }

    /// Destroys the client, and waits until the pool has nothing more to do.
    void join()
    {
        destroy_client();
        pool_.join();
    }

    /// Keys that the client has set and that are still there. After `join`.
    [[nodiscard]] std::size_t keys_left() const
    {
        std::size_t count = 0;
        for (const auto& each : nodes_)
            count += each->store().count_set(time_->elapsed());
        return count;
    }

private:
    boost::asio::thread_pool pool_;
    detail::strand_type strand_;
    std::shared_ptr<real_time> time_ = std::make_shared<real_time>(strand_);
    std::shared_ptr<journal> log_ = std::make_shared<journal>();
    std::vector<std::shared_ptr<fake_node>> nodes_;
    std::optional<client> locks_;
};

}  // namespace redlock::test

#endif
