#ifndef REDLOCK_EXAMPLES_FENCING_LOCAL_STOCK_HPP
#define REDLOCK_EXAMPLES_FENCING_LOCAL_STOCK_HPP

#include <redlock/fence_check.hpp>
#include <redlock/fencing.hpp>

#include "fencing/stale_token.hpp"

#include <cstdint>
#include <mutex>

namespace recipes {

// snippet: local_stock
/// How much of an item there is, in the memory of the process that serves it.
class local_stock
{
public:
    std::int64_t read(redlock::fencing_token token)
    {
        const std::lock_guard lock(mutex_);
        check(token);
        return amount_;
    }

    void write(redlock::fencing_token token, std::int64_t amount)
    {
        const std::lock_guard lock(mutex_);
        check(token);
        amount_ = amount;
    }

private:
    // Under the mutex: check and access are one step.
    void check(redlock::fencing_token token)
    {
        if (!fence_.accept(token))
            throw stale_token(fence_.highest());
    }

    std::mutex mutex_;
    redlock::fence_check fence_;
    std::int64_t amount_ = 0;
};
// end snippet

}  // namespace recipes

#endif
