#ifndef REDLOCK_DETAIL_RECYCLING_HPP
#define REDLOCK_DETAIL_RECYCLING_HPP

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

/** Memory for what every operation allocates: the frames of its coroutines, its rounds, its hold,
    its handler.

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

/// Base of what is allocated in recycled memory by `new`; of a promise, for the frame of its
/// coroutine.
struct recycled
{
    static void* operator new(std::size_t size) { return allocate_recycled(size); }
    static void operator delete(void* block, std::size_t size) noexcept
    {
        free_recycled(block, size);
    }

    // For a type with an alignment of its own.
    static void* operator new(std::size_t size, std::align_val_t alignment)
    {
        return ::operator new(size, alignment);
    }
    static void operator delete(void* block, std::align_val_t alignment) noexcept
    {
        ::operator delete(block, alignment);
    }
};

/// Such a type is not recycled.
template <class T>
inline constexpr bool has_own_alignment = alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__;

/// `recycling_allocator<void>` stands for those of all types.
template <class T>
struct recycling_allocator
{
    using value_type = T;

    recycling_allocator() = default;
    template <class U>
    recycling_allocator(const recycling_allocator<U>&) noexcept
    {
    }

    T* allocate(std::size_t count)
    {
        if constexpr (has_own_alignment<T>)
            return std::allocator<T>().allocate(count);
        else
            return static_cast<T*>(allocate_recycled(count * sizeof(T)));
    }
    void deallocate(T* block, std::size_t count) noexcept
    {
        if constexpr (has_own_alignment<T>)
            std::allocator<T>().deallocate(block, count);
        else
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
