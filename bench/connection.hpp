// A connection to a Redis server as plain as it can be: what the yardstick of limit.cpp works with.

#ifndef REDLOCK_BENCH_CONNECTION_HPP
#define REDLOCK_BENCH_CONNECTION_HPP

#include "posix.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <bit>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

inline constexpr std::size_t input_size = 65536;
inline constexpr std::size_t first_output_size = 1048576;
inline constexpr std::size_t first_queue_size = 16384;

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

// A command that a node has yet to answer. A task's step is even while it acquires and odd while
// it releases, and grows by one with each quorum, so that it also tells late replies from others.
struct ticket
{
    std::uint32_t task;
    std::uint32_t step;
    std::int64_t token{0};  // In guarded mode.
    bool alone{false};      // The same: in no list, so its answer is in none.
};

// First in, first out, in a ring whose size is a power of two.
class ticket_queue
{
public:
    void push(ticket added)
    {
        if (tail_ - head_ == slots_.size())
            grow();
        slots_[tail_++ & (slots_.size() - 1)] = added;
    }

    ticket pop()
    {
        assert(!empty());
        return slots_[head_++ & (slots_.size() - 1)];
    }

    [[nodiscard]] ticket front() const { return slots_[head_ & (slots_.size() - 1)]; }
    [[nodiscard]] bool empty() const { return head_ == tail_; }

private:
    void grow()
    {
        std::vector<ticket> larger(slots_.size() * 2);
        for (std::size_t index = head_; index != tail_; ++index)
            larger[index & (larger.size() - 1)] = slots_[index & (slots_.size() - 1)];
        slots_.swap(larger);
    }

    std::vector<ticket> slots_ = std::vector<ticket>(first_queue_size);
    std::size_t head_{0};
    std::size_t tail_{0};
};

static_assert(std::has_single_bit(first_queue_size));

// A connection, what is to be written to it, and what has been read from it.
class connection
{
public:
    explicit connection(std::uint16_t port)
        : socket_(connect_to(port)), output_(first_output_size), input_(input_size)
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

    ticket_queue unanswered;
    std::vector<ticket> acquisitions;  // To be put together, in guarded mode.
    std::vector<ticket> releases;      // The same.
    std::size_t list_left{0};          // Answers to come.
    std::size_t refusal_left{0};       // Numbers to come of one of them.
    bool awaits_room{false};  // The socket was full, and epoll tells when it is not.

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
