#ifndef REDLOCK_SRC_NODE_REPLY_READER_HPP
#define REDLOCK_SRC_NODE_REPLY_READER_HPP

#include "node/reply_shape.hpp"

#include <boost/redis/adapter/any_adapter.hpp>
#include <boost/redis/resp3/node.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// From what Boost.Redis parses to what we make of it.
namespace redlock::detail {

/// A whole number, and nothing but that.
[[nodiscard]] std::optional<std::int64_t> read_number(std::string_view text);

/// Takes the first node of an answer.
void read_node(reply_shape& shape, const boost::redis::resp3::node_view& node);

/// Takes one element of a list of numbers.
void read_element(reply_shape& shape, const boost::redis::resp3::node_view& node);

/// Everything that is text in the replies to a request, whatever its depth. The first error, if
/// there is one, instead.
struct texts
{
    std::vector<std::string> all;
    std::string error;

    void read(
        boost::redis::any_adapter::parse_event event,
        const boost::redis::resp3::node_view& part
    );
};

}  // namespace redlock::detail

#endif
