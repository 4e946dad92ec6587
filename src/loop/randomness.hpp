#ifndef REDLOCK_SRC_LOOP_RANDOMNESS_HPP
#define REDLOCK_SRC_LOOP_RANDOMNESS_HPP

#include "loop/forks.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

/// All randomness of the library. It comes from the operating system.
namespace redlock::detail {

/// @throws boost::system::system_error if the system has no entropy.
void fill_random(std::span<unsigned char> to);

using random_source = void (*)(std::span<unsigned char> to);

/// Takes all randomness from here from now on. For simulations, which must be repeatable.
void draw_random_from(random_source from) noexcept;

/// Random bits for delays. As unpredictable as ids, because that costs nothing extra.
[[nodiscard]] std::uint64_t random_bits();

/** Unique values: 20 random bytes each, as the algorithm asks for attempts, in hexadecimal digits.

    The bytes are drawn in blocks, because a draw costs as much as sending a command. After a fork
    the child discards its copy of the block: two processes must never use the same value.
*/
class random_ids
{
public:
    random_ids() = default;
    random_ids(const random_ids&) = delete;  // A copy would return the same ids again.
    random_ids& operator=(const random_ids&) = delete;

    /// @throws boost::system::system_error if the system has no entropy.
    [[nodiscard]] std::array<char, 40> next();

private:
    static constexpr std::size_t id_size = 20;

    std::array<unsigned char, 64 * id_size> block_{};
    std::size_t used_ = block_.size();
    home home_;  ///< Where the block was drawn.
};

}  // namespace redlock::detail

#endif
