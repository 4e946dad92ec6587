#ifndef REDLOCK_TEST_SUPPORT_CLIENT_RUNNER_HPP
#define REDLOCK_TEST_SUPPORT_CLIENT_RUNNER_HPP

#include <redlock/client.hpp>
#include <redlock/config.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/redis_server.hpp"

namespace redlock::test {

/// Runs handlers of `context` until `condition` is true. @return Whether it became true.
template <class F>
[[nodiscard]] bool run_until(
    boost::asio::io_context& context,
    F condition,
    std::chrono::milliseconds deadline = std::chrono::seconds(10)
);

/** Runs an operation to its end, in this thread.

    @param op What an initiating function returns without a token, also that of `co_spawn`.
    @return What it completed with. Throws its error, and when it does not complete in time.
*/
template <class Op>
auto run(
    boost::asio::io_context& context,
    Op op,
    std::chrono::milliseconds deadline = std::chrono::seconds(20)
);

/// As `run`. @return A tuple of all that the operation completed with, its error first.
template <class Op>
auto outcome_of(
    boost::asio::io_context& context,
    Op op,
    std::chrono::milliseconds deadline = std::chrono::seconds(20)
);

/** A configuration for these nodes.

    In plain mode, for most tests are about what both modes have in common. The node timeout is
    long, so that a busy machine is not taken for a silent node. Where silence is what a test is
    about, it sets its own.
*/
[[nodiscard]] client_config config_for(const std::vector<std::string>& urls);
[[nodiscard]] client_config config_for(const redis_servers& servers);

/** A client that runs on a context from the beginning to the end of the object.

    The destructor cancels the client and fails the test if `async_run` does not complete then.
*/
class client_runner
{
public:
    client_runner(boost::asio::io_context& context, client_config config);
    client_runner(const client_runner&) = delete;
    client_runner& operator=(const client_runner&) = delete;
    ~client_runner();

    [[nodiscard]] client* operator->() noexcept { return &client_; }
    [[nodiscard]] const client* operator->() const noexcept { return &client_; }

    /// Runs the context until `count` nodes are ready. @return Whether they are.
    [[nodiscard]] bool reaches(std::size_t count);

    /// Runs the context until all nodes are ready.
    void wait_for_all_nodes();

    /// Runs the context until a node is in a state. @return Whether it is.
    [[nodiscard]] bool reaches(std::size_t node, node_state state);

    [[nodiscard]] node_status status(std::size_t node) const { return client_.nodes().at(node); }

private:
    [[nodiscard]] std::size_t ready() const;

    boost::asio::io_context& context_;
    client client_;
    std::shared_ptr<std::optional<error_code>> ended_;  ///< What async_run completed with.
};

// For the templates below.

/// Runs handlers for a millisecond.
void run_for_a_moment(boost::asio::io_context& context);

/// Runs one handler, or none for a while.
void run_a_handler(boost::asio::io_context& context);

[[noreturn]] void throw_never_completed();

template <class F>
bool run_until(boost::asio::io_context& context, F condition, std::chrono::milliseconds deadline)
{
    const auto give_up = std::chrono::steady_clock::now() + deadline;
    for (;;)
    {
        const bool last = std::chrono::steady_clock::now() >= give_up;
        if (condition())
            return true;
        if (last)
            return false;
        run_for_a_moment(context);
    }
}

/// Where an operation puts what it completed with. Outlives both, whichever goes first.
template <class Signature>
class completion;

template <class... Results>
class completion<void(Results...)>
{
public:
    explicit completion(boost::asio::io_context& context) : context_(context) {}

    [[nodiscard]] auto handler() const
    {
        // An executor of its own, for that of an operation need not be this context's.
        return boost::asio::bind_executor(context_.get_executor(), [to = results_](Results... all) {
            to->emplace(std::move(all)...);
        });
    }

    [[nodiscard]] std::tuple<Results...> wait(std::chrono::milliseconds deadline)
    {
        const auto give_up = std::chrono::steady_clock::now() + deadline;
        while (!*results_)
        {
            if (std::chrono::steady_clock::now() >= give_up)
                throw_never_completed();
            run_a_handler(context_);
        }
        return std::move(**results_);
    }

private:
    using results = std::optional<std::tuple<Results...>>;

    boost::asio::io_context& context_;
    std::shared_ptr<results> results_ = std::make_shared<results>();
};

/// Throws what an operation of this library, or a coroutine, completed with.
inline void throw_if_failed(error_code ec)
{
    if (ec)
        throw boost::system::system_error(ec);
}

inline void throw_if_failed(const std::exception_ptr& failure)
{
    if (failure)
        std::rethrow_exception(failure);
}

template <class Op>
auto outcome_of(boost::asio::io_context& context, Op op, std::chrono::milliseconds deadline)
{
    completion<boost::asio::completion_signature_of_t<Op>> awaited(context);
    std::move(op)(awaited.handler());
    return awaited.wait(deadline);
}

template <class Op>
auto run(boost::asio::io_context& context, Op op, std::chrono::milliseconds deadline)
{
    auto outcome = outcome_of(context, std::move(op), deadline);
    throw_if_failed(std::get<0>(outcome));
    if constexpr (std::tuple_size_v<decltype(outcome)> == 2)
        return std::move(std::get<1>(outcome));
}

}  // namespace redlock::test

#endif
