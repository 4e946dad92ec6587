// Processes that want to lead, on real servers, while the leader is killed, frozen, cut off or told
// to resign. With REDLOCK_TEST_LONG=1 each happens 50 times.

#include <redlock/initialize.hpp>
#include <redlock/lead.hpp>

#include "lead/book.hpp"

#include <boost/algorithm/string/join.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/child_process.hpp"
#include "support/client_runner.hpp"
#include "support/contains.hpp"
#include "support/eventually.hpp"
#include "support/loop.hpp"
#include "support/needs.hpp"
#include "support/posix.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_proxy.hpp"

BOOST_AUTO_TEST_SUITE(
    test_lead,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* resource = "jobs";
constexpr milliseconds ttl = 1s;
constexpr std::size_t node_count = 3;

/// A program in the folder of this one: that of a mutant starts mutants.
std::filesystem::path beside_this(const char* name)
{
    return std::filesystem::read_symlink("/proc/self/exe").replace_filename(name);
}

/// How often something happens.
std::size_t rounds(std::size_t few)
{
    return std::getenv("REDLOCK_TEST_LONG") != nullptr ? 50 : few;
}

std::chrono::duration<double, std::milli> between(moment from, moment to)
{
    return std::chrono::nanoseconds(to - from);
}

/// A process that wants to lead, and its own ways to the nodes.
class candidate
{
public:
    candidate(redis_servers& servers, mapped_book& shared, std::uint32_t number)
        : book_(shared), number_(number)
    {
        for (redis_server& server : servers)
            ways_.emplace_back(server.port(), tcp_proxy::recording::off);
    }

    /// Starts it, and waits until it stands.
    void start(const std::filesystem::path& folder, const std::string& kind)
    {
        std::string nodes;
        for (const tcp_proxy& way : ways_)
            nodes += (nodes.empty() ? "" : ",") + way.url();
        output_ = folder / ("output" + std::to_string(number_));
        process_ = child_process({
            .program = beside_this("redlock_lead_candidate"),
            .arguments =
                {"candidate",
                 nodes,
                 resource,
                 std::to_string(ttl.count()),
                 folder / "book",
                 std::to_string(number_),
                 kind},
            .output = output_,
        });
        BOOST_TEST_REQUIRE(eventually([this] { return book_->standing[number_] == pid(); }, 20s));
    }

    [[nodiscard]] int pid() const { return process_.pid(); }
    [[nodiscard]] child_process& process() { return process_; }
    [[nodiscard]] std::string output() const { return read_file(output_); }
    void resign() const { ::kill(process_.pid(), SIGUSR1); }

    void cut_off()
    {
        for (tcp_proxy& way : ways_)
            way.blackhole();
    }

    void reconnect()
    {
        for (tcp_proxy& way : ways_)
        {
            way.reset_all();
            way.pass();
        }
    }

private:
    mapped_book& book_;
    std::uint32_t number_;
    std::deque<tcp_proxy> ways_;
    std::filesystem::path output_;
    child_process process_;
};

/// Candidates of real nodes that may vote.
class election
{
public:
    explicit election(std::size_t count)
    {
        loop context;
        client_config config = config_for(servers_);
        config.mode = mode::guarded;
        run(context, async_initialize_nodes(context, config));
        for (std::size_t number = 0; number < count; ++number)
            candidates_.emplace_back(servers_, book_, static_cast<std::uint32_t>(number));
    }

    candidate& start(std::size_t number, const std::string& kind = "obedient")
    {
        candidates_[number].start(folder_.path(), kind);
        return candidates_[number];
    }

    void start_watcher()
    {
        watcher_ = child_process({
            .program = beside_this("redlock_lead_watcher"),
            .arguments =
                {"watcher",
                 boost::algorithm::join(servers_.urls(), ","),
                 resource,
                 folder_.path() / "book"},
            .output = folder_.path() / "watcher",
        });
        BOOST_TEST_REQUIRE(eventually([this] { return views() > 0; }, 20s));
    }

    /// All candidates, and a process that watches them.
    void start_all()
    {
        start_watcher();
        for (std::size_t number = 0; number < candidates_.size(); ++number)
            start(number);
    }

    [[nodiscard]] std::size_t terms() const { return book_->count; }
    [[nodiscard]] const term_entry& term(std::size_t index) const { return book_->terms[index]; }
    [[nodiscard]] const term_entry& last() const { return term(terms() - 1); }
    [[nodiscard]] candidate& leader() { return candidates_[last().candidate]; }
    [[nodiscard]] std::size_t leader_number() const { return last().candidate; }

    /// Waits for the first body that begins after so many terms.
    const term_entry& next(std::size_t after)
    {
        BOOST_TEST_REQUIRE(
            eventually([&] { return terms() > after && term(after).begun != 0; }, 20s)
        );
        return term(after);
    }

    /// What the watcher saw, and how late it saw terms begin.
    void check_views()
    {
        const bool saw_all = eventually([this] { return seen_of(last().number) != never; });
        BOOST_TEST(saw_all);
        for (std::size_t i = 1, latest = 0; i < views(); ++i)
        {
            if (view(i).number == 0)
                continue;
            BOOST_TEST(view(i).number > latest);
            latest = view(i).number;
        }
        std::vector<double> delays;
        for (std::size_t i = 0; i < terms(); ++i)
            delays.push_back(between(term(i).begun, seen_of(term(i).number)).count());
        std::ranges::sort(delays);
        BOOST_TEST_MESSAGE(
            "watched: " << delays.size() << " terms, seen after " << delays[delays.size() / 2]
                        << " ms at the median, " << delays.back() << " at most"
        );
        BOOST_TEST(delays.back() <= 50);
    }

    /// Waits until the watcher sees that nobody leads, after the last term. @return When it did.
    moment nobody_leads()
    {
        const auto sees = [this] {
            return seen_of(last().number) != never &&
                   view(views() - 1).state == holding_state::free;
        };
        BOOST_TEST_REQUIRE(eventually(sees, 20s));
        return view(views() - 1).seen;
    }

    /// The rules that hold whatever happens.
    void check() const
    {
        BOOST_TEST_REQUIRE(terms() <= book::max_terms);
        for (std::size_t i = 1; i < terms(); ++i)
        {
            const term_entry& before = term(i - 1);
            BOOST_TEST_CONTEXT("term " << i)
            {
                BOOST_TEST(term(i).number > before.number);
                BOOST_TEST(before.claims_until() <= term(i).begun);
            }
        }
    }

private:
    [[nodiscard]] std::size_t views() const { return book_->view_count; }
    [[nodiscard]] const view_entry& view(std::size_t index) const { return book_->views[index]; }

    static constexpr moment never = std::numeric_limits<moment>::max();

    /// When a term was seen first.
    [[nodiscard]] moment seen_of(std::uint64_t number) const
    {
        for (std::size_t i = 0; i < views(); ++i)
        {
            if (view(i).number == number)
                return view(i).seen;
        }
        return never;
    }

    temp_folder folder_;
    mapped_book book_{folder_.path() / "book"};
    redis_servers servers_{node_count};
    std::deque<candidate> candidates_;
    child_process watcher_;
};

/// Leaders that are stopped in some way, one after the other. @return How long nobody led.
template <class F>
std::vector<double> take_overs(election& on, std::size_t count, F stop)
{
    std::vector<double> without;
    for (std::size_t round = 0; round < count; ++round)
    {
        const std::size_t terms = on.terms();
        const moment stopped = stop();
        without.push_back(between(stopped, on.next(terms).begun).count());
    }
    std::ranges::sort(without);
    return without;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_leader_that_is_killed_is_replaced_after_its_ttl)
{
    election on(5);
    on.start_all();
    on.next(0);

    std::size_t killed = 5;
    const auto without = take_overs(on, rounds(3), [&] {
        if (killed < 5)
            on.start(killed);
        killed = on.leader_number();
        const moment at = now();
        on.leader().process().kill();
        return at;
    });

    const double allowed = (ttl + 50ms).count();
    BOOST_TEST_MESSAGE("killed: " << without.front() << " to " << without.back() << " ms");
    BOOST_TEST(std::ranges::count_if(without, [&](double one) { return one > allowed; }) <= 1);
    BOOST_TEST(without.back() < 3 * allowed);
    on.check();
    on.check_views();
}

BOOST_AUTO_TEST_CASE(a_leader_that_is_frozen_is_replaced_and_stops_when_it_continues)
{
    election on(5);
    on.start_all();
    on.next(0);

    for (std::size_t round = 0; round < rounds(2); ++round)
    {
        const term_entry& old = on.last();
        candidate& frozen = on.leader();
        const std::size_t terms = on.terms();
        frozen.process().pause();
        BOOST_TEST(old.ended == 0);
        const term_entry& next = on.next(terms);
        std::this_thread::sleep_for(3 * ttl - ttl);
        frozen.process().resume();

        BOOST_TEST(eventually([&] { return old.ended != 0; }));
        BOOST_TEST(old.number < next.number);
        // It was frozen, and no overrun: the process lives.
        BOOST_TEST(!frozen.process().has_ended());
    }
    on.check();
    on.check_views();
}

BOOST_AUTO_TEST_CASE(a_leader_that_is_cut_off_has_stopped_when_the_next_one_begins)
{
    election on(5);
    on.start_all();
    on.next(0);

    for (std::size_t round = 0; round < rounds(2); ++round)
    {
        const term_entry& old = on.last();
        candidate& lost = on.leader();
        const std::size_t terms = on.terms();
        lost.cut_off();
        const term_entry& next = on.next(terms);

        BOOST_TEST_REQUIRE(old.ended != 0);
        BOOST_TEST(old.ended <= next.begun);
        BOOST_TEST(old.ended <= old.valid_until);
        lost.reconnect();
    }
    on.check();
    on.check_views();
}

BOOST_AUTO_TEST_CASE(a_leader_that_resigns_is_replaced_at_once_when_its_body_has_ended)
{
    election on(5);
    on.start_all();
    on.next(0);

    const auto without = take_overs(on, rounds(5), [&] {
        const term_entry& old = on.last();
        std::this_thread::sleep_for(400ms);  // All others stand: it pauses for 300 ms at most.
        on.leader().resign();
        BOOST_TEST_REQUIRE(eventually([&] { return old.ended != 0; }));
        return old.ended.load();
    });

    BOOST_TEST(without.front() >= 0);
    BOOST_TEST_MESSAGE(
        "resigned: " << without[without.size() / 2] << " ms at the median, " << without.back()
                     << " at most"
    );
    BOOST_TEST(without[without.size() / 2] <= 100);  // Others that polled would take up to 300 ms.
    on.check();
    on.check_views();
}

BOOST_AUTO_TEST_CASE(a_time_without_a_leader_is_seen)
{
    election on(1);
    on.start_watcher();
    double latest = 0;
    for (std::size_t round = 0; round < rounds(2); ++round)
    {
        const std::size_t terms = on.terms();
        on.start(0);
        const term_entry& led = on.next(terms);
        on.leader().process().kill();
        // Its keys live for a little longer than its lease: by the drift, 1 % and 2 ms.
        const double late = between(led.valid_until, on.nobody_leads()).count();
        BOOST_TEST(late <= (ttl / 100 + 2ms + 50ms).count());
        latest = std::max(latest, late);
    }
    BOOST_TEST_MESSAGE("nobody leads: seen " << latest << " ms after the deadline at most");
    on.check();
    on.check_views();
}

BOOST_AUTO_TEST_CASE(an_overrun_ends_the_process_before_another_one_leads)
{
    for (const std::string kind : {"ignores", "blocks"})
    {
        election on(3);
        on.start_watcher();
        for (std::size_t round = 0; round < rounds(1); ++round)
        {
            BOOST_TEST_CONTEXT("a body that " << kind << ", round " << round)
            {
                std::size_t terms = on.terms();
                candidate& bad = on.start(0, kind);
                const term_entry& late = on.next(terms);
                BOOST_TEST_REQUIRE(late.candidate == 0u);
                candidate& good = on.start(1);
                if (kind == "ignores")
                    bad.cut_off();
                const term_entry& next = on.next(terms + 1);

                BOOST_TEST(next.candidate == 1u);
                BOOST_TEST(late.alive < next.begun);
                BOOST_TEST(eventually([&] { return bad.process().has_ended(); }));
                BOOST_TEST(!bad.process().exit_status().has_value());
                const std::string said =
                    "lead of 'jobs', term " + std::to_string(late.number) + ":";
                BOOST_TEST(contains(bad.output(), said));
                bad.reconnect();
                good.process().kill();
                on.nobody_leads();
            }
        }
        on.check();
    }
}

BOOST_AUTO_TEST_CASE(a_process_may_exit_while_its_body_is_watched)
{
    election on(1);
    for (std::size_t round = 0; round < rounds(2); ++round)
    {
        candidate& exits = on.start(0, "exits");
        BOOST_TEST(eventually([&] { return exits.process().has_ended(); }, 20s));
        BOOST_TEST((exits.process().exit_status() == 0));
    }
}

BOOST_AUTO_TEST_SUITE_END()
