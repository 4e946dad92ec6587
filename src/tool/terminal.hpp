#ifndef REDLOCK_SRC_TOOL_TERMINAL_HPP
#define REDLOCK_SRC_TOOL_TERMINAL_HPP

#include <sys/types.h>

namespace redlock::tool {

/** The terminal that controls this process, if there is one, whatever is redirected.

    One process group has it: it reads what is typed, and gets Ctrl-C and Ctrl-Z. The others are in
    the background.
*/
class terminal
{
public:
    terminal() noexcept;
    terminal(const terminal&) = delete;
    terminal& operator=(const terminal&) = delete;
    ~terminal();

    [[nodiscard]] bool exists() const noexcept { return file_ >= 0; }

    /// Whether this process's group has it.
    [[nodiscard]] bool is_ours() const noexcept;

    /// Whether that group has it.
    [[nodiscard]] bool belongs_to(pid_t group) const noexcept;

    /// Whether nobody but this process and what it runs reads or writes it: a pipeline shares it
    /// with others.
    [[nodiscard]] static bool is_not_shared() noexcept;

    /// Async-signal-safe.
    void give_to(pid_t group) const noexcept;

private:
    int file_;  ///< -1: there is none.
};

/// Lets this process write to its terminal from the background too, where the terminal might stop
/// it for that.
class background_output
{
public:
    background_output() noexcept;
    background_output(const background_output&) = delete;
    background_output& operator=(const background_output&) = delete;
    ~background_output();

private:
    bool blocked_;  ///< By this object.
};

}  // namespace redlock::tool

#endif
