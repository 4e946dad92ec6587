#include "text.hpp"

#include <cstdarg>
#include <cstdio>
#include <stdexcept>

namespace bench {

std::string format(const char* pattern, ...)
{
    std::string line(1024, '\0');
    std::va_list values;
    va_start(values, pattern);
    const int size = std::vsnprintf(line.data(), line.size(), pattern, values);
    va_end(values);
    if (size < 0 || static_cast<std::size_t>(size) >= line.size())
        throw std::length_error("a line of a report is too long");
    line.resize(static_cast<std::size_t>(size));
    return line;
}

}  // namespace bench
