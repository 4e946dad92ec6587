#include "support/client_runner.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <stdexcept>

#include <poll.h>

namespace redlock::test {

namespace {

using namespace std::chrono_literals;

}  // namespace

client_config config_for(const std::vector<std::string>& urls)
{
    client_config config;
    config.log = nullptr;
    for (const std::string& url : urls)
        config.nodes.push_back(parse_node(url));
    config.node_timeout = 1s;
    config.mode = mode::plain;
    config.retry.max_delay = 50ms;
    return config;
}

client_config config_for(const redis_servers& servers)
{
    return config_for(servers.urls());
}

client_runner::client_runner(boost::asio::io_context& context, client_config config)
    : context_(context),
      client_(context, std::move(config)),
      ended_(std::make_shared<std::optional<error_code>>())
{
    client_.async_run([ended = ended_](error_code ec) { *ended = ec; });
}

client_runner::~client_runner()
{
    client_.cancel();
    if (run_until(context_, [this] { return ended_->has_value(); }))
        BOOST_TEST(!**ended_);
    else
        BOOST_ERROR("async_run does not complete after cancel()");
}

bool client_runner::reaches(std::size_t count)
{
    return run_until(context_, [&] { return ready() >= count; });
}

void client_runner::wait_for_all_nodes()
{
    BOOST_TEST_REQUIRE(reaches(client_.nodes().size()));
}

bool client_runner::reaches(std::size_t node, node_state state)
{
    return run_until(context_, [&] { return status(node).state == state; });
}

std::size_t client_runner::ready() const
{
    const auto nodes = client_.nodes();
    return static_cast<std::size_t>(
        std::ranges::count(nodes, node_state::ready, &node_status::state)
    );
}

void run_for_a_moment(boost::asio::io_context& context)
{
    context.run_for(1ms);
    // A context without work returns at once.
    if (context.stopped())
    {
        context.restart();
        ::poll(nullptr, 0, 1);
    }
}

void run_a_handler(boost::asio::io_context& context)
{
    context.run_one_for(50ms);
    if (context.stopped())
    {
        context.restart();
        ::poll(nullptr, 0, 1);
    }
}

void throw_never_completed()
{
    throw std::runtime_error("the operation did not complete in time");
}

}  // namespace redlock::test
