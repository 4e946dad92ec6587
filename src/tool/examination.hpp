#ifndef REDLOCK_SRC_TOOL_EXAMINATION_HPP
#define REDLOCK_SRC_TOOL_EXAMINATION_HPP

#include "node/guard.hpp"
#include "tool/inquiry.hpp"
#include "wire/request.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

/// What is wrong with a node, in sentences that say what to do.
namespace redlock::tool {

/// What is known about one node.
struct examination
{
    std::string name;
    bool reached = false;
    bool votes = true;
    std::string run_id{};
    std::string version{"?"};
    std::string role{"?"};
    std::string persistence{"?"};
    std::string admission{"?"};
    std::optional<std::chrono::microseconds> clock{};  ///< Its time minus ours.
    std::chrono::microseconds round_trip{0};
    std::vector<std::string> problems{};  ///< Each says what to do.
    std::vector<std::string> remarks{};   ///< Not problems, but good to know.
};

/// What to ask a node for an examination.
[[nodiscard]] detail::request make_inquiry(const node_config& node, const detail::guard& guarded);

/// Looks at a node's answers, point by point.
[[nodiscard]] examination examine(
    const node_config& node,
    const detail::guard& guarded,
    const answers& told
);

}  // namespace redlock::tool

#endif
