#include "support/resp_client.hpp"

#include <array>
#include <cerrno>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <poll.h>
#include <sys/socket.h>

namespace redlock::test {

enum class resp_client::kind
{
    text,  ///< A simple or a bulk string.
    error,
    integer,
    nil,
    array,
};

struct resp_client::reply
{
    kind type;
    std::string text;
    std::vector<reply> elements;
};

namespace {

std::string encode(const std::vector<std::string>& arguments)
{
    std::string request = "*" + std::to_string(arguments.size()) + "\r\n";
    for (const std::string& argument : arguments)
        request += "$" + std::to_string(argument.size()) + "\r\n" + argument + "\r\n";
    return request;
}

}  // namespace

resp_client::resp_client(std::uint16_t port, std::chrono::milliseconds deadline)
    : socket_(connect_tcp(port)), deadline_(deadline)
{
    wait_ready(socket_.get(), POLLOUT, deadline_clock::now() + deadline_);

    int failure = 0;
    socklen_t size = sizeof failure;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &failure, &size);
    if (failure != 0)
        throw std::system_error(failure, std::generic_category(), "connect");
}

resp_client::resp_client(const std::filesystem::path& socket, std::chrono::milliseconds deadline)
    : socket_(connect_unix(socket)), deadline_(deadline)
{
}

std::string resp_client::command(const std::vector<std::string>& arguments)
{
    return render(call(arguments));
}

std::optional<std::string> resp_client::get(const std::string& key)
{
    const reply answer = call_or_throw({"GET", key});
    if (answer.type == kind::nil)
        return std::nullopt;
    return answer.text;
}

bool resp_client::exists(const std::string& key)
{
    return call_or_throw({"EXISTS", key}).text == "1";
}

long resp_client::pttl(const std::string& key)
{
    return std::stol(call_or_throw({"PTTL", key}).text);
}

resp_client::reply resp_client::call(const std::vector<std::string>& arguments)
{
    if (!socket_.is_open())
        throw std::system_error(ENOTCONN, std::generic_category(), "an earlier call failed");

    const deadline_point deadline = deadline_clock::now() + deadline_;
    try
    {
        write(encode(arguments), deadline);
        return read_reply(deadline);
    }
    catch (...)
    {
        socket_.reset();
        throw;
    }
}

resp_client::reply resp_client::call_or_throw(const std::vector<std::string>& arguments)
{
    reply answer = call(arguments);
    if (answer.type == kind::error)
        throw std::runtime_error(answer.text);
    return answer;
}

resp_client::reply resp_client::read_reply(deadline_point deadline)
{
    const std::string line = read_line(deadline);
    const char marker = line.empty() ? '\0' : line.front();
    const std::string rest = line.empty() ? line : line.substr(1);
    switch (marker)
    {
    case '+': return {kind::text, rest, {}};
    case '-': return {kind::error, rest, {}};
    case ':': return {kind::integer, rest, {}};
    case '$':
    {
        if (rest == "-1")
            return {kind::nil, {}, {}};
        std::string text = read_bytes(std::stoul(rest), deadline);
        read_bytes(2, deadline);
        return {kind::text, std::move(text), {}};
    }
    case '*':
    {
        if (rest == "-1")
            return {kind::nil, {}, {}};
        reply all{kind::array, {}, {}};
        for (std::size_t left = std::stoul(rest); left > 0; --left)
            all.elements.push_back(read_reply(deadline));
        return all;
    }
    default: throw std::runtime_error("not a RESP2 reply: " + line);
    }
}

std::string resp_client::read_line(deadline_point deadline)
{
    std::size_t end = received_.find("\r\n");
    while (end == std::string::npos)
    {
        read_some(deadline);
        end = received_.find("\r\n");
    }
    std::string line = received_.substr(0, end);
    received_.erase(0, end + 2);
    return line;
}

std::string resp_client::read_bytes(std::size_t count, deadline_point deadline)
{
    while (received_.size() < count)
        read_some(deadline);
    std::string bytes = received_.substr(0, count);
    received_.erase(0, count);
    return bytes;
}

void resp_client::read_some(deadline_point deadline)
{
    wait_ready(socket_.get(), POLLIN, deadline);

    std::array<char, 4096> chunk;
    const ssize_t count = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
    if (count == 0)
        throw std::system_error(ECONNRESET, std::generic_category(), "closed by the server");
    if (count > 0)
        received_.append(chunk.data(), static_cast<std::size_t>(count));
    else if (errno != EAGAIN && errno != EINTR)
        throw_errno("recv");
}

void resp_client::write(std::string_view bytes, deadline_point deadline)
{
    while (!bytes.empty())
    {
        wait_ready(socket_.get(), POLLOUT, deadline);

        const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count >= 0)
            bytes.remove_prefix(static_cast<std::size_t>(count));
        else if (errno != EAGAIN && errno != EINTR)
            throw_errno("send");
    }
}

std::string resp_client::render(const reply& from)
{
    switch (from.type)
    {
    case kind::text: return from.text;
    case kind::error: return "-" + from.text;
    case kind::integer: return "(integer) " + from.text;
    case kind::nil: return "(nil)";
    case kind::array: break;
    }
    if (from.elements.empty())
        return "(empty array)";

    std::string lines = render(from.elements.front());
    for (std::size_t i = 1; i < from.elements.size(); ++i)
        lines += "\n" + render(from.elements[i]);
    return lines;
}

bool is_refused(std::uint16_t port)
{
    try
    {
        const resp_client client(port);
        return false;
    }
    catch (const std::system_error& failure)
    {
        return failure.code() == std::errc::connection_refused;
    }
}

}  // namespace redlock::test
