#ifndef REDLOCK_EXAMPLES_DEMO_PERFORMANCE_HPP
#define REDLOCK_EXAMPLES_DEMO_PERFORMANCE_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <functional>

namespace demo {

/// One thread that runs one story, and ends it cleanly on Ctrl-C.
class performance
{
public:
    [[nodiscard]] boost::asio::io_context::executor_type get_executor()
    {
        return context_.get_executor();
    }

    /// Runs `story` to its end, or cancels it when SIGINT, SIGTERM, SIGPIPE or SIGHUP comes.
    /// @param stop Called at the end of the story. Stops everything else on the executor.
    /// @return The signal, or 0.
    /// @throws What the story threw, unless a signal came.
    int run(boost::asio::awaitable<void> story, std::function<void()> stop = []() {});

private:
    boost::asio::io_context context_;
};

}  // namespace demo

#endif
