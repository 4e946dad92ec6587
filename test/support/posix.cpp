#include "support/posix.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace redlock::test {

namespace {

sockaddr_in loopback(std::uint16_t port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

descriptor make_socket(int family)
{
    descriptor fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.is_open())
        throw_errno("socket");
    return fd;
}

descriptor bind_loopback(std::uint16_t port)
{
    descriptor fd = make_socket(AF_INET);
    const int on = 1;
    if (::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0)
        throw_errno("SO_REUSEADDR");

    const sockaddr_in address = loopback(port);
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        throw_errno("bind");
    return fd;
}

std::uint16_t bound_port(int fd)
{
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        throw_errno("getsockname");
    return ntohs(address.sin_port);
}

}  // namespace

descriptor& descriptor::operator=(descriptor&& other) noexcept
{
    if (this != &other)
    {
        reset();
        fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
}

void descriptor::reset() noexcept
{
    if (fd_ >= 0)
        ::close(std::exchange(fd_, -1));
}

temp_folder::temp_folder()
{
    std::string name = (std::filesystem::temp_directory_path() / "redlock-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
        throw_errno("mkdtemp");
    path_ = name;
}

temp_folder::~temp_folder()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

loopback_port::loopback_port()
    : reservation_(bind_loopback(0)), number_(bound_port(reservation_.get()))
{
}

descriptor loopback_port::listen() const
{
    descriptor fd = bind_loopback(number_);
    if (::listen(fd.get(), SOMAXCONN) != 0)
        throw_errno("listen");
    return fd;
}

descriptor connect_tcp(std::uint16_t port)
{
    descriptor fd = make_socket(AF_INET);
    const int on = 1;
    if (::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
        throw_errno("TCP_NODELAY");

    const sockaddr_in address = loopback(port);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(fd.get(), generic, sizeof address) != 0 && errno != EINPROGRESS)
        throw_errno("connect");
    return fd;
}

descriptor connect_unix(const std::filesystem::path& path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.native().size() >= sizeof address.sun_path)
        throw std::invalid_argument("too long for a unix socket: " + path.native());
    std::memcpy(address.sun_path, path.c_str(), path.native().size() + 1);

    descriptor fd = make_socket(AF_UNIX);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        throw_errno("connect");
    return fd;
}

void wait_ready(int fd, short events, deadline_point deadline)
{
    for (;;)
    {
        pollfd entry{fd, events, 0};
        const int ready = ::poll(&entry, 1, milliseconds_until(deadline));
        if (ready > 0)
            return;
        if (ready < 0 && errno != EINTR)
            throw_errno("poll");
        if (deadline_clock::now() >= deadline)
            throw std::system_error(ETIMEDOUT, std::generic_category(), "no answer");
    }
}

int milliseconds_until(deadline_point deadline)
{
    using std::chrono::milliseconds;
    const auto left = std::chrono::ceil<milliseconds>(deadline - deadline_clock::now()).count();
    return static_cast<int>(std::clamp<milliseconds::rep>(left, 0, INT_MAX));
}

std::filesystem::path find_program(std::string_view name)
{
    const auto is_program = [](const std::filesystem::path& file) {
        return std::filesystem::is_regular_file(file) && ::access(file.c_str(), X_OK) == 0;
    };
    if (name.find('/') != std::string_view::npos)
        return is_program(name) ? std::filesystem::path(name) : std::filesystem::path();

    const char* const search = std::getenv("PATH");
    std::istringstream folders(search != nullptr ? search : "/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');)
    {
        if (const auto file = std::filesystem::path(folder) / name; is_program(file))
            return file;
    }
    return {};
}

std::string shell_word(std::string_view text)
{
    std::string word = "'";
    for (const char c : text)
    {
        if (c == '\'')
            word += "'\\''";
        else
            word += c;
    }
    return word + "'";
}

std::string read_file(const std::filesystem::path& file)
{
    std::ifstream input(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
}

void throw_errno(const char* what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace redlock::test
