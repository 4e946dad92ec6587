// The faults, proven before anything is proven with them: each does what its name says, and leaves
// no trace when it is healed.

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <system_error>
#include <vector>

#include "chaos/faults.hpp"
#include "chaos/stage.hpp"
#include "support/contains.hpp"
#include "support/eventually.hpp"
#include "support/needs.hpp"
#include "support/redis_server.hpp"

BOOST_AUTO_TEST_SUITE(
    test_faults,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

const fault& named(const std::string& name)
{
    return *std::ranges::find(all_faults(), name, &fault::name);
}

/// One node with a key, and no workers.
struct bench
{
    explicit bench(redis_storage storage) : on(options_for(storage))
    {
        on.node(0).command({"SET", "key", "value"});
        // A write that waits for an fsync of the second before would be lost with the process.
        if (storage == redis_storage::every_second)
            BOOST_REQUIRE(eventually([this] { return is_written(); }));
    }

    [[nodiscard]] bool is_written()
    {
        return contains(on.node(0).command({"INFO", "persistence"}), "aof_buffer_length:0\r");
    }

    static stage_options options_for(redis_storage storage)
    {
        stage_options options;
        options.storage = {storage};
        options.workers = 0;
        options.proxies = false;
        options.fenced = false;
        options.work.how = {.mode = "guarded", .ttl_max = 1s};
        return options;
    }

    /// What the node answers, or that it does not.
    [[nodiscard]] std::string ask(
        const std::vector<std::string>& words,
        std::chrono::milliseconds patience = 50ms
    )
    {
        try
        {
            return resp_client(on.node(0).unix_socket_path(), patience).command(words);
        }
        catch (const std::system_error&)
        {
            return "silence";
        }
    }

    [[nodiscard]] std::string write() { return ask({"SET", "other", "value"}); }
    [[nodiscard]] bool has_key() { return ask({"EXISTS", "key"}, 2s) == "(integer) 1"; }

    void strike(const std::string& name) { undo = named(name).strike({on, random, 0, 0}); }

    stage on;
    std::mt19937_64 random{1};
    heal undo{};
};

}  // namespace

BOOST_AUTO_TEST_CASE(what_a_node_does_not_answer_meanwhile_it_answers_afterwards)
{
    for (const char* const name : {"pause node", "down", "endless script"})
    {
        BOOST_TEST_CONTEXT(name)
        {
            bench at(redis_storage::every_write);
            at.strike(name);
            const std::string said = at.write();
            BOOST_TEST((said == "silence" || said.starts_with("-BUSY")), said);

            at.undo();

            BOOST_TEST(eventually([&] { return at.write() == "OK"; }));
            BOOST_TEST(at.has_key());
        }
    }
}

BOOST_AUTO_TEST_CASE(what_a_node_refuses_meanwhile_it_accepts_afterwards)
{
    for (const auto& [name, error] :
         {std::pair("memory exhausted", "-OOM"), {"replica of nobody", "-READONLY"}})
    {
        BOOST_TEST_CONTEXT(name)
        {
            bench at(redis_storage::none);
            at.strike(name);
            const std::string said = at.write();
            BOOST_TEST(said.starts_with(error), said);

            at.undo();

            BOOST_TEST(at.write() == "OK");
            BOOST_TEST(at.has_key());
        }
    }
}

BOOST_AUTO_TEST_CASE(withdrawn_rights_are_given_back)
{
    bench at(redis_storage::none);
    const std::string before = at.ask({"ACL", "LIST"});
    for (int time = 0; time < 8; ++time)
    {
        at.strike("rights withdrawn");
        BOOST_TEST(at.ask({"ACL", "LIST"}) != before);

        at.undo();

        BOOST_TEST(at.write() == "OK");
    }
}

BOOST_AUTO_TEST_CASE(a_node_that_is_told_to_pause_answers_later)
{
    bench at(redis_storage::none);
    at.strike("client pause");
    BOOST_TEST(at.write() == "silence");
    BOOST_TEST(eventually([&] { return at.write() == "OK"; }));
}

BOOST_AUTO_TEST_CASE(nodes_forget_what_they_are_to_forget_and_nothing_else)
{
    struct
    {
        const char* name;
        redis_storage storage;
        bool forgets;
    } const cases[] = {
        {"restart without data", redis_storage::none, true},
        {"restart from snapshot", redis_storage::none, false},
        {"restart everysec", redis_storage::every_second, false},
        {"restart truncated", redis_storage::every_second, true},
        {"restart always", redis_storage::every_write, false},
        {"flush", redis_storage::none, true},
        {"replica of an empty server", redis_storage::none, true},
    };
    for (const auto& [name, storage, forgets] : cases)
    {
        BOOST_TEST_CONTEXT(name)
        {
            bench at(storage);
            const std::string run_id = info_field(at.on.node(0), "run_id");
            at.strike(name);
            if (forgets)
                BOOST_TEST(eventually([&] { return !at.has_key(); }));
            if (at.undo)
            {
                BOOST_TEST(!at.write().empty());
                at.undo();
            }

            BOOST_TEST(eventually([&] { return at.write() == "OK"; }));
            BOOST_TEST(at.has_key() == !forgets);
            const bool is_restart = contains(name, "restart");
            BOOST_TEST((info_field(at.on.node(0), "run_id") != run_id) == is_restart);
            BOOST_TEST(at.on.is_admitted(0) == !(forgets || is_restart));
        }
    }
}

BOOST_AUTO_TEST_CASE(what_came_after_a_snapshot_is_forgotten)
{
    bench at(redis_storage::none);
    at.strike("restart from snapshot");
    BOOST_TEST(at.write() == "OK");

    at.undo();

    BOOST_TEST(at.ask({"EXISTS", "other"}) == "(integer) 0");
}

BOOST_AUTO_TEST_CASE(clocks_step_and_return)
{
    bench at(redis_storage::none);
    const auto time = [&at] { return std::stoll(at.ask({"TIME"})); };
    for (int step = 0; step < 8; ++step)
    {
        const auto before = time();
        at.strike("clock step");
        BOOST_TEST(std::abs(time() - before) >= 2);

        at.undo();

        BOOST_TEST(std::abs(time() - before) <= 2);
    }
}

BOOST_AUTO_TEST_CASE(scripts_are_forgotten)
{
    bench at(redis_storage::none);
    const std::string name = at.ask({"SCRIPT", "LOAD", "return 1"});
    at.strike("script flush");

    BOOST_TEST(at.ask({"EVALSHA", name, "0"}).starts_with("-NOSCRIPT"));
}

BOOST_AUTO_TEST_SUITE_END()
