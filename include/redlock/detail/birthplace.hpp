#ifndef REDLOCK_DETAIL_BIRTHPLACE_HPP
#define REDLOCK_DETAIL_BIRTHPLACE_HPP

#include <memory>

/** Whether this compiler copies the bits of temporaries, and destroys both copy and original.

    GCC 12 does this with an aggregate written into a `co_await` expression:

        co_await f(co_await x, {.nodes = parse_nodes(urls)});

    It makes each member separately, copies the bits of all members into the aggregate, and destroys
    both. A string or a vector then frees its memory twice.
*/
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
#define REDLOCK_COPIES_BITS 1
#else
#define REDLOCK_COPIES_BITS 0
#endif

namespace redlock::detail {

/** A member that makes an aggregate safe from such copies.

    It stores the address where it was constructed. A copy of bits is at another address. The
    members of that copy may be read, because the originals live as long, but must not be moved from
    or destroyed. So the destructor of the aggregate calls `start_anew_if_left`: a member doesn't
    know where its owner begins, and a base class would rule out designated initializers. Because of
    the destructor, the aggregate has no move operations.

    It's a member with every compiler, so that the layout is always the same.
*/
class birthplace
{
public:
    birthplace() noexcept = default;
    birthplace(const birthplace&) noexcept {}
    birthplace& operator=(const birthplace&) noexcept { return *this; }

    /// Constructs a new `Owner` over a copy of bits, because the originals are destroyed elsewhere.
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
