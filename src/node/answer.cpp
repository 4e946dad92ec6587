#include "node/answer.hpp"

#include "core/one_line.hpp"

#include <charconv>
#include <system_error>

namespace redlock::detail {

namespace {

/// Takes a number or a text. @return False if it is neither, or too long.
bool read_value(answer::element& to, const resp::part& part)
{
    if (part.kind == resp::type::number)
    {
        to = part.number;
        return true;
    }
    const bool fits = part.kind == resp::type::blob_string && part.value.size() <= answer::max_text;
    if (fits)
        to = std::string(part.value);
    return fits;
}

}  // namespace

std::optional<std::int64_t> answer::number(std::size_t at) const noexcept
{
    const auto* const found = at < count ? std::get_if<std::int64_t>(&elements[at]) : nullptr;
    return found ? std::optional(*found) : std::nullopt;
}

std::optional<std::string_view> answer::text(std::size_t at) const noexcept
{
    const auto* const found = at < count ? std::get_if<std::string>(&elements[at]) : nullptr;
    return found ? std::optional<std::string_view>(*found) : std::nullopt;
}

bool answer::is_error(std::string_view code) const noexcept
{
    return what == answer::kind::error && text().value_or("").starts_with(code);
}

void answer_reader::read_head(const resp::part& part)
{
    answer_.what = answer::kind::other;
    answer_.count = 0;
    answer_.of_all = !begun_;
    if (resp::is_error(part.kind))
    {
        answer_.what = answer::kind::error;
        answer_.elements[answer_.count++] = core::kept_error(part.value);
    }
    else if (!begun_)
        return;  // In place of a list, only an error has a meaning.
    else if (part.kind == resp::type::null)
        answer_.what = answer::kind::null;
    else if (part.kind == resp::type::array)
        answer_.what = answer::kind::list;
    else if (part.kind == resp::type::simple_string && part.value == "OK")
        answer_.what = answer::kind::ok;
    else if (read_value(answer_.elements.front(), part))
    {
        answer_.what = answer::kind::scalar;
        answer_.count = 1;
    }
}

void answer_reader::read_element(const resp::part& part)
{
    const bool fits = answer_.what == answer::kind::list && answer_.count < answer::max_elements;
    if (fits && read_value(answer_.elements[answer_.count], part))
        ++answer_.count;
    else
        answer_.what = answer::kind::other;
}

std::optional<std::int64_t> read_number(std::string_view text)
{
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, number);
    if (failure != std::errc() || stop != end)
        return std::nullopt;
    return number;
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
