#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_DEMO_SHOW_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_DEMO_SHOW_HPP

#include "chat_room/client/scripted_member.hpp"
#include "chat_room/event.hpp"
#include "chat_room/stage/stage.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/json/fwd.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/wall_clock.hpp"

namespace chat {

/// How long the lease of a coordinator lives in the show: long enough to watch it.
inline constexpr std::chrono::milliseconds show_ttl{3000};

/** A chat that people watch and break: a room with two scripted members, and what can be done to
    the processes behind it.

    Lines report, one after the other, what was done and what followed. A process that ends is
    started again after a few seconds. Only one action runs at a time.
*/
class show
{
    redlock::test::wall_clock clock_;  ///< Of the last lock node, which is started with it.

public:
    /// @param controls Where the controls are, for the servers: `ws://127.0.0.1:PORT`.
    show(const asio::any_io_executor& executor, const std::string& controls);
    show(const show&) = delete;
    show& operator=(const show&) = delete;

    void start();
    void stop();

    /// Begins an action. @return Why it doesn't. Empty: it does.
    std::string perform(std::string_view name);

    /// The processes and the possible actions, and the last lines. Both as JSON.
    [[nodiscard]] std::string state();
    [[nodiscard]] const std::deque<std::string>& lines() const noexcept { return lines_; }

    /// Called with each new line, and each new state.
    std::function<void(const std::string&)> on_news;

    stage on;
    scripted_member ada;
    scripted_member bob;

private:
    struct action
    {
        std::string_view name;
        std::string_view label;
        asio::awaitable<void> (show::*run)();
    };

    static const std::vector<action>& actions();

    asio::awaitable<void> freeze();
    asio::awaitable<void> freeze_before_write();
    asio::awaitable<void> kill();
    asio::awaitable<void> cut_one() { return cut(1); }
    asio::awaitable<void> cut_two() { return cut(2); }
    asio::awaitable<void> cut_three() { return cut(3); }
    asio::awaitable<void> cut(std::size_t count);
    asio::awaitable<void> step_clock();
    asio::awaitable<void> kill_store();
    asio::awaitable<void> restart_all();

    asio::awaitable<void> watch();
    asio::awaitable<void> talk();
    void start_what_ended();
    void look_at(const std::string& status);
    void on_event(const boost::json::object& told);
    void tell(std::string_view kind, const std::string& text);
    void tell_state();
    [[nodiscard]] server_process* in_charge();
    asio::awaitable<bool> until(std::function<bool()> condition, std::chrono::milliseconds limit);
    asio::awaitable<void> wait(std::chrono::milliseconds time);

    asio::any_io_executor executor_;
    std::deque<std::string> lines_;
    std::string told_state_;
    std::string busy_;              ///< What is being done. Empty: nothing.
    std::uint64_t fence_ = 0;       ///< The highest that was reported.
    std::string coordinator_;       ///< The one that has it.
    std::uint64_t refused_at_ = 0;  ///< When the last reported refusal was.
    std::string store_ = "up";
    std::uint64_t votes_ = 5;
    std::vector<std::chrono::steady_clock::time_point> ended_;  ///< When each was found ended.
    bool stopped_ = false;
};

}  // namespace chat

#endif
