// A connection to a Redis server as plain as it can be: what the yardsticks work with.

#ifndef REDLOCK_BENCH_CONNECTION_HPP
#define REDLOCK_BENCH_CONNECTION_HPP

#include "posix.hpp"

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>

namespace bench {

// A reply at the front of the input. The size is zero while the reply is incomplete.
struct reply
{
    std::size_t size{0};
    char type{0};
    std::string_view text{};
};

inline reply parse_bulk(std::string_view input, std::string_view header, std::size_t header_size)
{
    int text_size = 0;
    const char* const header_end = header.data() + header.size();
    if (std::from_chars(header.data(), header_end, text_size).ec != std::errc())
        throw std::runtime_error("a bulk reply without a size");
    if (text_size < 0)
        return {.size = header_size, .type = '_', .text = {}};

    const auto payload_size = static_cast<std::size_t>(text_size);
    const std::size_t size = header_size + payload_size + 2;
    if (input.size() < size)
        return {};
    return {.size = size, .type = '$', .text = input.substr(header_size, payload_size)};
}

inline reply parse(std::string_view input);

// An aggregate has a size and a type, and no text: pushes and maps are told by their type alone.
inline reply parse_aggregate(std::string_view input, std::string_view header)
{
    std::size_t count = 0;
    if (std::from_chars(header.data(), header.data() + header.size(), count).ec != std::errc())
        throw std::runtime_error("an aggregate without a size");
    if (input.front() == '%')
        count *= 2;
    std::size_t size = 1 + header.size() + 2;
    for (std::size_t part = 0; part < count; ++part)
    {
        const reply each = size < input.size() ? parse(input.substr(size)) : reply{};
        if (each.size == 0)
            return {};
        size += each.size;
    }
    return {.size = size, .type = input.front(), .text = {}};
}

inline reply parse(std::string_view input)
{
    const std::size_t line_end = input.find("\r\n");
    if (line_end == input.npos)
        return {};

    const std::string_view line = input.substr(1, line_end - 1);
    switch (input.front())
    {
    case '+':
    case '-':
    case ':':
    case '_': return {.size = line_end + 2, .type = input.front(), .text = line};
    case '$': return parse_bulk(input, line, line_end + 2);
    case '*':
    case '%':
    case '>': return parse_aggregate(input, line);
    default: throw std::runtime_error("a reply of an unexpected type");
    }
}

inline void append_argument(std::string& command, std::string_view argument)
{
    command += '$';
    command += std::to_string(argument.size());
    command += "\r\n";
    command += argument;
    command += "\r\n";
}

inline std::string make_command(std::initializer_list<std::string_view> arguments)
{
    std::string command = "*";
    command += std::to_string(arguments.size());
    command += "\r\n";
    for (const std::string_view argument : arguments)
        append_argument(command, argument);
    return command;
}

// Bytes that a connection sets aside. The output grows, a reply has to fit into the input.
struct buffer_sizes
{
    std::size_t output;
    std::size_t input;
};

// A connection, what is to be written to it, and what has been read from it.
class connection
{
public:
    connection(std::uint16_t port, const buffer_sizes& sizes)
        : socket_(connect_to(port)), output_(sizes.output), input_(sizes.input)
    {
    }

    [[nodiscard]] int fd() const { return socket_.get(); }

    void append(std::string_view command)
    {
        if (output_end_ + command.size() > output_.size())
            make_room();
        std::memcpy(output_.data() + output_end_, command.data(), command.size());
        output_end_ += command.size();
    }

    // Writes once. What does not fit into the socket stays.
    void flush()
    {
        const std::size_t pending = output_end_ - output_begin_;
        const char* const begin = output_.data() + output_begin_;
        const ssize_t written = ::send(fd(), begin, pending, MSG_NOSIGNAL);
        if (written < 0 && errno != EAGAIN)
            throw_errno("send");
        if (written > 0)
            output_begin_ += static_cast<std::size_t>(written);
        if (output_begin_ == output_end_)
            output_begin_ = output_end_ = 0;
    }

    [[nodiscard]] bool has_output() const { return output_end_ != 0; }

    // Reads once, and returns everything that has not been consumed.
    std::string_view receive()
    {
        char* const begin = input_.data() + input_end_;
        const ssize_t received = ::recv(fd(), begin, input_.size() - input_end_, 0);
        if (received == 0)
            throw std::runtime_error("a node closed the connection");
        if (received < 0 && errno != EAGAIN)
            throw_errno("recv");
        if (received > 0)
            input_end_ += static_cast<std::size_t>(received);
        return {input_.data(), input_end_};
    }

    void consume(std::size_t size)
    {
        input_end_ -= size;
        if (input_end_ != 0)
            std::memmove(input_.data(), input_.data() + size, input_end_);
    }

    void set_blocking() { set_flags(0); }
    void set_non_blocking() { set_flags(O_NONBLOCK); }

    // Sends a command and waits for its reply. For use while the socket blocks.
    std::string call(std::string_view command)
    {
        append(command);
        flush();
        if (has_output())
            throw std::runtime_error("a node does not read");
        for (;;)  // Each turn reads at least a byte or throws when the socket's limit is over.
        {
            const std::string_view input = receive();
            if (input.empty())
                throw std::runtime_error("a node does not answer");
            const reply answer = parse(input);
            if (answer.size == 0)
                continue;
            std::string text(answer.text);
            if (answer.type == '-')
                throw std::runtime_error("a node refused a command: " + text);
            consume(answer.size);
            return text;
        }
    }

private:
    void make_room()
    {
        const std::size_t pending = output_end_ - output_begin_;
        std::memmove(output_.data(), output_.data() + output_begin_, pending);
        output_begin_ = 0;
        output_end_ = pending;
        output_.resize(output_.size() * 2);
    }

    void set_flags(int flags) { checked(::fcntl(fd(), F_SETFL, flags), "fcntl"); }

    unique_fd socket_;
    std::vector<char> output_;
    std::size_t output_begin_{0};
    std::size_t output_end_{0};
    std::vector<char> input_;
    std::size_t input_end_{0};
};

}  // namespace bench

#endif
