#ifndef REDLOCK_TEST_SUPPORT_FIXTURE_HPP
#define REDLOCK_TEST_SUPPORT_FIXTURE_HPP

#include <redlock/client.hpp>
#include <redlock/config.hpp>
#include <redlock/error.hpp>
#include <redlock/lease.hpp>
#include <redlock/observer.hpp>
#include <redlock/options.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "support/printing.hpp"
#include "testing/fake_node.hpp"
#include "testing/manual_time.hpp"

namespace redlock::test {

using namespace redlock::testing;

namespace asio = boost::asio;

/// An operation that was started, and what became of it.
template <class... Results>
struct pending
{
    std::size_t completions = 0;
    std::tuple<error_code, Results...> outcome;
    asio::cancellation_signal signal;

    [[nodiscard]] bool done() const noexcept { return completions > 0; }
    [[nodiscard]] error_code code() const noexcept { return std::get<0>(outcome); }

    /// What the operation yielded.
    [[nodiscard]] auto& value() noexcept { return std::get<1>(outcome); }

    void cancel(asio::cancellation_type type = asio::cancellation_type::terminal)
    {
        signal.emit(type);
    }
};

/// Starts a deferred operation whose signature is given by the type of the first argument.
template <class... Results, class Operation>
std::shared_ptr<pending<Results...>> launch_as(
    void (*)(error_code, Results...),
    Operation operation
)
{
    auto started = std::make_shared<pending<Results...>>();
    std::move(operation)(asio::bind_cancellation_slot(
        started->signal.slot(),
        [started](error_code ec, Results... results) {
            ++started->completions;
            started->outcome = {ec, std::move(results)...};
        }
    ));
    return started;
}

/// Starts a deferred operation.
template <class Operation>
auto launch(Operation operation)
{
    using signature = asio::completion_signature_of_t<Operation>;
    return launch_as(static_cast<signature*>(nullptr), std::move(operation));
}

/// What a `client_fixture` is made of. Short times are multiples of each other on purpose.
struct setup
{
    std::size_t nodes = 5;
    milliseconds node_timeout{50};
    double clock_drift = 0.01;
    retry_config retry{};
    std::string key_prefix{};
    redlock::mode mode = redlock::mode::plain;
    bool queue = true;
    std::shared_ptr<redlock::observer> observer{};
    std::vector<std::string>* lines = nullptr;  ///< Where the client's log goes.
};

[[nodiscard]] inline setup guarded(std::size_t nodes = 5)
{
    return {.nodes = nodes, .mode = mode::guarded};
}

/** A client of fake nodes in virtual time.

    Nothing happens but by `advance`, `run_until_idle` and `step`.
*/
class client_fixture
{
public:
    explicit client_fixture(const setup& how = {});
    client_fixture(const client_fixture&) = delete;
    client_fixture& operator=(const client_fixture&) = delete;

    [[nodiscard]] client& locks() noexcept { return *locks_; }
    [[nodiscard]] fake_node& node(std::size_t index) noexcept { return *nodes_[index]; }
    [[nodiscard]] std::size_t node_count() const noexcept { return nodes_.size(); }
    [[nodiscard]] manual_time& time() noexcept { return *time_; }
    [[nodiscard]] asio::io_context& context() noexcept { return *context_; }
    [[nodiscard]] bool on_strand() const noexcept { return strand_->running_in_this_thread(); }

    /// Calls `what` for the nodes `first` to `last`, which is left out.
    template <class F>
    void each_node(std::size_t first, std::size_t last, F what)
    {
        for (std::size_t index = first; index < last; ++index)
            what(*nodes_[index]);
    }

    template <class F>
    void each_node(F what)
    {
        each_node(0, nodes_.size(), what);
    }

    /// The nodes `first` to `last`, which is left out, never answer this.
    void silence(detail::verb what, std::size_t first, std::size_t last);
    void silence(detail::verb what) { silence(what, 0, nodes_.size()); }

    /// The nodes forget their rules.
    void be_honest();

    /// The n-th operation of the nodes fails like `failure`.
    void fail_with(const std::shared_ptr<fail_nth>& fuse);

    /// Another owner takes the resource on the nodes `first` to `last`, which is left out.
    void hold_elsewhere(
        std::string_view resource,
        milliseconds ttl,
        std::size_t first,
        std::size_t last
    );

    /// Starts `async_run` and lets it connect.
    void start_client();

    /// The operation that `start_client` started.
    [[nodiscard]] pending<>& run() noexcept { return *run_; }

    /// Runs what is ready, and what that makes ready.
    void run_until_idle();

    /// Lets time pass, going from event to event.
    void advance(nanoseconds by);

    /// Runs one handler; if there is none, goes to the next event, up to `limit` of the world's
    /// time. @return Whether there was something to do.
    bool step(nanoseconds limit);

    /// Starts an operation and lets time pass until it completes, for at most a minute.
    template <class Operation>
    auto complete(Operation operation)
    {
        const auto started = launch(std::move(operation));
        const nanoseconds limit = time_->elapsed() + std::chrono::minutes(1);
        while (!started->done() && step(limit))
        {
        }
        run_until_idle();
        BOOST_TEST_REQUIRE(started->completions == 1u);
        return std::move(started->outcome);
    }

    /// The same for an operation of which only the code is of interest.
    template <class Operation>
    error_code code_of(Operation operation)
    {
        return std::get<0>(complete(std::move(operation)));
    }

    /// Completes an acquisition that must succeed.
    [[nodiscard]] lease acquire(std::string_view resource, const acquire_options& options);
    [[nodiscard]] lease acquire(std::string_view resource);

    /// What all nodes were asked, in order.
    [[nodiscard]] journal& log() noexcept { return *log_; }
    [[nodiscard]] journal log(detail::verb what) const;

    /// Nodes that were sent a question with this verb, in order, since the log was last cleared.
    [[nodiscard]] std::vector<std::size_t> sent_to(detail::verb what) const;

    /// Keys that the client has set and that are still there, over all nodes.
    [[nodiscard]] std::size_t keys_left() const;

    /// Nodes that hold the resource with this id.
    [[nodiscard]] std::size_t holders(std::string_view key, std::string_view id) const;

    /// Destroys the client, or hands it over. Its operations may still be under way.
    void destroy_client() { locks_.reset(); }
    [[nodiscard]] client take_client() { return std::move(*locks_); }

    /// Destroys everything that the fixture owns, the execution context last.
    void destroy_context();

    /// Whether nothing is left of the client, suspended operations included.
    [[nodiscard]] bool client_is_gone() const noexcept { return impl_.expired(); }

private:
    std::unique_ptr<asio::io_context> context_ = std::make_unique<asio::io_context>();
    std::optional<asio::strand<asio::io_context::executor_type>> strand_;
    std::shared_ptr<manual_time> time_;
    std::shared_ptr<journal> log_ = std::make_shared<journal>();
    std::vector<std::shared_ptr<fake_node>> nodes_;
    std::weak_ptr<detail::client_impl> impl_;
    std::optional<client> locks_;
    std::shared_ptr<pending<>> run_;
};

/// A fixture whose client is running and connected.
class running_client : public client_fixture
{
public:
    explicit running_client(const setup& how = {}) : client_fixture(how) { start_client(); }
};

}  // namespace redlock::test

#endif
