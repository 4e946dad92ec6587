// How those who catch up take turns, examples/chat_room/README.md. Without a store.

#include "chat_room/history.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/client_runner.hpp"

BOOST_AUTO_TEST_SUITE(test_history)

using namespace redlock::test;
namespace asio = boost::asio;

namespace {

constexpr std::uint64_t in_a_page = 2;

/// A history of a log with some messages, and what was read of it.
class fixture
{
public:
    explicit fixture(std::uint64_t messages) : messages_(messages)
    {
        asio::co_spawn(context, all.run(), [this](const std::exception_ptr&) { ended_ = true; });
    }

    fixture(const fixture&) = delete;
    fixture& operator=(const fixture&) = delete;

    ~fixture()
    {
        all.stop();
        BOOST_CHECK(run_until(context, [this] { return ended_; }));
    }

    asio::io_context context;
    chat::history all{context.get_executor(), [this](std::string, std::uint64_t after) {
                          return read(after);
                      }};

    std::size_t failures = 0;       ///< Reads that are to fail, from now on.
    std::size_t empty = 0;          ///< Reads that are to find nothing, after that.
    std::function<void()> on_read;  ///< Called while a page is being read.
    std::size_t reads = 0;
    std::size_t most_at_once = 0;
    std::string served;  ///< Names of readers, in the order of their pages.

private:
    asio::awaitable<std::vector<chat::message>> read(std::uint64_t after)
    {
        ++reads;
        most_at_once = std::max(most_at_once, ++under_way_);
        co_await asio::post(context, asio::use_awaitable);
        if (on_read)
            on_read();
        --under_way_;
        if (failures > 0)
        {
            --failures;
            throw std::runtime_error("no answer");
        }
        std::vector<chat::message> page;
        if (empty > 0)
        {
            --empty;
            co_return page;
        }
        for (std::uint64_t seq = after + 1; seq <= std::min(after + in_a_page, messages_); ++seq)
            page.push_back({seq, {}, 0, {}});
        co_return page;
    }

    std::uint64_t messages_;
    std::size_t under_way_ = 0;
    bool ended_ = false;
};

/// Reads a log from its beginning to its end.
class reader final : public chat::history_reader
{
public:
    reader(fixture& f, char name, std::uint64_t until) : f_(f), name_(name), until_(until)
    {
        f_.all.ask(*this, "lobby", 0);
    }

    void on_page(std::vector<chat::message> page) override
    {
        f_.served += name_;
        for (const chat::message& each : page)
            BOOST_TEST(each.seq == ++last_);
        if (last_ < until_)
            f_.all.ask(*this, "lobby", last_);
    }

    [[nodiscard]] bool has_all() const { return last_ == until_; }

private:
    fixture& f_;
    char name_;
    std::uint64_t until_;
    std::uint64_t last_ = 0;
};

}  // namespace

BOOST_AUTO_TEST_CASE(readers_take_turns_and_one_page_is_read_at_a_time)
{
    fixture f(6);
    reader ada(f, 'A', 6);
    reader bob(f, 'B', 6);
    reader cleo(f, 'C', 6);

    BOOST_TEST(run_until(f.context, [&] { return cleo.has_all(); }));

    BOOST_TEST(f.served == "ABCABCABC");
    BOOST_TEST(f.most_at_once == 1u);
}

BOOST_AUTO_TEST_CASE(who_comes_later_waits_for_one_page_of_each_of_the_others)
{
    fixture f(8);
    reader ada(f, 'A', 8);
    reader bob(f, 'B', 8);
    std::optional<reader> cleo;
    f.on_read = [&] {
        if (f.reads == 3)
            cleo.emplace(f, 'C', 4);
    };

    BOOST_TEST(run_until(f.context, [&] { return ada.has_all() && bob.has_all(); }));

    BOOST_TEST(f.served == "ABABCABCAB");
}

BOOST_AUTO_TEST_CASE(a_page_that_cannot_be_read_now_is_read_later)
{
    fixture f(4);
    f.failures = 2;
    f.empty = 2;
    reader ada(f, 'A', 4);
    reader bob(f, 'B', 4);

    BOOST_TEST(run_until(f.context, [&] { return ada.has_all() && bob.has_all(); }));

    BOOST_TEST(f.reads == 4u + 4u);
}

BOOST_AUTO_TEST_CASE(who_has_left_gets_no_page)
{
    fixture f(4);
    reader ada(f, 'A', 4);
    reader bob(f, 'B', 4);
    reader cleo(f, 'C', 4);
    f.on_read = [&] {
        if (f.reads != 2)
            return;
        f.all.forget(bob);  // Whose page is being read.
        f.all.forget(ada);
    };

    BOOST_TEST(run_until(f.context, [&] { return cleo.has_all(); }));

    BOOST_TEST(f.served == "ACC");
}

BOOST_AUTO_TEST_SUITE_END()
