#include "loop/platform.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include <fcntl.h>
#include <libproc.h>
#include <mach/mach_time.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace redlock::detail::platform {

namespace {

std::int64_t to_ns(const std::timespec& time) noexcept
{
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// `socket()` takes no flags here, so a program that another thread executes in between may get the
/// socket.
void keep_to_this_process(int fd) noexcept
{
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/// Asio does the same for the sockets it opens.
void raise_no_signal(int fd) noexcept
{
    const int on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
}

/// For a process that has ended but isn't reaped yet, the system reports nothing or a zombie.
bool has_ended(::pid_t process) noexcept
{
    ::proc_bsdinfo found{};
    const int size = ::proc_pidinfo(process, PROC_PIDTBSDINFO, 0, &found, sizeof found);
    return size != static_cast<int>(sizeof found) || found.pbi_status == SZOMB;
}

}  // namespace

std::chrono::nanoseconds boot_time() noexcept
{
    static const auto ratio = []() {
        ::mach_timebase_info_data_t found{1, 1};
        ::mach_timebase_info(&found);
        return found;
    }();
    const std::uint64_t ticks = ::mach_continuous_time();
    // Convert whole and rest separately: a single product would overflow within months.
    const std::uint64_t whole = ticks / ratio.denom * ratio.numer;
    const std::uint64_t rest = ticks % ratio.denom * ratio.numer / ratio.denom;
    return std::chrono::nanoseconds(static_cast<std::int64_t>(whole + rest));
}

bool has_others(int leader)
{
    std::array<::pid_t, 64> members{};
    const int size = ::proc_listpids(
        PROC_PGRP_ONLY,
        static_cast<std::uint32_t>(leader),
        members.data(),
        static_cast<int>(sizeof members)
    );
    const auto count = static_cast<std::size_t>(std::max(size, 0)) / sizeof members[0];
    return std::any_of(members.begin(), members.begin() + count, [leader](::pid_t each) {
        return each > 0 && each != leader && !has_ended(each);
    });
}

bool end_with_parent() noexcept
{
    return false;
}

boost::system::error_code open_socket(
    stream_socket& socket,
    const boost::asio::generic::stream_protocol& of
)
{
    boost::system::error_code ec;
    const int fd = ::socket(of.family(), of.type(), of.protocol());
    if (fd < 0)
        return {errno, boost::system::system_category()};
    keep_to_this_process(fd);
    raise_no_signal(fd);
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
        static_cast<std::uint64_t>(found.st_dev),
        found.st_ino,
        found.st_size,
        to_ns(found.st_mtimespec),
        to_ns(found.st_ctimespec),
    };
}

}  // namespace redlock::detail::platform
