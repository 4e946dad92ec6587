#ifndef REDLOCK_BENCH_SHARED_MEMORY_HPP
#define REDLOCK_BENCH_SHARED_MEMORY_HPP

#include <boost/interprocess/anonymous_shared_memory.hpp>
#include <boost/interprocess/mapped_region.hpp>

#include <new>
#include <type_traits>

namespace bench {

/// An object that a process and those it forks have in common.
template <class T>
class shared_memory
{
public:
    shared_memory()
        : memory_(boost::interprocess::anonymous_shared_memory(sizeof(T))),
          object_(::new(memory_.get_address()) T)
    {
        static_assert(std::is_trivially_destructible_v<T>);
    }

    [[nodiscard]] T& operator*() const noexcept { return *object_; }
    [[nodiscard]] T* operator->() const noexcept { return object_; }

private:
    boost::interprocess::mapped_region memory_;
    T* object_;
};

}  // namespace bench

#endif
