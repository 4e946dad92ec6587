#ifndef REDLOCK_TEST_SIM_CLAIM_GUARD_HPP
#define REDLOCK_TEST_SIM_CLAIM_GUARD_HPP

#include <utility>

#include "sim/invariants.hpp"

namespace redlock::sim {

/// Ends a claim with the scope, unless that was done before.
class claim_guard
{
public:
    claim_guard(invariants& rules, invariants::claim_ptr of) : rules_(rules), of_(std::move(of)) {}
    claim_guard(const claim_guard&) = delete;
    claim_guard& operator=(const claim_guard&) = delete;
    ~claim_guard() { end(); }

    [[nodiscard]] claim& operator*() const noexcept { return *of_; }
    [[nodiscard]] invariants::claim_ptr& kept() noexcept { return of_; }

    /// A body under `with_lock`, which releases when that has ended or was cancelled.
    void releases_with_its_end() { releases_ = true; }

    void end()
    {
        if (releases_ && of_ && of_->in->alive())
            rules_.end_grace(*of_);
        if (const auto ended = std::exchange(of_, nullptr))
            rules_.end(ended);
    }

private:
    invariants& rules_;
    invariants::claim_ptr of_;
    bool releases_ = false;
};

}  // namespace redlock::sim

#endif
