#include "core/hold_value.hpp"

#include "core/token_clock.hpp"

#include <charconv>
#include <optional>
#include <system_error>

namespace redlock::core {

namespace {

/// Replaces the id of a kept resource. See guarded_keep.lua.
constexpr std::string_view kept_id = "kept";

/// Takes the first word from a text, with the blank after it. Empty if there is no blank.
std::optional<std::string_view> take_word(std::string_view& from)
{
    const std::size_t end = from.find(' ');
    if (end == std::string_view::npos)
        return std::nullopt;
    const std::string_view word = from.substr(0, end);
    from.remove_prefix(end + 1);
    return word;
}

std::optional<std::uint64_t> take_number(std::string_view& from)
{
    const auto word = take_word(from);
    std::uint64_t number = 0;
    if (!word)
        return std::nullopt;
    const auto [stop, failure] = std::from_chars(word->data(), word->data() + word->size(), number);
    const bool whole = failure == std::errc() && stop == word->data() + word->size();
    return whole && number < token_end ? std::optional(number) : std::nullopt;
}

}  // namespace

hold_value read_hold_value(std::string_view text)
{
    const hold_value alone{text};
    std::string_view rest = text;
    const auto id = take_word(rest);
    const auto token = take_number(rest);
    const auto client = take_word(rest);
    const auto flags = take_word(rest);
    const auto stamp = take_number(rest);
    if (!id || !token || *token == 0 || !client || !flags || !stamp || rest.size() > note::max_size)
        return alone;
    hold_value read;
    read.kept = *id == kept_id;
    read.id = read.kept ? text.substr(0, text.find(' ', id->size() + 1)) : *id;
    read.token = fencing_token::from_value(*token);
    read.client = *client;
    read.revoked = *flags == "1";
    read.stamp = *stamp;
    read.note = note(rest);
    return read;
}

}  // namespace redlock::core
