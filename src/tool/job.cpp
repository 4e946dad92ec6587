#include "tool/job.hpp"

#include <csignal>
#include <iostream>
#include <utility>

#include <unistd.h>

namespace redlock::tool {

namespace {

/// How long a command may take to stop by itself, such as an editor that resets the terminal.
constexpr int longest_stop_ms = 100;

}  // namespace

job::job(child_options options, std::string name, std::function<bool()> may_go_on)
    : command_([&]() -> child_options& {
          options.given = to_give(terminal_);
          return options;
      }()),
      name_(std::move(name)),
      may_go_on_(std::move(may_go_on)),
      wants_terminal_(options.given != nullptr)
{
}

job::~job()
{
    if (terminal_.belongs_to(command_.group()))
        terminal_.give_to(::getpgrp());
}

const terminal* job::to_give(const terminal& from) noexcept
{
    return terminal::is_not_shared() && from.is_ours() ? &from : nullptr;
}

void job::on_signal(int number)
{
    if (signals::asks_to_stop(number))
        stop_asked_by_ = number;
    else if (number != SIGCHLD && number != SIGCONT)
        signal(number);
}

void job::signal(int number) const noexcept
{
    command_.signal(number);
    command_.signal(SIGCONT);
}

bool job::has_ended()
{
    if (command_.has_ended())
        return true;
    if (const int by = std::exchange(stop_asked_by_, 0))
    {
        stop_command();
        // Others of the pipeline wait for the terminal, and the command may have it again when it
        // asks.
        wants_terminal_ = wants_terminal_ && by == SIGTSTP;
        stop(by, false);
    }
    else if (const int stopped_by = command_.take_stop())
    {
        on_command_stopped(stopped_by);
    }
    return command_.has_ended();
}

bool job::was_interrupted() const noexcept
{
    const int by = exit_status() - 128;
    return (by == SIGINT || by == SIGQUIT) && terminal_.belongs_to(command_.group());
}

void job::on_command_stopped(int by)
{
    const bool asks = by == SIGTTIN || by == SIGTTOU;
    const bool by_keys = by == SIGTSTP && terminal_.belongs_to(command_.group());
    if (!by_keys && !(asks && terminal_.exists()))
        return;  // Stopped by a person or a program that is going to continue it.
    wants_terminal_ = true;
    const auto is_in_foreground = [&] {
        return terminal_.is_ours() || terminal_.belongs_to(command_.group());
    };
    if (asks && !is_in_foreground() && !std::exchange(told_, true))
        say("the command waits for the terminal; bring it to the foreground");
    if (asks && is_in_foreground())  // A shell may do as it's told at once.
    {
        terminal_.give_to(command_.group());
        return command_.signal(SIGCONT);
    }
    const bool stopped = stop(by, true);
    in_vain_ = asks && !stopped && !terminal_.is_ours();
}

void job::stop_command()
{
    command_.signal(SIGTSTP);
    for (int waited = 0; waited < longest_stop_ms; ++waited)
    {
        if (command_.has_ended() || command_.take_stop() != 0)
            break;
        ::usleep(1'000);
    }
}

/// Stops all that isn't stopped yet, and this process. @return Whether that was stopped.
bool job::stop(int by, bool with_group)
{
    command_.signal(SIGSTOP);
    if (terminal_.belongs_to(command_.group()))
        terminal_.give_to(::getpgrp());
    const bool stopped = signals::stop(by, with_group);
    static_cast<void>(command_.has_ended());
    static_cast<void>(command_.take_stop());
    if (may_go_on_() && wants_terminal_ && terminal_.is_ours())
        terminal_.give_to(command_.group());
    command_.signal(may_go_on_() ? SIGCONT : SIGKILL);
    return stopped;
}

void job::say(std::string_view what) const
{
    const background_output allowed;
    std::cerr << "redlock: " << name_ << ": " << what << '\n';
}

}  // namespace redlock::tool
