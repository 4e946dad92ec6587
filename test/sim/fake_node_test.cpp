// One model of a node in all tests: the fake node of the unit tests and of `redlock::testing` votes
// as the shipped scripts do. The same random questions are put to both, at the same times.

#include "core/hold_value.hpp"
#include "core/limits.hpp"
#include "core/quarantine.hpp"
#include "node/guard.hpp"
#include "node/pipeline.hpp"
#include "wire/resp_reader.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/dice.hpp"
#include "sim/server.hpp"
#include "testing/fake_node.hpp"
#include "testing/manual_time.hpp"

BOOST_AUTO_TEST_SUITE(test_fake_node)

namespace {

using namespace redlock;
using namespace redlock::sim;
using namespace std::chrono_literals;
using detail::reply;
using detail::verb;

/// A question that keeps its answer.
class kept_answer final : public detail::question
{
public:
    using question::question;

    void on_reply(std::size_t, const reply& answer) noexcept override { told = answer; }
    [[nodiscard]] bool wanted() const noexcept override { return true; }

    reply told;
};

using asked_ptr = boost::intrusive_ptr<kept_answer>;

constexpr std::array keys{"a", "b"};
constexpr std::size_t clients = 3;

/// Those of all clients. Their names order equal arrivals, as the names of the fake nodes do.
std::vector<std::shared_ptr<const detail::guard>> make_guards(const client_config& config)
{
    std::vector<std::shared_ptr<const detail::guard>> made(clients);
    if (config.mode == mode::plain)
        return made;
    for (auto& each : made)
        each = std::make_shared<const detail::guard>(*detail::make_guard(config));
    std::ranges::sort(made, {}, [](const auto& each) { return each->queue_name; });
    return made;
}

/// One client's connection to a simulated server: the shipped commands and scripts.
class scripted_node
{
public:
    scripted_node(server& at, std::shared_ptr<const detail::guard> by)
        : at_(at),
          guard_(std::move(by)),
          asked_(0, std::make_shared<detail::command_encoder>(guard_, false))
    {
        put({"HELLO", "3"});
        if (!guard_)
            return;
        asked_.address_to(guard_->end_of(guard_->fingerprint + at.run_id()));
        put({"SET", guard_->marker_key, guard_->fingerprint + at.run_id()});
        put({"SUBSCRIBE", guard_->channel()});
        session_->output.clear();
    }

    answer put(const arguments& command) { return at_.execute(*session_, command); }

    void ask(const asked_ptr& what)
    {
        asked_.add(what);
        while (const detail::request* const made = asked_.take_batch())
        {
            const std::string replies = at_.receive(*session_, made->payload());
            std::string_view input = replies;
            while (const auto part = reader_.next(input))
            {
                if (part->pushed)
                    woken_ = true;
                else
                    asked_.read(*part);
            }
        }
    }

    /// Whether its client was woken since the last call.
    [[nodiscard]] bool take_wake()
    {
        const bool told = !std::exchange(session_->output, {}).empty();
        return std::exchange(woken_, false) || told;
    }

    [[nodiscard]] const detail::guard& guarded() const noexcept { return *guard_; }

private:
    server& at_;
    std::shared_ptr<session> session_ = std::make_shared<session>();
    std::shared_ptr<const detail::guard> guard_;
    detail::pipeline asked_;
    detail::resp::reader reader_;
    bool woken_ = false;  ///< By its own question.
};

/// What a client is told by its node, as far as it matters here.
struct woken_client final : detail::node::owner
{
    void on_node_change() override {}
    void on_node_stopped() override {}
    void on_news(std::size_t, const detail::news& told) override
    {
        woken |= told.what == detail::news::kind::free;
    }

    bool woken = false;
};

/// A real model and a fake one of the same node, and what clients ask both.
class two_models
{
public:
    two_models(mode how, std::uint64_t seed) : chance_(seed), mode_(how)
    {
        client_config config;
        config.mode = how;
        config.nodes = parse_nodes("redis://n1");
        config.node_timeout = 220ms;  // A reservation ends between two steps of the time.
        fake_server_->queues.reservation = core::reservation_for(config.node_timeout);
        fake_server_->guard.window = config.clock_window;
        fake_server_->guard.quarantine = core::quarantine_for(config.ttl_max, config.clock_window);
        const auto guards = make_guards(config);
        for (std::size_t i = 0; i < clients; ++i)
        {
            scripted_.push_back(std::make_unique<scripted_node>(server_, guards.at(i)));
            fakes_.push_back(std::make_shared<testing::fake_node>(
                0, world_, std::make_shared<testing::journal>(), fake_server_
            ));
            fakes_.back()->start(clients_.emplace_back(std::make_shared<woken_client>()));
        }
        settle();
    }

    void run(std::size_t steps)
    {
        while (steps-- > 0 && trouble_.empty())
            step();
    }

    /// What they differ in. Empty: nothing.
    [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }

private:
    void step()
    {
        switch (chance_.below(12))
        {
        case 0:
        case 1:
        case 2: return pass(10ms * static_cast<int>(1 + chance_.below(20)));
        case 3: return meddle();
        default: return ask();
        }
    }

    /// Times are multiples of 10 ms, and each life ends between two of them: to which side a key
    /// falls at its last millisecond is for the differential test.
    void pass(nanoseconds by)
    {
        world_->after(by, []() {});
        settle();
    }

    void settle()
    {
        while (world_->step())
        {
        }
    }

    void meddle()
    {
        const std::string key = keys.at(chance_.below(keys.size()));
        switch (chance_.below(mode_ == mode::guarded ? 6 : 4))
        {
        case 0:
            scripted_[0]->put({"DEL", key});
            fake_server_->store.erase(key);
            break;
        case 1:
            scripted_[0]->put({"SET", key, "foreign", "PX", "75"});
            fake_server_->store.put(key, "foreign", 75ms, world_->elapsed());
            break;
        case 2:
            scripted_[0]->put({"SET", key, "foreign"});
            fake_server_->store.put(key, "foreign", forever, world_->elapsed());
            break;
        case 3: return forget();
        case 4:
            fake_server_->guard.marked = !fake_server_->guard.marked;
            mark(fake_server_->guard.marked);
            break;
        case 5: return begin_quarantine();
        }
    }

    void begin_quarantine()
    {
        scripted_[0]->put({"SET", scripted_[0]->guarded().quarantine_key, "1", "PX", "35"});
        fake_server_->guard.quarantined_until = world_->elapsed() + 35ms;
    }

    /// As after a failover to a replica that had nothing.
    void forget()
    {
        scripted_[0]->put({"FLUSHALL"});
        fake_server_->forget();
        if (mode_ == mode::plain)
            return;
        mark(fake_server_->guard.marked);
        begin_quarantine();
    }

    void mark(bool marked)
    {
        const detail::guard& by = scripted_[0]->guarded();
        if (marked)
            scripted_[0]->put({"SET", by.marker_key, by.fingerprint + server_.run_id()});
        else
            scripted_[0]->put({"DEL", by.marker_key});
    }

    void ask()
    {
        const std::size_t client = chance_.below(clients);
        const asked_ptr first = draw(client);
        const asked_ptr second = copy(*first);
        scripted_[client]->ask(first);
        if (const auto at_once = fakes_[client]->ask(second))
            second->told = *at_once;
        settle();
        compare(*first, first->told, second->told);
        for (std::size_t i = 0; i < clients; ++i)
        {
            const bool woken = std::exchange(clients_.at(i)->woken, false);
            if (scripted_[i]->take_wake() != woken)
                trouble_ += describe(*first) + ": only " + (woken ? "the fake" : "the real") +
                            " node wakes client " + std::to_string(i);
        }
    }

    asked_ptr draw(std::size_t client)
    {
        constexpr std::array verbs{
            verb::acquire,
            verb::acquire,
            verb::acquire,
            verb::extend,
            verb::extend,
            verb::release,
            verb::finish,
            verb::holder,
            verb::inspect,
            verb::restore,
            verb::leave,
            verb::revoke,
            verb::keep,
            verb::free,
            verb::undo
        };
        const bool guarded = mode_ == mode::guarded;
        const verb what = verbs.at(chance_.below(verbs.size() - (guarded ? 0 : 6)));
        const auto about = draw_attempt(client, what == verb::acquire);
        const bool timed = what == verb::extend || what == verb::revoke || what == verb::keep;
        const std::uint64_t stamp = timed ? draw_stamp() : about->token.value();
        const milliseconds ttl = 10ms * static_cast<int>(2 + chance_.below(30)) + 5ms;
        detail::wording says{++serial_, what, about, ttl, guarded ? stamp : 0};
        const bool releases = detail::rules_of(what).gives_back;
        if (what == verb::keep)
            says.at_least = 20ms * static_cast<int>(chance_.below(30)) + 5ms;
        if (guarded && (what == verb::acquire || releases) && chance_.below(3) != 0)
        {
            const bool leaves = releases && chance_.below(2) == 0;
            if (leaves)
                says.entry.move = core::queue_move::leave;
            else
                says.entry = {core::queue_move::keep, arrival(stamp)};
        }
        if (guarded && what == verb::extend && chance_.below(2) == 0)
            says.announced = std::make_shared<detail::announcement>(
                detail::announcement{"note " + std::to_string(serial_), draw_stamp()}
            );
        return detail::question::keep(std::make_shared<kept_answer>(std::move(says)));
    }

    /// One of few, so that questions meet. Acquisitions are new ones as a rule.
    std::shared_ptr<const detail::attempt> draw_attempt(std::size_t client, bool mostly_new)
    {
        auto& known = attempts_.at(client);
        if (!known.empty() && (!mostly_new || chance_.below(4) == 0))
            return known.at(chance_.below(known.size()));
        auto made = std::make_shared<detail::attempt>();
        made->of = std::make_shared<detail::demand>(
            keys.at(chance_.below(keys.size())),
            acquire_options{.note = "of " + std::to_string(serial_)}
        );
        const std::string name = std::to_string(++serial_);
        made->id.fill('a');
        std::ranges::copy(name, made->id.begin());
        if (mode_ == mode::guarded)
            made->token = fencing_token::from_value(draw_stamp());
        if (known.size() == 3)
            known.erase(known.begin());
        return known.emplace_back(std::move(made));
    }

    /// About now, and sometimes out of the window. Tokens differ from each other.
    std::uint64_t draw_stamp()
    {
        constexpr std::array offsets{-600ms, -400ms, -20ms, 0ms, 0ms, 0ms, 0ms, 20ms, 400ms, 600ms};
        const auto now = testing::beginning_of_time + world_->elapsed();
        const auto offset = offsets.at(chance_.below(offsets.size()));
        return static_cast<std::uint64_t>(
            std::chrono::floor<std::chrono::microseconds>(now + offset).count() +
            static_cast<std::int64_t>(++serial_ % 1000)
        );
    }

    /// An acquisition that arrives now has its token for a stamp of arrival.
    std::uint64_t arrival(std::uint64_t stamp)
    {
        return chance_.below(2) == 0 ? stamp : draw_stamp();
    }

    static asked_ptr copy(const kept_answer& of)
    {
        return detail::question::keep(std::make_shared<kept_answer>(of.says()));
    }

    /// All but the names of the clients.
    static bool is_same_value(const std::string& scripted, const std::string& fake)
    {
        const core::hold_value one = core::read_hold_value(scripted);
        const core::hold_value other = core::read_hold_value(fake);
        return one.id == other.id && one.token == other.token && one.stamp == other.stamp &&
               one.note == other.note;
    }

    void compare(const kept_answer& asked, const reply& scripted, const reply& fake)
    {
        const auto close_to = [](auto a, auto b) {
            return a.has_value() == b.has_value() && (!a || abs(*a - *b) <= 1ms);
        };
        if (scripted.vote == fake.vote && scripted.why == fake.why &&
            close_to(scripted.held_for, fake.held_for) &&
            close_to(scripted.ready_in, fake.ready_in) && scripted.fence == fake.fence &&
            scripted.position == fake.position && scripted.node_time == fake.node_time &&
            scripted.waiting == fake.waiting && is_same_value(scripted.text, fake.text))
            return;
        std::ostringstream told;
        told << describe(asked) << "\n  scripts: ";
        print(told, scripted);
        told << "\n  fake:    ";
        print(told, fake);
        trouble_ += told.str();
    }

    [[nodiscard]] std::string describe(const kept_answer& asked) const
    {
        std::ostringstream told;
        told << "verb " << static_cast<int>(asked.what()) << " of " << asked.key() << " with "
             << asked.stamp() << " at " << world_->elapsed() / 1ms << " ms";
        if (asked.entry().move == core::queue_move::keep)
            told << ", arrived " << asked.entry().arrival;
        return told.str();
    }

    static void print(std::ostream& to, const reply& what)
    {
        to << what.vote << ' ' << to_string(what.why) << ", held for "
           << (what.held_for ? what.held_for->count() : -1) << ", ready in "
           << (what.ready_in ? what.ready_in->count() : -1) << ", fence " << what.fence
           << ", position " << what.position.value_or(0) << ", time "
           << (what.node_time ? what.node_time->count() : -1) << ", " << what.waiting << " wait, "
           << what.text;
    }

    dice chance_;
    mode mode_;
    std::shared_ptr<schedule> world_ = std::make_shared<schedule>();
    trace trace_{*world_};
    script_engine scripts_;
    server server_{*world_, scripts_, trace_, {}, 1};
    std::shared_ptr<testing::fake_server> fake_server_ = std::make_shared<testing::fake_server>();
    std::vector<std::unique_ptr<scripted_node>> scripted_;
    std::vector<std::shared_ptr<testing::fake_node>> fakes_;
    std::vector<std::shared_ptr<woken_client>> clients_;
    std::array<std::vector<std::shared_ptr<const detail::attempt>>, clients> attempts_;
    std::uint64_t serial_ = 0;
    std::string trouble_;
};

void compare_models(mode how)
{
    for (std::uint64_t seed = 1; seed <= 2000; ++seed)
    {
        two_models both(how, seed);
        both.run(60);
        BOOST_TEST_REQUIRE(both.trouble().empty(), "seed " << seed << ": " << both.trouble());
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_fake_node_votes_as_the_guarded_scripts_do)
{
    compare_models(mode::guarded);
}

BOOST_AUTO_TEST_CASE(the_fake_node_votes_as_the_plain_commands_do)
{
    compare_models(mode::plain);
}

BOOST_AUTO_TEST_SUITE_END()
