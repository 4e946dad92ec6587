#ifndef REDLOCK_TEST_SUPPORT_RESP_MODEL_HPP
#define REDLOCK_TEST_SUPPORT_RESP_MODEL_HPP

#include "wire/resp.hpp"

#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/resp_reading.hpp"

namespace redlock::test {

/// A value that a server may send, as a tree.
struct resp_value
{
    detail::resp::type kind = detail::resp::type::null;
    std::string wire;  ///< A scalar with what frames it; the first character of an aggregate.
    std::string text;  ///< What a reader makes of a scalar.
    std::vector<resp_value> elements;
    std::vector<resp_value> attributes;  ///< Keys and values.
};

/// Makes random values of every type.
class resp_model
{
public:
    explicit resp_model(std::uint64_t seed) : random_(seed) {}

    /// A reply, or now and then a push.
    [[nodiscard]] resp_value draw_reply()
    {
        using enum detail::resp::type;

        resp_value drawn = draw(0);
        if (below(4) == 0)
        {
            resp_value pushed{push, ">", {}, {}, {}};
            pushed.elements.push_back(scalar(simple_string, "message"));
            pushed.elements.push_back(std::move(drawn));
            return pushed;
        }
        return drawn;
    }

    [[nodiscard]] std::size_t below(std::size_t end)
    {
        return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
    }

private:
    using type = detail::resp::type;

    [[nodiscard]] resp_value draw(std::size_t depth)
    {
        constexpr std::size_t scalars = 10;
        constexpr std::size_t aggregates = 3;
        constexpr std::size_t deepest = 4;

        const std::size_t drawn = below(scalars + (depth < deepest ? aggregates : 0));
        resp_value made =
            drawn < scalars ? draw_scalar(drawn) : draw_aggregate(drawn - scalars, depth);
        if (depth < deepest && below(8) == 0)
            made.attributes = draw_elements(2 * (1 + below(2)), depth + 1);
        return made;
    }

    [[nodiscard]] resp_value draw_scalar(std::size_t which)
    {
        switch (which)
        {
        case 0: return scalar(type::simple_string, draw_line());
        case 1: return scalar(type::simple_error, "ERR " + draw_line());
        case 2: return draw_number();
        case 3: return blob(type::blob_string, '$', draw_bytes());
        case 4: return draw_null();
        case 5: return below(2) == 0 ? scalar(type::boolean, "t") : scalar(type::boolean, "f");
        case 6: return draw_double();
        case 7: return scalar(type::big_number, "-3492890328409238509324850943850943825024385");
        case 8: return blob(type::blob_error, '!', "ERR " + draw_bytes());
        default: break;
        }
        resp_value made = blob(type::verbatim_string, '=', "txt:" + draw_bytes());
        made.text.erase(0, 4);
        return made;
    }

    [[nodiscard]] resp_value draw_aggregate(std::size_t which, std::size_t depth)
    {
        constexpr std::array kinds{type::array, type::set, type::map};
        constexpr std::string_view first = "*~%";

        const type kind = kinds.at(which);
        const std::size_t each = kind == type::map ? 2 : 1;
        resp_value made{kind, {first[which]}, {}, {}, {}};
        made.elements = draw_elements(each * below(4), depth + 1);
        return made;
    }

    [[nodiscard]] std::vector<resp_value> draw_elements(std::size_t count, std::size_t depth)
    {
        std::vector<resp_value> drawn;
        for (std::size_t i = 0; i < count; ++i)
            drawn.push_back(draw(depth));
        return drawn;
    }

    [[nodiscard]] resp_value draw_number()
    {
        constexpr std::array texts{
            "0", "1", "-1", "10000", "9223372036854775807", "-9223372036854775808"
        };
        resp_value made = scalar(type::number, texts.at(below(texts.size())));
        if (made.text.front() != '-' && below(4) == 0)
            made.wire.insert(1, "+");
        return made;
    }

    [[nodiscard]] resp_value draw_double()
    {
        constexpr std::array texts{"0", "-1.5", "3.", ".5", "1e9", "2.5E-10", "inf", "-inf", "nan"};
        return scalar(type::double_number, texts.at(below(texts.size())));
    }

    [[nodiscard]] resp_value draw_null()
    {
        constexpr std::array wires{"_\r\n", "$-1\r\n", "*-1\r\n"};
        return {type::null, wires.at(below(wires.size())), {}, {}, {}};
    }

    [[nodiscard]] std::string draw_line()
    {
        std::string drawn;
        for (std::size_t left = below(20); left > 0; --left)
            drawn += static_cast<char>(' ' + below(95));
        return drawn;
    }

    /// Mostly what frames other values.
    [[nodiscard]] std::string draw_bytes()
    {
        constexpr std::string_view likely = "\r\n\r\n$*:+-_>|%0123";
        std::string drawn;
        for (std::size_t left = below(20); left > 0; --left)
            drawn += below(4) == 0 ? static_cast<char>(below(256)) : likely[below(likely.size())];
        return drawn;
    }

    [[nodiscard]] static resp_value scalar(type kind, std::string text)
    {
        constexpr std::string_view first = "+-:$*_#,(!=%~|>";
        resp_value made{kind, {first[static_cast<std::size_t>(kind)]}, std::move(text), {}, {}};
        made.wire += made.text + "\r\n";
        return made;
    }

    [[nodiscard]] static resp_value blob(type kind, char first, std::string text)
    {
        resp_value made{kind, {first}, std::move(text), {}, {}};
        made.wire += std::to_string(made.text.size()) + "\r\n" + made.text + "\r\n";
        return made;
    }

    std::mt19937_64 random_;
};

/// The bytes of a value.
inline void encode(const resp_value& value, std::string& to)
{
    using enum detail::resp::type;

    if (!value.attributes.empty())
        to += "|" + std::to_string(value.attributes.size() / 2) + "\r\n";
    for (const resp_value& each : value.attributes)
        encode(each, to);
    to += value.wire;
    if (!is_aggregate(value.kind))
        return;
    to += std::to_string(value.elements.size() / (value.kind == map ? 2 : 1)) + "\r\n";
    for (const resp_value& each : value.elements)
        encode(each, to);
}

/// What a reader makes of a reply. Attributes are left out.
inline void add_parts(const resp_value& value, std::size_t depth, std::vector<read_part>& to)
{
    read_part head{{}, value.text};
    head.what.kind = value.kind;
    head.what.size = value.elements.size();
    head.what.depth = depth;
    if (value.kind == detail::resp::type::number)
        head.what.number = std::stoll(value.text);
    to.push_back(head);
    for (const resp_value& each : value.elements)
        add_parts(each, depth + 1, to);
    if (depth > 0)
        return;
    to.back().what.last = true;
    if (value.kind != detail::resp::type::push)
        return;
    for (std::size_t at = to.size(); at-- > 0;)
    {
        to[at].what.pushed = true;
        if (to[at].what.depth == 0)
            break;
    }
}

/// A stream of replies and pushes, and what a reader makes of it.
struct resp_stream
{
    std::string bytes;
    std::vector<read_part> parts;
};

[[nodiscard]] inline resp_stream draw_stream(resp_model& model, std::size_t replies)
{
    resp_stream drawn;
    for (std::size_t i = 0; i < replies; ++i)
    {
        const resp_value value = model.draw_reply();
        encode(value, drawn.bytes);
        add_parts(value, 0, drawn.parts);
    }
    return drawn;
}

}  // namespace redlock::test

#endif
