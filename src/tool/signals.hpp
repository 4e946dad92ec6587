#ifndef REDLOCK_SRC_TOOL_SIGNALS_HPP
#define REDLOCK_SRC_TOOL_SIGNALS_HPP

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <functional>
#include <utility>

namespace redlock::tool {

/** Receives the signals of this process, and passes them to one handler at a time.

    Only one object at a time. It unblocks what it receives, should the process have been started
    with it blocked.
*/
class signals
{
public:
    explicit signals(boost::asio::io_context& in);

    /// @param handler Gets the number of each signal, including SIGCHLD. One that asks this process
    /// to stop it has to pass to `stop`, which is done for it as long as there is no handler.
    void on_signal(std::function<void(int)> handler) { handler_ = std::move(handler); }

    /// The last signal that asked this process to end. Zero if none did. True as soon as the signal
    /// has arrived, even if the loop hasn't run since.
    [[nodiscard]] int asked_to_end() const noexcept;

    [[nodiscard]] static bool asks_to_end(int number) noexcept;

    /// Whether a terminal, a shell or a supervisor wants this process to stop until it continues.
    [[nodiscard]] static bool asks_to_stop(int number) noexcept;

    /** Stops as if there were no handler. Returns when this process is to continue.

        @param with_group With all of its process group, such as the rest of a pipeline.
        @return Whether it was stopped. Nobody could continue a group without a shell, so the
        system doesn't stop it.
    */
    static bool stop(int number, bool with_group);

private:
    void listen();

    boost::asio::signal_set set_;
    std::function<void(int)> handler_;
};

}  // namespace redlock::tool

#endif
