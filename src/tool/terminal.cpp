#include "tool/terminal.hpp"

#include <csignal>

#include <fcntl.h>
#include <unistd.h>

namespace redlock::tool {

namespace {

::sigset_t only(int number) noexcept
{
    ::sigset_t made;
    sigemptyset(&made);
    sigaddset(&made, number);
    return made;
}

}  // namespace

terminal::terminal() noexcept : file_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {}

terminal::~terminal()
{
    if (file_ >= 0)
        ::close(file_);
}

bool terminal::is_ours() const noexcept
{
    return belongs_to(::getpgrp());
}

bool terminal::belongs_to(pid_t group) const noexcept
{
    return file_ >= 0 && ::tcgetpgrp(file_) == group;
}

bool terminal::is_not_shared() noexcept
{
    return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

void terminal::give_to(pid_t group) const noexcept
{
    const background_output allowed;
    ::tcsetpgrp(file_, group);
}

background_output::background_output() noexcept
{
    const ::sigset_t stop = only(SIGTTOU);
    ::sigset_t before;
    ::pthread_sigmask(SIG_BLOCK, &stop, &before);
    blocked_ = sigismember(&before, SIGTTOU) == 0;
}

background_output::~background_output()
{
    const ::sigset_t stop = only(SIGTTOU);
    if (blocked_)
        ::pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
}

}  // namespace redlock::tool
