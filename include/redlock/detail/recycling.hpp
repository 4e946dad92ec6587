#ifndef REDLOCK_SRC_CLIENT_RECYCLING_HPP
#define REDLOCK_SRC_CLIENT_RECYCLING_HPP

#include <cstddef>
#include <memory>
#include <utility>

/** Memory for what every operation allocates: the frames of its coroutines, its rounds, its hold.

    Hundreds of operations that begin and end together are more than malloc keeps at hand for one
    size, and what goes past that costs as much as to encode a command. So every thread keeps what
    is freed on it, up to a limit, for whatever of about the same size it allocates next. A block
    may be freed on another thread than the one that allocated it.

    Nothing is kept in a build with a sanitizer.
*/
namespace redlock::detail {

/// How many blocks of about one size a thread keeps.
inline constexpr std::size_t max_recycled = 512;

[[nodiscard]] void* allocate_recycled(std::size_t size);

/// @param size That of the allocation.
void free_recycled(void* block, std::size_t size) noexcept;

/// Base of a promise: makes the frame of its coroutine recycled memory.
struct recycled_frame
{
    static void* operator new(std::size_t size) { return allocate_recycled(size); }
    static void operator delete(void* frame, std::size_t size) noexcept
    {
        free_recycled(frame, size);
    }
};

template <class T>
struct recycling_allocator
{
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

    using value_type = T;

    recycling_allocator() = default;
    template <class U>
    recycling_allocator(const recycling_allocator<U>&) noexcept
    {
    }

    T* allocate(std::size_t count)
    {
        return static_cast<T*>(allocate_recycled(count * sizeof(T)));
    }
    void deallocate(T* block, std::size_t count) noexcept
    {
        free_recycled(block, count * sizeof(T));
    }

    friend bool operator==(recycling_allocator, recycling_allocator) noexcept { return true; }
};

/// As `std::make_shared`, in recycled memory.
template <class T, class... Arguments>
[[nodiscard]] std::shared_ptr<T> make_recycled(Arguments&&... arguments)
{
    return std::allocate_shared<T>(
        recycling_allocator<T>(), std::forward<Arguments>(arguments)...
    );
}

}  // namespace redlock::detail

#endif
