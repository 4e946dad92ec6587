#include "loop/platform.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

// The order matters: the first excludes what the second would include. The others need the second.
#include <windows.h>
#include <winsock2.h>
// These need <windows.h>.
#include <bcrypt.h>
#include <wincrypt.h>

namespace redlock::detail::platform {

namespace {

std::uint64_t join(DWORD high, DWORD low) noexcept
{
    return std::uint64_t{high} << 32 | low;
}

using interrupt_time = void(WINAPI*)(ULONGLONG*);

/// Looked up at run time, because Wine doesn't have it.
interrupt_time find_interrupt_time() noexcept
{
    const HMODULE kernel = ::GetModuleHandleW(L"kernelbase.dll");
    if (!kernel)
        return nullptr;
    void* const found =
        reinterpret_cast<void*>(::GetProcAddress(kernel, "QueryInterruptTimePrecise"));
    return reinterpret_cast<interrupt_time>(found);
}

/// The last line of a process, kept here for the thread that writes it.
std::array<char, 512> last_words;

DWORD WINAPI write_last(void* size)
{
    DWORD written = 0;
    ::WriteFile(
        ::GetStdHandle(STD_ERROR_HANDLE),
        last_words.data(),
        static_cast<DWORD>(reinterpret_cast<std::uintptr_t>(size)),
        &written,
        nullptr
    );
    return 0;
}

/// Windows trusts some authorities only for code or mail.
bool is_for_servers(PCCERT_CONTEXT certificate)
{
    DWORD size = 0;
    if (!::CertGetEnhancedKeyUsage(certificate, 0, nullptr, &size))
        return false;
    std::vector<unsigned char> space(size);
    auto* const usage = reinterpret_cast<CERT_ENHKEY_USAGE*>(space.data());
    if (!::CertGetEnhancedKeyUsage(certificate, 0, usage, &size))
        return false;
    if (usage->cUsageIdentifier == 0)  // Trusted for everything, or for nothing.
        return ::GetLastError() == static_cast<DWORD>(CRYPT_E_NOT_FOUND);
    const auto* const first = usage->rgpszUsageIdentifier;
    return std::any_of(first, first + usage->cUsageIdentifier, [](const char* each) {
        return std::string_view(each) == szOID_PKIX_KP_SERVER_AUTH;
    });
}

/// Converts a file name as OpenSSL does.
std::wstring to_wide(const std::string& utf8)
{
    const int size = static_cast<int>(utf8.size());
    std::wstring wide(utf8.size(), L'\0');
    const int length =
        ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, utf8.data(), size, wide.data(), size);
    wide.resize(static_cast<std::size_t>(std::max(length, 0)));
    return wide;
}

}  // namespace

std::chrono::nanoseconds boot_time() noexcept
{
    static const interrupt_time precise = find_interrupt_time();
    if (!precise)  // This also counts during a suspension, in steps of 10 to 16 ms.
        return std::chrono::milliseconds(::GetTickCount64());
    ULONGLONG ticks = 0;
    precise(&ticks);
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
    const std::size_t size = std::min(line.size(), last_words.size());
    std::copy_n(line.data(), size, last_words.data());
    // Use another thread: if nobody reads stderr it blocks, and this one has to end the process.
    const HANDLE writer =
        ::CreateThread(nullptr, 0, write_last, reinterpret_cast<void*>(size), 0, nullptr);
    if (writer)
        ::WaitForSingleObject(writer, 100);
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
    return 107;  // <afunix.h>, which not all compilers have, gives the path 108 bytes.
}

file_stamp stamp_of(const std::string& file) noexcept
{
    const HANDLE opened = ::CreateFileW(
        to_wide(file).c_str(),
        FILE_READ_ATTRIBUTES,
        FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
        nullptr,
        OPEN_EXISTING,
        FILE_ATTRIBUTE_NORMAL,
        nullptr
    );
    if (opened == INVALID_HANDLE_VALUE)
        return {};
    const std::unique_ptr<void, decltype(&::CloseHandle)> kept(opened, ::CloseHandle);
    BY_HANDLE_FILE_INFORMATION found{};
    FILE_BASIC_INFO times{};
    if (!::GetFileInformationByHandle(opened, &found) ||
        !::GetFileInformationByHandleEx(opened, FileBasicInfo, &times, sizeof times))
        return {};
    return {
        found.dwVolumeSerialNumber,
        join(found.nFileIndexHigh, found.nFileIndexLow),
        static_cast<std::int64_t>(join(found.nFileSizeHigh, found.nFileSizeLow)),
        times.LastWriteTime.QuadPart * 100,
        times.ChangeTime.QuadPart * 100,
    };
}

std::vector<std::string> system_authorities()
{
    std::vector<std::string> found;
    const HCERTSTORE store = ::CertOpenSystemStoreW(0, L"ROOT");
    if (!store)
        return found;
    const auto close = [](HCERTSTORE opened) { ::CertCloseStore(opened, 0); };
    const std::unique_ptr<void, decltype(close)> kept(store, close);
    PCCERT_CONTEXT each = nullptr;
    while ((each = ::CertEnumCertificatesInStore(store, each)))
    {
        const auto* const bytes = reinterpret_cast<const char*>(each->pbCertEncoded);
        if (is_for_servers(each))
            found.emplace_back(bytes, each->cbCertEncoded);
    }
    return found;
}

}  // namespace redlock::detail::platform
