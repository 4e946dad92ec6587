#include "chat_room/load/delays.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>

namespace chat {

namespace {

std::int64_t now_in_us()
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

std::string text_of_now()
{
    return std::to_string(now_in_us());
}

void delays::add(const std::string& text)
{
    std::int64_t said = 0;
    std::from_chars(text.data(), text.data() + text.size(), said);
    took_us_.push_back(now_in_us() - said);
}

double delays::percentile(double part) const
{
    if (took_us_.empty())
        return 0;
    std::vector<std::int64_t> sorted = took_us_;
    const auto index = static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1));
    std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(index));
    return static_cast<double>(sorted[index]) / 1000;
}

boost::json::object delays::to_json() const
{
    return {
        {"count", took_us_.size()},
        {"p50_ms", percentile(0.5)},
        {"p99_ms", percentile(0.99)},
        {"max_ms", percentile(1)},
    };
}

}  // namespace chat
