// Any bytes, as a server may send them: the reader gives the same parts and the same error however
// they are split, and its parts are those of well-formed replies.

#include "fuzz/fuzz_target.hpp"
#include "wire/resp_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/resp_reading.hpp"

namespace resp = redlock::detail::resp;
using redlock::fuzz::require;
using redlock::test::read_part;
using redlock::test::reading;
using resp::type;

namespace {

/// Replaces 0xff and another byte by that many times 512 letters, up to twice the longest line. So
/// small inputs reach that limit. The limit of a whole reply is left to the unit tests, for it
/// would make each input slow.
std::string expanded(std::string_view input)
{
    std::size_t left = 2 * resp::max_line;
    std::string made;
    for (std::size_t at = 0; at < input.size(); ++at)
    {
        if (input[at] != '\xff' || at + 1 == input.size())
        {
            made += input[at];
            continue;
        }
        const std::size_t wanted = 512U * static_cast<unsigned char>(input[++at]);
        const std::size_t given = std::min(wanted, left);
        made.append(given, 'x');
        left -= given;
    }
    return made;
}

/// Bytes that are read as this part. Of an attribute there is none.
void encode(const read_part& part, std::string& to)
{
    constexpr std::string_view first = "+-:$*_#,(!=%~|>";

    const type kind = part.what.kind;
    to += first[static_cast<std::size_t>(kind)];
    if (resp::is_aggregate(kind))
        to += std::to_string(part.what.size / (kind == type::map ? 2 : 1));
    else if (kind == type::blob_string || kind == type::blob_error)
        to += std::to_string(part.value.size()) + "\r\n" + part.value;
    else if (kind == type::verbatim_string)
        to += std::to_string(part.value.size() + 4) + "\r\ntxt:" + part.value;
    else
        to += part.value;
    to += "\r\n";
}

void check_same(const reading& told, const reading& whole)
{
    require(told.parts == whole.parts, "any split gives the same parts");
    require(told.error == whole.error, "any split gives the same error");
    require(told == whole, "any split leaves the same");
}

void check_splits(std::string_view bytes, const reading& whole)
{
    std::minstd_rand random(static_cast<unsigned>(std::hash<std::string_view>()(bytes)));
    for (const std::size_t reads : {2U, 5U, 20U})
    {
        if (reads > 2 && bytes.size() > 4096)
            break;
        const std::size_t most = 1 + 2 * bytes.size() / reads;
        const auto size = [&random, most] { return 1 + random() % most; };
        check_same(redlock::test::read_in_pieces(bytes, size), whole);
    }
    if (bytes.size() <= 256)
        check_same(redlock::test::read_in_pieces(bytes, [] { return 1U; }), whole);
}

/// Walks through the parts with a stack of what is still to come.
void check_order(const std::vector<read_part>& parts)
{
    std::vector<std::size_t> left;
    bool pushed = false;
    for (const read_part& part : parts)
    {
        require(part.what.depth == left.size(), "the depth is that of the aggregates around");
        require(left.size() <= resp::max_depth, "no deeper than the limit");
        require(part.what.size <= resp::max_elements, "no more elements than the limit");
        require(part.value.size() <= resp::max_string, "no text longer than the limit");
        require(part.what.kind != type::attribute, "attributes are left out");
        const std::int64_t number = part.what.kind == type::number ? std::stoll(part.value) : 0;
        require(part.what.number == number, "a number is what its digits say");
        if (left.empty())
            pushed = part.what.kind == type::push;
        else
            require(part.what.kind != type::push, "a push is within nothing");
        require(part.what.pushed == pushed, "all parts of a push are marked, and no others");
        if (!left.empty())
            --left.back();
        if (resp::is_aggregate(part.what.kind))
            left.push_back(part.what.size);
        else
            require(part.what.size == 0, "a scalar has no elements");
        while (!left.empty() && left.back() == 0)
            left.pop_back();
        require(part.what.last == left.empty(), "the last part is marked");
    }
}

void check_again(const reading& whole)
{
    std::string bytes;
    for (const read_part& part : whole.parts)
        encode(part, bytes);
    const reading again = redlock::test::read_whole(bytes);
    require(!again.error, "what was read can be read again");
    require(again.parts == whole.parts, "what is read again is the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string bytes = expanded(redlock::fuzz::as_text(data, size));
    const reading whole = redlock::test::read_whole(bytes);
    require(whole.kept <= resp::reader::max_kept, "no more is kept than is said");
    require(!whole.error || !whole.error.message().empty(), "an error says what is wrong");
    check_order(whole.parts);
    check_splits(bytes, whole);
    check_again(whole);
    return 0;
}
