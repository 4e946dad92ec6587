#ifndef REDLOCK_SRC_CLIENT_BODIES_HPP
#define REDLOCK_SRC_CLIENT_BODIES_HPP

#include "loop/strand.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace redlock::detail {

/** The functions that run under `with_lock`, by the resource that each holds.

    A function that acquires its own resource again, without an owner, waits for itself. It's
    identified by its strand, which belongs to it alone. What it calls and awaits runs there too,
    and a `with_lock` in it runs on a strand over that one. Other contenders run elsewhere and
    aren't mistakes.

    Any thread.
*/
class bodies
{
public:
    /// A function that has begun. It has ended when this is destroyed.
    class entry;

    /// Whether the function that holds the resource calls this.
    [[nodiscard]] bool is_caller(std::string_view resource) const;

private:
    using by_resource = std::unordered_multimap<std::string_view, strand_type>;

    std::atomic<std::size_t> size_ = 0;  ///< Mostly zero; then nothing else is read.
    mutable std::mutex mutex_;
    by_resource all_;
};

class bodies::entry
{
public:
    /// @param in Must outlive the entry, and so must `resource`.
    entry(bodies& in, std::string_view resource, const strand_type& strand);

    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;

    ~entry();

private:
    bodies& in_;
    by_resource::iterator at_;
};

}  // namespace redlock::detail

#endif
