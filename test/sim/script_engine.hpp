#ifndef REDLOCK_TEST_SIM_SCRIPT_ENGINE_HPP
#define REDLOCK_TEST_SIM_SCRIPT_ENGINE_HPP

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/answer.hpp"

struct lua_State;

namespace redlock::sim {

using arguments = std::vector<std::string>;

/// Lua 5.1 as Redis has it: `KEYS`, `ARGV`, `redis.call` and its like. One for all servers, which
/// share what is compiled.
class script_engine
{
public:
    /// A script and its name.
    struct compiled
    {
        std::string sha;
        int function = 0;   ///< In the registry of Lua.
        std::string error;  ///< Of the compiler. Empty: there is a function.
    };

    script_engine();
    script_engine(const script_engine&) = delete;
    script_engine& operator=(const script_engine&) = delete;

    [[nodiscard]] const compiled& compile(std::string_view text);

    /// From now on what is compiled has other words in place of these. It keeps its name, so that
    /// nobody notices. To see what breaks.
    void replace(std::string words, std::string by) { replaced_[std::move(words)] = std::move(by); }

    /// How often that has happened.
    [[nodiscard]] std::size_t replacements() const noexcept { return replacements_; }

    /// @return Null if no such script was ever compiled.
    [[nodiscard]] const compiled* find(const std::string& sha) const;

    /// @param call What `redis.call` does.
    [[nodiscard]] answer run(
        const compiled& script,
        std::span<const std::string> keys,
        std::span<const std::string> values,
        const std::function<answer(const arguments&)>& call
    );

private:
    struct text_hash
    {
        using is_transparent = void;

        std::size_t operator()(std::string_view text) const noexcept
        {
            return std::hash<std::string_view>()(text);
        }
    };

    struct closer
    {
        void operator()(lua_State* state) const;
    };

    std::unique_ptr<lua_State, closer> state_;
    std::unordered_map<std::string, compiled, text_hash, std::equal_to<>> by_text_;
    std::map<std::string, const compiled*, std::less<>> by_sha_;
    std::map<std::string, std::string> replaced_;
    std::size_t replacements_ = 0;
};

}  // namespace redlock::sim

#endif
