#include "wire/resp_reader.hpp"

#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>

namespace redlock::detail::resp {

namespace {

constexpr std::string_view line_end = "\r\n";

std::optional<type> type_of(char first) noexcept
{
    switch (first)
    {
    case '+': return type::simple_string;
    case '-': return type::simple_error;
    case ':': return type::number;
    case '$': return type::blob_string;
    case '*': return type::array;
    case '_': return type::null;
    case '#': return type::boolean;
    case ',': return type::double_number;
    case '(': return type::big_number;
    case '!': return type::blob_error;
    case '=': return type::verbatim_string;
    case '%': return type::map;
    case '~': return type::set;
    case '|': return type::attribute;
    case '>': return type::push;
    default: return std::nullopt;
    }
}

/// Chunks and ends of streamed values.
constexpr bool is_of_stream(char first) noexcept
{
    return first == ';' || first == '.';
}

/// Whether the text is one or more digits.
bool is_digits(std::string_view text) noexcept
{
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// Removes a leading character that is one of `any_of`.
void skip_one(std::string_view& text, std::string_view any_of) noexcept
{
    if (!text.empty() && any_of.find(text.front()) != any_of.npos)
        text.remove_prefix(1);
}

/// Removes the leading digits. @return How many there were.
std::size_t skip_digits(std::string_view& text) noexcept
{
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
}

/// A length or size, which may exceed every number. Empty if it isn't one, or is negative.
std::optional<std::size_t> to_size(std::string_view text) noexcept
{
    std::size_t size = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, size);
    if (failure == std::errc::invalid_argument || stop != end)
        return std::nullopt;
    if (failure == std::errc::result_out_of_range)
        return std::numeric_limits<std::size_t>::max();
    return size;
}

bool is_negative(std::string_view text) noexcept
{
    return text.starts_with('-') && is_digits(text.substr(1));
}

/// @return Whether it is one that fits.
bool read_number(std::string_view text, std::int64_t& to) noexcept
{
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, to);
    return failure == std::errc() && stop == end;
}

bool is_double(std::string_view text) noexcept
{
    skip_one(text, "+-");
    if (text == "inf" || text == "nan")
        return true;
    std::size_t digits = skip_digits(text);
    if (text.starts_with('.'))
    {
        text.remove_prefix(1);
        digits += skip_digits(text);
    }
    if (digits == 0)
        return false;
    if (text.empty())
        return true;
    if (text.front() != 'e' && text.front() != 'E')
        return false;
    text.remove_prefix(1);
    skip_one(text, "+-");
    return is_digits(text);
}

bool is_big_number(std::string_view text) noexcept
{
    skip_one(text, "+-");
    return is_digits(text);
}

constexpr bool is_pairs(type kind) noexcept
{
    return kind == type::map || kind == type::attribute;
}

}  // namespace

std::optional<part> reader::next(std::string_view& input)
{
    while (!error_)
    {
        part taken;
        if (!(in_string_ ? take_string(input, taken) : take_line(input, taken)))
            break;
        if (place(taken))
            return taken;
    }
    return std::nullopt;
}

bool reader::take_line(std::string_view& input, part& to)
{
    if (input.empty())
        return false;
    const std::optional<type> kind = type_of(input.front());
    if (!kind)
        return fail(is_of_stream(input.front()) ? error::streamed : error::unknown_type);

    constexpr std::size_t max_window = 1 + max_line + line_end.size();
    const std::string_view window = input.substr(0, max_window);
    const std::size_t end = window.find('\n', searched_);
    if (end == window.npos)
    {
        searched_ = window.size();
        return window.size() < max_window ? false : fail(error::line_too_long);
    }
    const std::string_view line = window.substr(1, end - 1);
    // A CR elsewhere in the line is as wrong as a missing one at its end.
    if (line.find('\r') + 1 != line.size() || line.empty())
        return fail(error::bad_line_end);
    if (!consume(input, end + 1))
        return false;
    searched_ = 0;
    to.kind = *kind;
    return read_line(line.substr(0, line.size() - 1), to) &&
           (!in_string_ || take_string(input, to));
}

bool reader::read_line(std::string_view line, part& to)
{
    to.value = line;
    switch (to.kind)
    {
    case type::simple_string:
    case type::simple_error: return true;
    case type::number:
        // std::from_chars, which users of the value are likely to call, doesn't take a plus sign.
        if (line.starts_with('+') && is_digits(line.substr(1)))
            to.value.remove_prefix(1);
        return read_number(to.value, to.number) || fail(error::bad_number);
    case type::null: return line.empty() || fail(error::bad_null);
    case type::boolean: return line == "t" || line == "f" || fail(error::bad_boolean);
    case type::double_number: return is_double(line) || fail(error::bad_double);
    case type::big_number: return is_big_number(line) || fail(error::bad_big_number);
    case type::blob_string:
    case type::blob_error:
    case type::verbatim_string: return read_length(line, to);
    case type::array:
    case type::map:
    case type::set:
    case type::attribute:
    case type::push: return read_size(line, to);
    }
    return fail(error::unknown_type);
}

bool reader::read_length(std::string_view line, part& to)
{
    to.value = {};
    if (to.kind == type::blob_string && line == "-1")
    {
        to.kind = type::null;
        return true;
    }
    if (line == "?")
        return fail(error::streamed);
    const std::optional<std::size_t> length = to_size(line);
    if (!length)
        return fail(is_negative(line) ? error::negative_length : error::bad_length);
    if (*length > max_string)
        return fail(error::string_too_long);
    in_string_ = true;
    string_kind_ = to.kind;
    string_size_ = *length;
    return true;
}

bool reader::take_string(std::string_view& input, part& to)
{
    const std::size_t framed = string_size_ + line_end.size();
    if (input.size() < framed)
        return false;
    if (input.substr(string_size_, line_end.size()) != line_end)
        return fail(error::bad_string_end);
    to.kind = string_kind_;
    to.value = input.substr(0, string_size_);
    if (to.kind == type::verbatim_string)
    {
        constexpr std::size_t colon = 3;  // The format has three letters.
        if (to.value.size() <= colon || to.value[colon] != ':')
            return fail(error::bad_verbatim_string);
        to.value.remove_prefix(colon + 1);
    }
    in_string_ = false;
    return consume(input, framed);
}

bool reader::read_size(std::string_view line, part& to)
{
    to.value = {};
    if (to.kind == type::array && line == "-1")
    {
        to.kind = type::null;
        return true;
    }
    if (line == "?")
        return fail(error::streamed);
    const std::optional<std::size_t> size = to_size(line);
    if (!size)
        return fail(is_negative(line) ? error::negative_size : error::bad_size);
    const std::size_t each = is_pairs(to.kind) ? 2 : 1;
    if (*size > max_elements / each)
        return fail(error::too_many_elements);
    to.size = *size * each;
    return true;
}

bool reader::place(part& taken)
{
    const bool attribute = taken.kind == type::attribute;
    if (taken.kind == type::push && depth_ > 0)
        return fail(error::nested_push);
    if (is_aggregate(taken.kind) && depth_ == max_depth)
        return fail(error::too_deep);

    pushed_ |= taken.kind == type::push;
    taken.pushed = pushed_;
    taken.depth = depth_;
    const bool hidden = attribute || depth_ > hidden_above_;
    if (attribute)
        hidden_above_ = std::min(hidden_above_, depth_);
    else
        --left_[depth_];  // An attribute isn't an element: the one that it belongs to follows.
    if (is_aggregate(taken.kind))
        left_[++depth_] = taken.size;
    while (depth_ > 0 && left_[depth_] == 0)
        --depth_;
    if (depth_ <= hidden_above_)
        hidden_above_ = max_depth;
    taken.last = left_[0] == 0 && depth_ == 0;
    if (taken.last)
        begin_reply();
    return !hidden;
}

void reader::begin_reply() noexcept
{
    reply_size_ = 0;
    pushed_ = false;
    left_[0] = 1;
}

bool reader::consume(std::string_view& input, std::size_t size) noexcept
{
    if (size > max_reply - reply_size_)
        return fail(error::reply_too_long);
    reply_size_ += size;
    input.remove_prefix(size);
    return true;
}

bool reader::fail(resp::error why) noexcept
{
    error_ = why;
    return false;
}

}  // namespace redlock::detail::resp
