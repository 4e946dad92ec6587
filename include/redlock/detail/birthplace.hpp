#ifndef REDLOCK_DETAIL_BIRTHPLACE_HPP
#define REDLOCK_DETAIL_BIRTHPLACE_HPP

#include <memory>

/** Whether this compiler copies the bits of temporaries, and destroys copy and original.

    GCC 12 does so with an aggregate that is written into a `co_await` expression:

        co_await f(co_await x, {.nodes = parse_nodes(urls)});

    It makes each member by itself, copies the bits of all of them into the aggregate, and destroys
    both. A string or a vector then frees its memory twice.
*/
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
#define REDLOCK_COPIES_BITS 1
#else
#define REDLOCK_COPIES_BITS 0
#endif

namespace redlock::detail {

/** A member that makes an aggregate safe from such copies.

    It knows where it was constructed. In a copy of bits that is another place. The members of such
    a copy may be read, for the originals live as long, but they must be neither moved from nor
    destroyed. So the destructor of the aggregate calls `start_anew_if_left`; and because it has a
    destructor, the compiler gives it no move operations.

    It is a member with every compiler: all see the same layout.
*/
class birthplace
{
public:
    birthplace() noexcept = default;
    birthplace(const birthplace&) noexcept {}
    birthplace& operator=(const birthplace&) noexcept { return *this; }

    /// Puts a new `Owner` in the place of a copy of bits, whose members others destroy.
    template <class Owner>
    void start_anew_if_left(Owner& owner) const
    {
        if (at_ != this)
            std::construct_at(&owner);
    }

private:
    const birthplace* at_ = this;
};

}  // namespace redlock::detail

#endif
