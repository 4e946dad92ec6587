#ifndef REDLOCK_DETAIL_RECYCLING_HPP
#define REDLOCK_DETAIL_RECYCLING_HPP

#include <redlock/detail/export.hpp>

#include <array>
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

/// Sizes are rounded up to a multiple of this.
inline constexpr std::size_t recycling_step = 64;

/// Anything larger is allocated as usual.
inline constexpr std::size_t largest_recycled = 1024;

struct free_block
{
    free_block* next;
};

/// The free blocks of about one size that a thread keeps.
struct shelf
{
    free_block* first;
    std::size_t count;
    std::size_t limit;  ///< How many it takes: none before the first block is freed.
};

/// Plain data, for it is used until the very end of a thread, when objects are gone already.
REDLOCK_EXPORT extern constinit thread_local std::array<
    shelf, largest_recycled / recycling_step> shelves;

[[nodiscard]] inline shelf& shelf_for(std::size_t size) noexcept
{
    return shelves[(size - 1) / recycling_step];
}

[[nodiscard]] REDLOCK_EXPORT void* allocate_anew(std::size_t size);

/// Makes room on the shelves if there was none yet, else frees the block for good.
REDLOCK_EXPORT void free_slowly(void* block, std::size_t size) noexcept;

[[nodiscard]] inline void* allocate_recycled(std::size_t size)
{
    if (size > largest_recycled || !shelf_for(size).first)
        return allocate_anew(size);
    shelf& from = shelf_for(size);
    --from.count;
    return std::exchange(from.first, from.first->next);
}

/// @param size That of the allocation.
inline void free_recycled(void* block, std::size_t size) noexcept
{
    if (size > largest_recycled || shelf_for(size).count == shelf_for(size).limit)
        return free_slowly(block, size);
    shelf& to = shelf_for(size);
    to.first = ::new (block) free_block{to.first};
    ++to.count;
}

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
