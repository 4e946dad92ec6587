#ifndef REDLOCK_EXAMPLES_CHAT_ROOM_PAGES_HPP
#define REDLOCK_EXAMPLES_CHAT_ROOM_PAGES_HPP

#include "chat_room/surroundings.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace chat {

inline constexpr const char* plain_text = "text/plain; charset=utf-8";

/// The answer to a path.
struct page_answer
{
    unsigned status;
    std::string content_type;
    std::string body;
};

/// A file of the page: `/` or `/NAME`, from the directory itself and no other one.
[[nodiscard]] page_answer page_file(const std::filesystem::path& from, std::string_view path);

/// Whether members can talk: the store answers, and a quorum of nodes votes.
[[nodiscard]] page_answer health(const surroundings& with);

/// All that was counted, for Prometheus.
[[nodiscard]] std::string measurements(const surroundings& with);

}  // namespace chat

#endif
