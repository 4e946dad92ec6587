#ifndef REDLOCK_SRC_CLIENT_ATTEMPT_IDS_HPP
#define REDLOCK_SRC_CLIENT_ATTEMPT_IDS_HPP

#include "node/node.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace redlock::detail {

/** Unique values for attempts: 20 random bytes each, as the algorithm asks, as 40 hex characters.

    The bytes come from OpenSSL's generator, which the kernel seeds. They are drawn in blocks,
    because a draw costs as much as sending a command. After a fork the child throws its copy of
    the block away: two processes must never use the same id.
*/
class attempt_ids
{
public:
    attempt_ids() = default;
    attempt_ids(const attempt_ids&) = delete;  // The copy would give the same ids once more.
    attempt_ids& operator=(const attempt_ids&) = delete;

    /// @throws boost::system::system_error if the generator has no entropy.
    [[nodiscard]] attempt_id next();

private:
    static constexpr std::size_t id_size = 20;

    void refill();

    std::array<unsigned char, 64 * id_size> block_{};
    std::size_t used_ = block_.size();
    std::int64_t process_ = 0;
};

/// Random bits for delays. As unpredictable as the ids, because it costs nothing more.
[[nodiscard]] std::uint64_t random_bits();

}  // namespace redlock::detail

#endif
