#include "support/child_process.hpp"

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/eventually.hpp"
#include "support/posix.hpp"

namespace redlock::test {

namespace {

std::string_view name_of(std::string_view variable)
{
    return variable.substr(0, variable.find('='));
}

// Our own environment with some variables added or replaced.
std::vector<std::string> environment_with(const std::vector<std::string>& more)
{
    std::vector<std::string> all = more;
    for (char** variable = environ; *variable != nullptr; ++variable)
    {
        bool replaced = false;
        for (const std::string& one : more)
            replaced = replaced || name_of(one) == name_of(*variable);
        if (!replaced)
            all.emplace_back(*variable);
    }
    return all;
}

// What exec wants: pointers into the strings, and a null pointer at the end.
std::vector<char*> pointers_to(std::vector<std::string>& words)
{
    std::vector<char*> pointers;
    for (std::string& word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

struct image
{
    const char* program;
    char** arguments;
    char** environment;
};

// Runs in the child of a process that may have threads: async-signal-safe calls only.
[[noreturn]] void become(pid_t parent, int output, const image& what)
{
    // The parent may have died before the request took effect.
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent)
        ::_exit(127);

    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);

    // Asio's sockets survive exec. A child that held a copy of one would keep it open after the
    // test has closed it.
    const int input = ::open("/dev/null", O_RDONLY);
    if (::dup2(input, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(output, 2) < 0)
        ::_exit(127);
    ::close_range(3, ~0U, 0);

    ::execve(what.program, what.arguments, what.environment);
    ::_exit(127);
}

// Returns the state letter of a process, as in `ps`.
char process_state(pid_t pid)
{
    const std::string line = read_file("/proc/" + std::to_string(pid) + "/stat");
    const std::size_t name_end = line.rfind(") ");  // The name may contain anything.
    return name_end == std::string::npos ? '\0' : line.at(name_end + 2);
}

}  // namespace

child_process::child_process(const child_options& options)
{
    // Everything that allocates happens before the child begins, which shares this memory until it
    // runs its program. A fork would mark all of it to be copied: whoever writes to it afterwards,
    // such as a benchmark with a hundred thousand leases, would pay for that.
    std::vector<std::string> words = options.arguments;
    std::vector<std::string> variables = environment_with(options.environment);
    std::vector<char*> arguments = pointers_to(words);
    std::vector<char*> environment = pointers_to(variables);
    const image what{options.program.c_str(), arguments.data(), environment.data()};

    constexpr int append = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    const descriptor output(::open(options.output.c_str(), append, 0600));
    if (!output.is_open())
        throw_errno("open output");

    const pid_t parent = ::getpid();
    const pid_t child = ::vfork();
    if (child < 0)
        throw_errno("vfork");
    if (child == 0)
        become(parent, output.get(), what);
    pid_ = child;
}

child_process::child_process(child_process&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), exit_status_(other.exit_status_)
{
}

child_process& child_process::operator=(child_process&& other) noexcept
{
    if (this != &other)
    {
        kill();
        pid_ = std::exchange(other.pid_, 0);
        exit_status_ = other.exit_status_;
    }
    return *this;
}

void child_process::kill()
{
    if (pid_ == 0)
        return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR)
        continue;
    pid_ = 0;
}

bool child_process::has_ended()
{
    int status = 0;
    if (pid_ == 0)
        return true;
    if (::waitpid(pid_, &status, WNOHANG) != pid_)
        return false;
    pid_ = 0;
    if (WIFEXITED(status))
        exit_status_ = WEXITSTATUS(status);
    return true;
}

void child_process::pause()
{
    if (pid_ == 0 || ::kill(pid_, SIGSTOP) != 0)
        throw std::logic_error("the process is not running");
    if (!eventually([this] { return process_state(pid_) == 'T'; }))
        throw std::runtime_error("the process did not stop");
}

bool child_process::is_paused() const
{
    return pid_ != 0 && process_state(pid_) == 'T';
}

void child_process::resume()
{
    if (pid_ == 0 || ::kill(pid_, SIGCONT) != 0)
        throw std::logic_error("the process is not running");
}

}  // namespace redlock::test
