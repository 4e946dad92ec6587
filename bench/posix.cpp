#include "posix.hpp"

#include <cerrno>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace bench {
namespace {

constexpr timeval patience{.tv_sec = 5, .tv_usec = 0};

sockaddr_in loopback(std::uint16_t port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

unique_fd open_socket()
{
    return unique_fd(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
}

template <class Value>
void set_option(const unique_fd& socket, int level, int name, const Value& value)
{
    checked(::setsockopt(socket.get(), level, name, &value, sizeof value), "setsockopt");
}

}  // namespace

void throw_errno(const char* call)
{
    throw std::system_error(errno, std::generic_category(), call);
}

unique_fd::~unique_fd()
{
    if (fd_ >= 0)
        ::close(fd_);
}

unique_fd connect_to(std::uint16_t port)
{
    unique_fd socket = open_socket();
    set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(socket, SOL_SOCKET, SO_RCVTIMEO, patience);
    set_option(socket, SOL_SOCKET, SO_SNDTIMEO, patience);

    const sockaddr_in address = loopback(port);
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
    checked(::connect(socket.get(), generic, sizeof address), "connect");
    return socket;
}

}  // namespace bench
