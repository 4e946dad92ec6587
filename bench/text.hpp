#ifndef REDLOCK_BENCH_TEXT_HPP
#define REDLOCK_BENCH_TEXT_HPP

#include <string>

namespace bench {

/// Formats one line as `printf` does.
[[gnu::format(printf, 1, 2)]] [[nodiscard]] std::string format(const char* pattern, ...);

}  // namespace bench

#endif
