#include "node/reply_reader.hpp"

#include <charconv>
#include <system_error>

namespace redlock::detail {

namespace redis = boost::redis;

std::optional<std::int64_t> read_number(std::string_view text)
{
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, number);
    if (failure != std::errc() || stop != end)
        return std::nullopt;
    return number;
}

void read_element(reply_shape& shape, const redis::resp3::node_view& node)
{
    const auto number = node.data_type == redis::resp3::type::number ? read_number(node.value)
                                                                     : std::nullopt;
    const bool fits =
        shape.what == reply_shape::kind::numbers && shape.count < reply_shape::max_numbers;
    if (number && fits)
        shape.numbers[shape.count++] = *number;
    else
        shape.what = reply_shape::kind::other;
}

void read_node(reply_shape& shape, const redis::resp3::node_view& node)
{
    using redis::resp3::type;

    switch (node.data_type)
    {
    case type::simple_error:
    case type::blob_error:
        shape.what = reply_shape::kind::error;
        shape.text.assign(node.value);
        break;
    case type::null: shape.what = reply_shape::kind::null; break;
    case type::simple_string:
        if (node.value == "OK")
            shape.what = reply_shape::kind::ok;
        break;
    case type::number:
        if (const auto number = read_number(node.value))
        {
            shape.what = reply_shape::kind::number;
            shape.number = *number;
        }
        break;
    case type::array:
        shape.what = reply_shape::kind::numbers;
        shape.count = 0;
        break;
    default: break;
    }
}

void texts::read(redis::any_adapter::parse_event event, const redis::resp3::node_view& part)
{
    using redis::resp3::type;

    if (event != redis::any_adapter::parse_event::node)
        return;
    const bool failed =
        part.data_type == type::simple_error || part.data_type == type::blob_error;
    if (failed && error.empty())
        error = part.value;
    if (!failed && !part.value.empty())
        all.emplace_back(part.value);
}

}  // namespace redlock::detail
