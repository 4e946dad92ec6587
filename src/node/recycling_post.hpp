#ifndef REDLOCK_SRC_NODE_POSTER_HPP
#define REDLOCK_SRC_NODE_POSTER_HPP

#include <redlock/detail/recycling.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/allocator.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/require.hpp>

#include <utility>
#include <variant>

namespace redlock::detail {

namespace asio = boost::asio;

/// An executor that posts to a loop, in recycled memory.
inline auto recycling_post(const asio::io_context::executor_type& loop)
{
    return asio::require(
        loop,
        asio::execution::blocking.never,
        asio::execution::allocator(recycling_allocator<void>())
    );
}

/** Posts functions to an executor: none runs in place.

    Through a type-erased executor a function takes two allocations, and hundreds that one turn
    posts are more than Asio and malloc keep at hand. So an io_context is recognized, and told to
    use recycled memory.
*/
class poster
{
public:
    explicit poster(const asio::any_io_executor& executor) : to_(recognize(executor)) {}

    template <class Function>
    void operator()(Function function) const
    {
        std::visit(
            [&function](const auto& executor) { executor.execute(std::move(function)); }, to_
        );
    }

private:
    using loop = asio::io_context::executor_type;
    using known_or_any =
        std::variant<decltype(recycling_post(std::declval<loop>())), asio::any_io_executor>;

    static known_or_any recognize(const asio::any_io_executor& executor)
    {
        if (const auto* known = executor.target<loop>())
            return recycling_post(*known);
        return asio::require(executor, asio::execution::blocking.never);
    }

    known_or_any to_;
};

}  // namespace redlock::detail

#endif
