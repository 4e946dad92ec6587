#ifndef REDLOCK_SRC_TOOL_JOB_HPP
#define REDLOCK_SRC_TOOL_JOB_HPP

#include "tool/child.hpp"
#include "tool/signals.hpp"
#include "tool/terminal.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace redlock::tool {

/** A command that a person runs by this process, as if without it: it can have the terminal, and
    the two stop and continue together.

    It has a group of its own, because all of it must be ended at a loss, and because `fg` must not
    continue it before this process has looked at its lease. So the terminal sees two groups, and
    only one of them has it:
    - The command gets it at the start if nobody else in a pipeline can need it, otherwise when it
    asks for it, by a read for example. Until then `redlock run r -- make | less` has its keys.
    - If the command is stopped by Ctrl-Z or waits for the terminal in the background, this process
    stops too, so that the shell knows.
    - If this process is asked to stop, it stops the command first. Otherwise that would work on
    without a lease.
*/
class job
{
public:
    /// @param may_go_on Asked before a command that was stopped continues. If not, it's killed.
    /// @param name Of what it says to a person.
    /// @throws std::system_error As `child`.
    job(child_options options, std::string name, std::function<bool()> may_go_on);
    job(const job&) = delete;
    job& operator=(const job&) = delete;

    /// Kills what is left of the command, and takes the terminal back.
    ~job();

    /// Passes on what this process has received.
    void on_signal(int number);

    /// Asks the command, all of its group, for something. One that is stopped continues, or it
    /// couldn't hear that.
    void signal(int number) const noexcept;

    /// Looks without waiting, and stops together with the command if it was stopped. Then it
    /// returns when both have continued. @return Whether the command has ended.
    [[nodiscard]] bool has_ended();

    /// Whether it waits for a terminal that nobody can give it. It will never end by itself.
    [[nodiscard]] bool waits_in_vain() const noexcept { return in_vain_; }

    /// Whether the keys of its terminal have ended it: Ctrl-C or Ctrl-\\, which only it has got.
    [[nodiscard]] bool was_interrupted() const noexcept;

    /// As those of `child`.
    [[nodiscard]] bool has_others() const { return command_.has_others(); }
    [[nodiscard]] int exit_status() const noexcept { return command_.exit_status(); }

private:
    static const terminal* to_give(const terminal& from) noexcept;

    void on_command_stopped(int by);
    void stop_command();
    bool stop(int by, bool with_group);
    void say(std::string_view what) const;

    terminal terminal_;
    child command_;
    std::string name_;
    std::function<bool()> may_go_on_;
    int stop_asked_by_ = 0;
    bool wants_terminal_;  ///< It gets the terminal whenever this process has it.
    bool told_ = false;
    bool in_vain_ = false;
};

}  // namespace redlock::tool

#endif
