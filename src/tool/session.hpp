#ifndef REDLOCK_SRC_TOOL_SESSION_HPP
#define REDLOCK_SRC_TOOL_SESSION_HPP

#include <redlock/client.hpp>

#include "tool/command_line.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace redlock::tool {

/// A client for commands that ask the nodes and then end.
class session
{
public:
    explicit session(const node_options& given) : locks_(context_, make_config(given))
    {
        locks_.async_run(boost::asio::detached);
    }

    [[nodiscard]] client& locks() noexcept { return locks_; }

    /// Runs an operation to its end. @return The error and the result.
    template <class Result, class Operation>
    [[nodiscard]] std::tuple<error_code, Result> complete(Operation operation)
    {
        std::optional<std::tuple<error_code, Result>> outcome;
        std::move(operation)([&](error_code ec, Result result) {
            outcome.emplace(ec, std::move(result));
        });
        while (!outcome && context_.run_one() > 0)
        {
        }
        if (!outcome)
            throw std::logic_error("the event loop has ended too early");
        return *std::move(outcome);
    }

    /// The same. @throws boost::system::system_error about `what`, if it fails.
    template <class Result, class Operation>
    [[nodiscard]] Result result(Operation operation, const std::string& what)
    {
        auto [ec, yielded] = complete<Result>(std::move(operation));
        if (ec)
            throw boost::system::system_error(ec, what);
        return std::move(yielded);
    }

    [[nodiscard]] boost::asio::io_context& context() noexcept { return context_; }

private:
    boost::asio::io_context context_{1};
    client locks_;
};

}  // namespace redlock::tool

#endif
