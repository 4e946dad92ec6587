#include "node/run_queue_channel.hpp"

#include "support/contains.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/experimental/channel_error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace redlock::test {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using detail::run_queue;

using queue_channel =
    asio::experimental::channel<run_queue::executor_type, void(error_code, std::size_t)>;

struct run_queue_channel_fixture
{
    std::optional<asio::io_context> context{1};
    run_queue& queue = *run_queue::of(context->get_executor());
    run_queue::executor_type executor = queue.get_executor();
    std::string order;

    /// Adds to the order: who, and the message, or 'x' if cancelled.
    auto receive(const std::string& who)
    {
        return [this, who](error_code ec, std::size_t size) {
            order += who + (ec ? outcome(ec) : std::to_string(size));
        };
    }

    auto note(const std::string& who)
    {
        return [this, who](error_code ec) { order += who + outcome(ec); };
    }

    static std::string outcome(error_code ec)
    {
        if (!ec)
            return ".";
        return ec == asio::experimental::error::channel_cancelled ? "x" : ec.message();
    }

    auto add(const std::string& what)
    {
        return [this, what] { order += what; };
    }
};

BOOST_FIXTURE_TEST_SUITE(test_run_queue_channel, run_queue_channel_fixture)

BOOST_AUTO_TEST_CASE(a_message_reaches_who_waits_before_the_loop_goes_on_and_never_in_place)
{
    queue_channel channel(executor, 1);
    channel.async_receive(receive("a"));
    asio::dispatch(executor, [&] {
        asio::post(*context, add("loop"));
        asio::post(executor, add("b"));
        BOOST_TEST(channel.try_send(error_code(), 1));
        order += "-";
    });

    context->run();

    BOOST_TEST(order == "-ba1loop");
}

BOOST_AUTO_TEST_CASE(an_error_of_either_kind_is_a_message_like_any_other)
{
    queue_channel channel(executor, 1);
    const std::error_code refused = std::make_error_code(std::errc::connection_refused);
    error_code first;
    error_code second;
    channel.async_receive([&](error_code ec, std::size_t) { first = ec; });
    BOOST_TEST(channel.try_send(asio::error::eof, 0));
    BOOST_TEST(channel.try_send(refused, 0));
    channel.async_receive([&](error_code ec, std::size_t) { second = ec; });

    context->run();

    BOOST_TEST(first == asio::error::eof);
    BOOST_TEST(second == error_code(refused));
}

BOOST_AUTO_TEST_CASE(messages_that_nobody_waits_for_are_kept_in_order_while_there_is_room)
{
    queue_channel channel(executor, 2);
    BOOST_TEST(channel.try_send(error_code(), 1));
    BOOST_TEST(channel.try_send(error_code(), 2));
    BOOST_TEST(!channel.try_send(error_code(), 3));
    channel.async_receive(receive("a"));
    channel.async_receive(receive("b"));

    context->run();

    BOOST_TEST(order == "a1b2");
}

BOOST_AUTO_TEST_CASE(a_channel_without_room_takes_only_what_somebody_waits_for)
{
    queue_channel channel(executor);
    BOOST_TEST(!channel.try_send(error_code(), 1));
    channel.async_receive(receive("a"));
    BOOST_TEST(channel.try_send(error_code(), 2));
    BOOST_TEST(!channel.try_send(error_code(), 3));

    context->run();

    BOOST_TEST(order == "a2");
}

BOOST_AUTO_TEST_CASE(those_who_wait_are_served_in_the_order_in_which_they_came)
{
    queue_channel channel(executor, 1);
    channel.async_receive(receive("a"));
    channel.async_receive(receive("b"));
    asio::post(*context, [&] {
        BOOST_TEST(channel.try_send(error_code(), 1));
        channel.async_receive(receive("c"));
        BOOST_TEST(channel.try_send(error_code(), 2));
        BOOST_TEST(channel.try_send(error_code(), 3));
        BOOST_TEST(channel.try_send(error_code(), 4));
        BOOST_TEST(!channel.try_send(error_code(), 5));
    });

    context->run();

    BOOST_TEST(order.size() == 6U);
    for (const char* each : {"a1", "b2", "c3"})
        BOOST_TEST(contains(order, each), each << " in " << order);
}

BOOST_AUTO_TEST_CASE(a_send_waits_until_there_is_room)
{
    queue_channel channel(executor, 1);
    channel.async_send(error_code(), 1, note("s"));
    channel.async_send(error_code(), 2, note("t"));
    context->run_one();
    BOOST_TEST(order == "s.");

    BOOST_TEST(channel.try_receive(receive("a")));
    context->run();

    BOOST_TEST(order == "s.a1t.");
}

BOOST_AUTO_TEST_CASE(a_send_to_somebody_who_waits_is_done_at_once_but_not_in_place)
{
    queue_channel channel(executor);
    channel.async_receive(receive("a"));
    asio::post(*context, [&] {
        channel.async_send(error_code(), 1, note("s"));
        order += "-";
    });

    context->run();

    BOOST_TEST(order == "-a1s.");
}

BOOST_AUTO_TEST_CASE(nothing_is_received_in_place_if_there_is_no_message)
{
    queue_channel channel(executor, 1);
    BOOST_TEST(!channel.try_receive(receive("a")));
    BOOST_TEST(channel.try_send(error_code(), 1));
    BOOST_TEST(channel.try_receive(receive("b")));
    BOOST_TEST(!channel.try_receive(receive("c")));
    BOOST_TEST(order == "b1");
}

BOOST_AUTO_TEST_CASE(cancelling_ends_what_is_sent_and_what_is_received)
{
    queue_channel channel(executor);
    channel.async_receive(receive("a"));
    channel.async_receive(receive("b"));
    queue_channel other(executor);
    other.async_send(error_code(), 1, note("s"));
    asio::post(*context, [&] {
        channel.cancel();
        other.cancel();
        order += "-";
    });

    context->run();

    BOOST_TEST(order.size() == 7U);
    BOOST_TEST(order.front() == '-');
    for (const char* each : {"ax", "bx", "sx"})
        BOOST_TEST(contains(order, each), each << " in " << order);
}

BOOST_AUTO_TEST_CASE(a_slot_cancels_a_receive_and_a_message_that_came_before_stays)
{
    queue_channel channel(executor, 1);
    asio::cancellation_signal first;
    channel.async_receive(asio::bind_cancellation_slot(first.slot(), receive("a")));
    first.emit(asio::cancellation_type::terminal);
    asio::cancellation_signal second;
    channel.async_receive(asio::bind_cancellation_slot(second.slot(), receive("b")));
    BOOST_TEST(channel.try_send(error_code(), 1));
    second.emit(asio::cancellation_type::terminal);

    context->run();

    BOOST_TEST(order == "axb1");
}

BOOST_AUTO_TEST_CASE(a_channel_that_is_destroyed_ends_its_receives)
{
    {
        queue_channel channel(executor);
        channel.async_receive(receive("a"));
        channel.async_receive(receive("b"));
    }

    context->run();

    BOOST_TEST(order.size() == 4U);
    for (const char* each : {"ax", "bx"})
        BOOST_TEST(contains(order, each), each << " in " << order);
}

BOOST_AUTO_TEST_CASE(a_channel_that_its_receiver_owns_is_destroyed_with_the_context)
{
    auto kept = std::make_shared<queue_channel>(executor, 1);
    const std::weak_ptr<queue_channel> channel = kept;
    kept->async_receive([kept, this](error_code, std::size_t) { order += "never"; });
    kept.reset();
    BOOST_TEST(!channel.expired());

    context.reset();

    BOOST_TEST(channel.expired());
    BOOST_TEST(order.empty());
}

BOOST_AUTO_TEST_CASE(channels_that_are_cancelled_while_the_context_is_destroyed_tell_nobody)
{
    // Not by make_shared: the memory shall be gone with the channel.
    std::shared_ptr<queue_channel> first(new queue_channel(executor));
    std::shared_ptr<queue_channel> second(new queue_channel(executor));
    // Whatever is destroyed first cancels the other one, whose receiver owns it.
    const auto cancels = [](const std::shared_ptr<queue_channel>& channel) {
        const std::weak_ptr<queue_channel> weak = channel;
        return std::shared_ptr<void>(nullptr, [weak](void*) {
            if (queue_channel* const left = weak.lock().get())
                left->cancel();
        });
    };
    first->async_receive([this, first, last = cancels(second)](error_code, std::size_t) {
        order += "never";
    });
    second->async_receive([this, second, last = cancels(first)](error_code, std::size_t) {
        order += "never";
    });
    first.reset();
    second.reset();

    context.reset();

    BOOST_TEST(order.empty());
}

BOOST_AUTO_TEST_CASE(a_receive_calls_its_handler_on_the_executor_of_the_handler)
{
    asio::io_context other;
    asio::io_context third{1};
    const auto third_executor = run_queue::of(third.get_executor())->get_executor();
    queue_channel channel(executor);
    channel.async_receive(asio::bind_executor(other, receive("a")));
    BOOST_TEST(channel.try_send(error_code(), 1));
    queue_channel another(executor);
    another.async_receive(asio::bind_executor(third_executor, receive("b")));
    BOOST_TEST(another.try_send(error_code(), 2));

    context->run();
    BOOST_TEST(order.empty());
    other.run();
    BOOST_TEST(order == "a1");
    third.run();

    BOOST_TEST(order == "a1b2");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace redlock::test
