#include "tool/child.hpp"

#include "loop/platform.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace redlock::tool {

namespace {

std::vector<std::string> make_environment(const child_options& of)
{
    std::vector<std::string> made;
    const auto is_replaced = [&of](std::string_view variable) {
        const std::string_view name = variable.substr(0, variable.find('='));
        const auto has_name = [name](const auto& each) { return each.first == name; };
        return std::ranges::find(of.hidden, name) != of.hidden.end() ||
               std::ranges::any_of(of.added, has_name);
    };
    for (char** each = environ; *each; ++each)
    {
        if (!is_replaced(*each))
            made.emplace_back(*each);
    }
    for (const auto& [name, value] : of.added)
        made.push_back(name + '=' + value);
    return made;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts)
{
    std::vector<char*> made;
    for (std::string& each : texts)
        made.push_back(each.data());
    made.push_back(nullptr);
    return made;
}

/// Handles all signals as a new process does. Those that this process was started with ignored stay
/// so.
void reset_signals() noexcept
{
    std::signal(SIGPIPE, SIG_DFL);
    for (int each = 1; each < NSIG; ++each)
    {
        struct sigaction now{};
        if (::sigaction(each, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
            std::signal(each, SIG_DFL);
    }
    ::sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Runs in the child. Must not return or allocate.
[[noreturn]] void become(
    char* const* arguments,
    char** variables,
    pid_t parent,
    const terminal* given,
    const char* output,
    int failure
)
{
    ::setpgid(0, 0);
    if (given)
        given->give_to(::getpid());
    if (*output)
    {
        ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
        ::dup2(::open(output, O_WRONLY | O_CREAT | O_APPEND, 0600), STDOUT_FILENO);
        ::dup2(STDOUT_FILENO, STDERR_FILENO);
    }
    reset_signals();
    detail::platform::end_with_parent();
    if (::getppid() == parent)  // Otherwise the parent has already died.
    {
        environ = variables;
        ::execvp(arguments[0], arguments);
    }
    const int why = errno;
    [[maybe_unused]] const auto written = ::write(failure, &why, sizeof why);
    ::_exit(127);
}

[[noreturn]] void fail(int code, const std::string& what)
{
    throw std::system_error(code, std::generic_category(), what);
}

}  // namespace

void make_pipe(int (&ends)[2])
{
    if (::pipe(ends) != 0)
        fail(errno, "pipe");
    ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    ::fcntl(ends[1], F_SETFD, FD_CLOEXEC);
}

child::child(const child_options& options)
{
    std::vector<std::string> arguments = options.command;
    std::vector<std::string> variables = make_environment(options);
    const auto argument_pointers = pointers_to(arguments);
    auto variable_pointers = pointers_to(variables);
    int ends[2];
    make_pipe(ends);
    // The handlers of this process must not run in its copy.
    ::sigset_t all;
    ::sigset_t before;
    sigfillset(&all);
    ::sigprocmask(SIG_BLOCK, &all, &before);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0)
    {
        become(
            argument_pointers.data(),
            variable_pointers.data(),
            parent,
            options.given,
            options.output.c_str(),
            ends[1]
        );
    }
    const int error = errno;
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    ::close(ends[1]);
    int why = 0;
    if (pid_ > 0)
    {
        ::setpgid(pid_, pid_);  // Parent and child both call it, because either may be first.
        while (::read(ends[0], &why, sizeof why) < 0 && errno == EINTR)
        {
        }
    }
    ::close(ends[0]);
    if (pid_ < 0)
        fail(error, "fork");
    if (why == 0)
        return;
    ::waitpid(pid_, nullptr, 0);
    if (options.given)
        options.given->give_to(::getpgrp());
    fail(why, options.command.front());
}

child::~child()
{
    // A daemon that has left the group survives. The processes still in it worked under the lock.
    // The group's number isn't reused before its leader is reaped.
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

void child::signal(int number) const noexcept
{
    ::kill(-pid_, number);
}

bool child::has_ended()
{
    ::siginfo_t told{};
    const auto look = [&](int for_what) {
        told.si_pid = 0;
        return ::waitid(P_PID, static_cast<id_t>(pid_), &told, for_what | WNOHANG) == 0 &&
               told.si_pid == pid_;
    };
    while (look(WSTOPPED))
        stopped_by_ = told.si_status;
    if (!look(WEXITED | WNOWAIT))
        return false;
    exit_status_ = told.si_code == CLD_EXITED ? told.si_status : 128 + told.si_status;
    return true;
}

int child::take_stop() noexcept
{
    return std::exchange(stopped_by_, 0);
}

bool child::has_others() const
{
    return detail::platform::has_others(pid_);
}

}  // namespace redlock::tool
