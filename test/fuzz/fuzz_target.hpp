#ifndef REDLOCK_TEST_FUZZ_FUZZ_TARGET_HPP
#define REDLOCK_TEST_FUZZ_FUZZ_TARGET_HPP

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

/// What libFuzzer calls, and driver.cpp where there is none.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace redlock::fuzz {

/// Ends the process if a claim does not hold: that is how a fuzzer learns of it.
inline void require(bool holds, const char* claim)
{
    if (holds)
        return;
    std::fprintf(stderr, "does not hold: %s\n", claim);
    std::abort();
}

[[nodiscard]] inline std::string_view as_text(const std::uint8_t* data, std::size_t size) noexcept
{
    return {reinterpret_cast<const char*>(data), size};
}

/// Whether a text may stand in a log: no line of its own, no control character.
[[nodiscard]] inline bool is_on_one_line(std::string_view text) noexcept
{
    return std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

/// Makes values of the bytes of a fuzzer. Used up, it gives zeros and empty texts.
class byte_source
{
public:
    explicit byte_source(std::string_view bytes) noexcept : left_(bytes) {}

    template <std::integral Number>
    [[nodiscard]] Number take() noexcept
    {
        std::uint64_t value = 0;
        for (const char each : take_bytes(sizeof(Number)))
            value = value << 8 | static_cast<unsigned char>(each);
        return static_cast<Number>(value);
    }

    [[nodiscard]] bool take_bool() noexcept { return (take<std::uint8_t>() & 1) != 0; }

    [[nodiscard]] std::size_t below(std::uint8_t end) noexcept
    {
        return take<std::uint8_t>() % end;
    }

    /// A text behind its length.
    [[nodiscard]] std::string take_text() { return std::string(take_bytes(take<std::uint8_t>())); }

private:
    std::string_view take_bytes(std::size_t count) noexcept
    {
        const std::string_view taken = left_.substr(0, count);
        left_.remove_prefix(taken.size());
        return taken;
    }

    std::string_view left_;
};

}  // namespace redlock::fuzz

#endif
