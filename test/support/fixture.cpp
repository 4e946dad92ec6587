#include "support/fixture.hpp"

#include "client/client_impl.hpp"
#include "loop/turn.hpp"

#include <algorithm>

#include "testing/loop.hpp"

namespace redlock::test {

namespace {

client_config make_config(const setup& how)
{
    client_config config;
    config.log = nullptr;
    config.nodes.resize(how.nodes);
    config.node_timeout = how.node_timeout;
    config.clock_drift = how.clock_drift;
    config.retry = how.retry;
    config.waiting.queue = how.queue;
    config.key_prefix = how.key_prefix;
    config.mode = how.mode;
    config.observer = how.observer;
    if (how.lines)
    {
        config.log = [to = how.lines](log_level, std::string_view line) { to->emplace_back(line); };
    }
    return config;
}

}  // namespace

client_fixture::client_fixture(const setup& how)
{
    const asio::any_io_executor executor = context_->get_executor();
    strand_.emplace(context_->get_executor());
    time_ = std::make_shared<manual_time>(*strand_);
    const detail::ground on{*strand_, std::make_shared<detail::turn>(executor, *strand_), time_};
    for (std::size_t index = 0; index < how.nodes; ++index)
    {
        nodes_.push_back(std::make_shared<fake_node>(index, time_, log_));
    }
    auto impl = std::make_shared<detail::client_impl>(
        executor, make_config(how), on, detail::node_list(nodes_.begin(), nodes_.end())
    );
    impl_ = impl;
    locks_ = detail::make_client(std::move(impl));
}

void client_fixture::silence(detail::verb what, std::size_t first, std::size_t last)
{
    for (std::size_t index = first; index < last; ++index)
        node(index).on(what).never();
}

void client_fixture::be_honest()
{
    for (const auto& each : nodes_)
        each->be_honest();
}

void client_fixture::fail_with(const std::shared_ptr<fail_nth>& fuse)
{
    for (const auto& each : nodes_)
        each->fail_with(fuse);
}

void client_fixture::hold_elsewhere(
    std::string_view resource,
    milliseconds ttl,
    std::size_t first,
    std::size_t last
)
{
    for (std::size_t index = first; index < last; ++index)
        node(index).store().put(std::string(resource), "another", ttl, time_->elapsed());
}

void client_fixture::start_client()
{
    run_ = launch(locks_->async_run());
    run_until_idle();
}

void client_fixture::run_until_idle()
{
    testing::run_until_idle(*context_);
}

void client_fixture::advance(nanoseconds by)
{
    testing::advance(*context_, *time_, by);
}

bool client_fixture::step(nanoseconds limit)
{
    context_->restart();
    if (context_->poll_one() > 0)
        return true;
    const auto next = time_->next();
    if (!next || *next > limit)
        return false;
    time_->advance(*next - time_->elapsed());
    return true;
}

lease client_fixture::acquire(std::string_view resource, const acquire_options& options)
{
    auto [ec, held] = complete(locks_->async_acquire(resource, options));
    BOOST_TEST_REQUIRE(ec == error_code());
    BOOST_TEST_REQUIRE(static_cast<bool>(held));
    return std::move(held);
}

lease client_fixture::acquire(std::string_view resource)
{
    return acquire(resource, acquire_options());
}

journal client_fixture::log(detail::verb what) const
{
    journal found;
    std::ranges::copy_if(*log_, std::back_inserter(found), [what](const asked_question& each) {
        return each.what == what;
    });
    return found;
}

std::vector<std::size_t> client_fixture::sent_to(detail::verb what) const
{
    std::vector<std::size_t> found;
    for (const asked_question& each : *log_)
    {
        if (each.what == what && each.sent)
            found.push_back(each.node);
    }
    return found;
}

std::size_t client_fixture::keys_left() const
{
    std::size_t count = 0;
    for (const auto& each : nodes_)
        count += each->store().count_set(time_->elapsed());
    return count;
}

std::size_t client_fixture::holders(std::string_view key, std::string_view id) const
{
    return static_cast<std::size_t>(std::ranges::count_if(nodes_, [&](const auto& each) {
        return each->store().value(std::string(key), time_->elapsed()) == id;
    }));
}

void client_fixture::destroy_context()
{
    run_.reset();
    locks_.reset();
    nodes_.clear();
    time_.reset();
    strand_.reset();
    context_.reset();
}

}  // namespace redlock::test
