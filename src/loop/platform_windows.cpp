#include "loop/platform.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <memory>

// In this order.
#include <windows.h>
#include <winsock2.h>
// Need the one before.
#include <bcrypt.h>
#include <realtimeapiset.h>
#include <wincrypt.h>

namespace redlock::detail::platform {

namespace {

using handle = std::unique_ptr<void, decltype(&::CloseHandle)>;

std::uint64_t join(DWORD high, DWORD low) noexcept
{
    return std::uint64_t{high} << 32 | low;
}

/// Of a time in units of 100 ns.
std::int64_t to_ns(const FILETIME& time) noexcept
{
    return static_cast<std::int64_t>(join(time.dwHighDateTime, time.dwLowDateTime)) * 100;
}

}  // namespace

std::chrono::nanoseconds boot_time() noexcept
{
    ULONGLONG ticks = 0;
    ::QueryInterruptTimePrecise(&ticks);
    return std::chrono::nanoseconds(static_cast<std::int64_t>(ticks) * 100);
}

unsigned fork_count() noexcept
{
    return 0;
}

std::int64_t process_id() noexcept
{
    return ::GetCurrentProcessId();
}

void fill_random(std::span<unsigned char> to)
{
    const auto status = ::BCryptGenRandom(
        nullptr, to.data(), static_cast<ULONG>(to.size()), BCRYPT_USE_SYSTEM_PREFERRED_RNG
    );
    if (status < 0)
        throw boost::system::system_error(
            ERROR_GEN_FAILURE, boost::system::system_category(), "BCryptGenRandom"
        );
}

void without_signals(const std::function<void()>& what)
{
    what();
}

void write_last_words(std::string_view line) noexcept
{
    const HANDLE output = ::GetStdHandle(STD_ERROR_HANDLE);
    DWORD mode = PIPE_NOWAIT;
    ::SetNamedPipeHandleState(output, &mode, nullptr, nullptr);  // Fails if it is no pipe.
    DWORD written = 0;
    ::WriteFile(output, line.data(), static_cast<DWORD>(line.size()), &written, nullptr);
}

bool has_others(int)
{
    return false;
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
    const SOCKET made = ::WSASocketW(
        of.family(),
        of.type(),
        of.protocol(),
        nullptr,
        0,
        WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT
    );
    if (made == INVALID_SOCKET)
        return {::WSAGetLastError(), boost::system::system_category()};
    socket.assign(of, made, ec);
    if (ec)
        ::closesocket(made);
    return ec;
}

std::size_t max_socket_path() noexcept
{
    return 107;  // <afunix.h>, which compilers do not always have, gives the path 108 bytes.
}

file_stamp stamp_of(const std::string& file) noexcept
{
    const HANDLE opened = ::CreateFileA(
        file.c_str(),
        FILE_READ_ATTRIBUTES,
        FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
        nullptr,
        OPEN_EXISTING,
        FILE_ATTRIBUTE_NORMAL,
        nullptr
    );
    if (opened == INVALID_HANDLE_VALUE)
        return {};
    const handle kept(opened, ::CloseHandle);
    BY_HANDLE_FILE_INFORMATION found{};
    if (!::GetFileInformationByHandle(opened, &found))
        return {};
    return {
        found.dwVolumeSerialNumber,
        join(found.nFileIndexHigh, found.nFileIndexLow),
        static_cast<std::int64_t>(join(found.nFileSizeHigh, found.nFileSizeLow)),
        to_ns(found.ftLastWriteTime),
        to_ns(found.ftCreationTime),
    };
}

std::vector<std::string> system_authorities()
{
    std::vector<std::string> found;
    const HCERTSTORE store = ::CertOpenSystemStoreW(0, L"ROOT");
    if (!store)
        return found;
    PCCERT_CONTEXT each = nullptr;
    while ((each = ::CertEnumCertificatesInStore(store, each)))
        found.emplace_back(reinterpret_cast<const char*>(each->pbCertEncoded), each->cbCertEncoded);
    ::CertCloseStore(store, 0);
    return found;
}

}  // namespace redlock::detail::platform
