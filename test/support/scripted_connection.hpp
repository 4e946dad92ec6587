#ifndef REDLOCK_TEST_SUPPORT_SCRIPTED_CONNECTION_HPP
#define REDLOCK_TEST_SUPPORT_SCRIPTED_CONNECTION_HPP

#include "wire/connection.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace redlock::test {

/// The far end of a scripted connection: a server whose bytes are the test's.
struct scripted_wire
{
    std::shared_ptr<detail::connection::owner> owner;  ///< While it is open, or about to be.
    std::string written;
    std::size_t writes = 0;
    std::string received;  ///< And not used by the owner yet.
    bool closing = false;

    /// What was written since the last call.
    [[nodiscard]] std::string take() { return std::exchange(written, {}); }

    void send(std::string_view bytes)
    {
        received += bytes;
        const auto kept = owner;
        if (kept && !closing)
            received.erase(0, kept->on_input(received));
    }

    void end(error_code why)
    {
        if (const auto ended = std::exchange(owner, nullptr))
            ended->on_closed(why);
    }
};

/// A connection without a socket.
class scripted_connection final : public detail::connection
{
public:
    explicit scripted_connection(std::shared_ptr<scripted_wire> wire) : wire_(std::move(wire)) {}

    void open(const std::shared_ptr<owner>& of) override { wire_->owner = of; }

    void write(std::string_view bytes) override
    {
        if (wire_->closing)
            return;
        wire_->written += bytes;
        ++wire_->writes;
    }

    void close() noexcept override { wire_->closing = true; }

private:
    std::shared_ptr<scripted_wire> wire_;
};

}  // namespace redlock::test

#endif
