#ifndef REDLOCK_SRC_WIRE_REQUEST_HPP
#define REDLOCK_SRC_WIRE_REQUEST_HPP

#include <redlock/time.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

/// An argument that is the same in every command. Encoded at compile time, because building it from
/// length and text costs ten times as much as copying it.
struct encoded_argument
{
    std::string_view wire;
};

/// Commands as a server reads them: each an array of strings.
class request
{
public:
    /// Adds a command. Its arguments are texts, whole numbers, durations in milliseconds, and
    /// encoded arguments.
    template <class... Arguments>
    void push(const Arguments&... arguments)
    {
        begin(sizeof...(arguments));
        (add(arguments), ...);
    }

    /// Begins a command. This many calls of `add` must follow.
    void begin(std::size_t arguments);

    void add(std::string_view text);

    /// Adds an argument that consists of these parts.
    void add_joined(std::initializer_list<std::string_view> parts);
    void add(encoded_argument argument) { payload_.append(argument.wire); }
    void add(std::integral auto number) { add_number(static_cast<std::int64_t>(number)); }
    void add(std::uint64_t number);
    void add(milliseconds count) { add_number(count.count()); }

    /// Leaves room for an argument that differs between nodes.
    void add_gap() { gaps_.push_back(payload_.size()); }

    /// Adds the commands of another request, with `filling` as the argument of each of its gaps.
    void append(const request& other, std::string_view filling = {});

    [[nodiscard]] std::string_view payload() const noexcept { return payload_; }

    /// Number of commands, and so of replies to come.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Forgets the commands and keeps the memory.
    void clear() noexcept;

private:
    void add_number(std::int64_t number);
    void add_line(char type, std::size_t size);

    std::string payload_;
    std::size_t size_ = 0;
    std::vector<std::size_t> gaps_;  ///< Positions in the payload, in ascending order.
};

}  // namespace redlock::detail

#endif
