#include "loop/platform.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace redlock::detail::platform {

namespace {

std::chrono::nanoseconds to_ns(const std::timespec& time) noexcept
{
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

bool is_zombie(const std::filesystem::path& process)
{
    std::ifstream file(process / "stat");
    std::string stat;
    std::getline(file, stat);
    const auto end = stat.rfind(") ");
    return end == stat.npos || stat.compare(end + 2, 1, "Z") == 0;
}

}  // namespace

std::chrono::nanoseconds boot_time() noexcept
{
    std::timespec now{};
    // A sandbox may forbid it. Then deadlines don't notice a suspension.
    if (::clock_gettime(CLOCK_BOOTTIME, &now) == 0)
        return to_ns(now);
    return std::chrono::steady_clock::now().time_since_epoch();
}

bool has_others(int leader)
{
    for (const auto& each : std::filesystem::directory_iterator("/proc"))
    {
        const std::string name = each.path().filename();
        const int pid = std::atoi(name.c_str());
        if (pid > 0 && pid != leader && ::getpgid(pid) == leader && !is_zombie(each.path()))
            return true;
    }
    return false;
}

bool end_with_parent() noexcept
{
    return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

boost::system::error_code open_socket(
    stream_socket& socket,
    const boost::asio::generic::stream_protocol& of
)
{
    boost::system::error_code ec;
    const int fd = ::socket(of.family(), of.type() | SOCK_CLOEXEC, of.protocol());
    if (fd < 0)
        return {errno, boost::system::system_category()};
    socket.assign(of, fd, ec);
    if (ec)
        ::close(fd);
    return ec;
}

file_stamp stamp_of(const std::string& file) noexcept
{
    struct ::stat found;
    if (::stat(file.c_str(), &found) != 0)
        return {};
    return {
        found.st_dev,
        found.st_ino,
        found.st_size,
        to_ns(found.st_mtim).count(),
        to_ns(found.st_ctim).count(),
    };
}

}  // namespace redlock::detail::platform
