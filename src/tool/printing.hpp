#ifndef REDLOCK_SRC_TOOL_PRINTING_HPP
#define REDLOCK_SRC_TOOL_PRINTING_HPP

#include <redlock/holding.hpp>
#include <redlock/time.hpp>

#include <boost/json/object.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace redlock::tool {

/// Whether a person reads the output. Only people get tables and colours.
[[nodiscard]] bool is_terminal() noexcept;

/// Makes a text valid for JSON: bytes that aren't UTF-8 become question marks.
[[nodiscard]] std::string in_utf8(std::string text);

/// "1.5 s", "2 h 5 min", "forever".
[[nodiscard]] std::string in_words(milliseconds time);

/// A user's text without control characters.
[[nodiscard]] std::string shown(std::string text);

/// Sends what was printed. @throws std::runtime_error if that fails: a full disk, for example.
void flush_output();

/// Prints lines of cells: on a terminal in columns under titles, otherwise separated by tabs.
void print_table(
    const std::vector<std::string>& titles,
    const std::vector<std::vector<std::string>>& lines
);

/// The same for one line of a table that grows.
[[nodiscard]] std::vector<std::string> cells_of(
    const std::string& resource,
    const holding& seen,
    std::size_t nodes
);

[[nodiscard]] boost::json::object as_json(
    const std::string& resource,
    const holding& seen,
    std::size_t nodes
);

/// The titles of `cells_of`.
[[nodiscard]] const std::vector<std::string>& holding_titles();

}  // namespace redlock::tool

#endif
