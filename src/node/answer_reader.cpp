#include "node/answer_reader.hpp"

#include "core/one_line.hpp"

#include <charconv>
#include <system_error>

namespace redlock::detail {

std::optional<std::int64_t> read_number(std::string_view text)
{
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, number);
    if (failure != std::errc() || stop != end)
        return std::nullopt;
    return number;
}

void read_element(reply_shape& shape, const resp::part& part)
{
    const auto number = part.kind == resp::type::number ? read_number(part.value) : std::nullopt;
    const bool fits =
        shape.what == reply_shape::kind::numbers && shape.count < reply_shape::max_numbers;
    if (number && fits)
        shape.numbers[shape.count++] = *number;
    else
        shape.what = reply_shape::kind::other;
}

void read_head(reply_shape& shape, const resp::part& part)
{
    using resp::type;

    switch (part.kind)
    {
    case type::simple_error:
    case type::blob_error:
        shape.what = reply_shape::kind::error;
        shape.text = core::kept_error(part.value);
        break;
    case type::null: shape.what = reply_shape::kind::null; break;
    case type::simple_string:
        if (part.value == "OK")
            shape.what = reply_shape::kind::ok;
        break;
    case type::number:
        if (const auto number = read_number(part.value))
        {
            shape.what = reply_shape::kind::number;
            shape.number = *number;
        }
        break;
    case type::array:
        shape.what = reply_shape::kind::numbers;
        shape.count = 0;
        break;
    case type::blob_string:
    case type::boolean:
    case type::double_number:
    case type::big_number:
    case type::verbatim_string:
    case type::map:
    case type::set:
    case type::attribute:
    case type::push: break;
    }
}

void texts::read(const resp::part& part)
{
    const bool failed = resp::is_error(part.kind);
    if (failed && error.empty())
        error = core::kept_error(part.value);
    if (failed || part.value.empty() || size >= max_texts)
        return;
    all.emplace_back(part.value);
    size += sizeof(std::string) + part.value.size();
}

}  // namespace redlock::detail
