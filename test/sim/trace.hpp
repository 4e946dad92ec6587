#ifndef REDLOCK_TEST_SIM_TRACE_HPP
#define REDLOCK_TEST_SIM_TRACE_HPP

#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <type_traits>

#include "sim/schedule.hpp"

namespace redlock::sim {

/// In words, rounded up.
[[nodiscard]] std::string in_ms(nanoseconds duration);

/// What happened, as a number that two equal runs have in common, and in words if wanted.
class trace
{
public:
    /// @param words Where each event is told. Null: nowhere.
    explicit trace(const schedule& of, std::ostream* words = nullptr) : of_(of), words_(words) {}

    /// Notes an event: who did what, and details of it.
    template <class... Details>
    void note(std::string_view who, std::string_view what, const Details&... details)
    {
        count(who, what, details...);
        if (words_)
        {
            begin_line(who);
            *words_ << what;
            ((*words_ << ' ' << details), ...);
            *words_ << '\n';
        }
    }

    /// Notes an event, and does not tell it.
    template <class... Details>
    void count(std::string_view who, std::string_view what, const Details&... details)
    {
        add(of_.elapsed().count());
        add(who);
        add(what);
        (add(details), ...);
    }

    /// Tells an event that was counted, or need not be.
    void tell(std::string_view who, std::string_view words)
    {
        if (!words_)
            return;
        begin_line(who);
        *words_ << words << '\n';
    }

    [[nodiscard]] bool in_words() const noexcept { return words_; }
    [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }

private:
    void begin_line(std::string_view who);

    void add(std::string_view text) noexcept
    {
        for (const char each : text)
            hash_ = (hash_ ^ static_cast<unsigned char>(each)) * prime;
        hash_ = (hash_ ^ 0xff) * prime;
    }

    template <class Number>
        requires std::is_arithmetic_v<Number>
    void add(Number value) noexcept
    {
        hash_ = (hash_ ^ static_cast<std::uint64_t>(value)) * prime;
        hash_ ^= hash_ >> 29;
    }

    static constexpr std::uint64_t prime = 0x100000001b3;  // FNV-1a.

    const schedule& of_;
    std::ostream* words_;
    std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace redlock::sim

#endif
