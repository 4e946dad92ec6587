// What Linux and macOS have in common.

#include "loop/platform.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/un.h>
#include <unistd.h>

namespace redlock::detail::platform {

namespace {

std::atomic<unsigned> forks = 0;

/// The most that the system gives at once.
constexpr std::size_t max_entropy = 256;

}  // namespace

unsigned fork_count() noexcept
{
    // Without memory for the handler nothing is counted. Then a child looks like its parent.
    [[maybe_unused]] static const int registered =
        ::pthread_atfork(nullptr, nullptr, []() { forks.fetch_add(1, std::memory_order_relaxed); });
    return forks.load(std::memory_order_relaxed);
}

std::int64_t process_id() noexcept
{
    return ::getpid();
}

void fill_random(std::span<unsigned char> to)
{
    while (!to.empty())
    {
        const std::size_t size = std::min(to.size(), max_entropy);
        if (::getentropy(to.data(), size) != 0)
            throw boost::system::system_error(
                errno, boost::system::system_category(), "getentropy"
            );
        to = to.subspan(size);
    }
}

void without_signals(const std::function<void()>& what)
{
    class blocked
    {
    public:
        blocked() noexcept
        {
            sigset_t all;
            sigfillset(&all);  // A macro on macOS.
            ::pthread_sigmask(SIG_SETMASK, &all, &before_);
        }

        blocked(const blocked&) = delete;
        blocked& operator=(const blocked&) = delete;
        ~blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

    private:
        sigset_t before_{};
    };

    const blocked meanwhile;
    what();
}

void write_last_words(std::string_view line) noexcept
{
    ::pollfd output{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&output, 1, 0) != 1)
        return;
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

std::size_t max_socket_path() noexcept
{
    return sizeof(::sockaddr_un::sun_path) - 1;  // Without the final zero.
}

std::vector<std::string> system_authorities()
{
    return {};
}

}  // namespace redlock::detail::platform
