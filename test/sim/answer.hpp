#ifndef REDLOCK_TEST_SIM_ANSWER_HPP
#define REDLOCK_TEST_SIM_ANSWER_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::sim {

/// What a server replies to one command.
struct answer
{
    enum class kind : std::uint8_t
    {
        status,
        error,
        integer,
        bulk,
        null,
        array,
        pushed,    ///< A reply to nothing. RESP3 only.
        map,       ///< An array in RESP2.
        real,      ///< A number with its text. A bulk in RESP2.
        verbatim,  ///< A bulk in RESP2.
    };

    kind what = kind::null;
    std::string text{};
    std::int64_t number = 0;
    std::vector<answer> elements{};

    [[nodiscard]] bool is_error() const noexcept { return what == kind::error; }

    static answer ok() { return status("OK"); }
    static answer null() { return {}; }
    static answer status(std::string text) { return {kind::status, std::move(text), 0, {}}; }
    /// @param text Begins with the code, without the minus sign.
    static answer error(std::string text) { return {kind::error, std::move(text), 0, {}}; }
    static answer integer(std::int64_t value) { return {kind::integer, {}, value, {}}; }
    static answer bulk(std::string text) { return {kind::bulk, std::move(text), 0, {}}; }
    static answer array(std::vector<answer> of) { return {kind::array, {}, 0, std::move(of)}; }
    static answer push(std::vector<answer> of) { return {kind::pushed, {}, 0, std::move(of)}; }
};

/// Appends the bytes of an answer, as RESP2 or RESP3.
void encode(const answer& from, bool resp3, std::string& to);

}  // namespace redlock::sim

#endif
