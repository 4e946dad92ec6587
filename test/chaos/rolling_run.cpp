#include "chaos/rolling_run.hpp"

#include <redlock/config.hpp>

#include "core/quarantine.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "chaos/mode.hpp"
#include "chaos/rolling_holders.hpp"
#include "chaos/wall_clock.hpp"
#include "support/eventually.hpp"
#include "support/redis_server.hpp"

namespace redlock::test {

namespace {

using namespace std::chrono_literals;

/// Longer than clients take to connect and to take their holds again.
constexpr std::chrono::seconds patience = 30s;

/// The nodes of a run.
class rolling_nodes
{
public:
    explicit rolling_nodes(const rolling_settings& settings) : settings_(settings)
    {
        const bool keeps = settings.how == "appendonly";
        if (!keeps && settings.how != "none" && settings.how != "frozen")
            throw std::invalid_argument("nodes can't be '" + settings.how + "'");
        for (std::uint32_t index = 0; index < settings.nodes; ++index)
        {
            wall_clock& clock = clocks_.emplace_back();
            clock.set_offset(index * settings.spread);
            nodes_.emplace_back(redis_server_options{
                .storage = keeps ? redis_storage::every_second : redis_storage::none,
                .environment = clock.environment(),
            });
        }
        initialize_nodes(config());
    }

    /// Takes a node away, and returns when it is back.
    void take_away(std::size_t index)
    {
        redis_server& node = nodes_[index];
        if (settings_.how != "frozen")
            return node.restart();
        node.pause();
        std::this_thread::sleep_for(settings_.ttl_max + 2s);
        node.resume();
    }

    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }

    [[nodiscard]] std::string urls() const
    {
        std::string all;
        for (const redis_server& node : nodes_)
            all += (all.empty() ? "" : ",") + node.url();
        return all;
    }

    [[nodiscard]] client_config config() const
    {
        client_config made;
        made.nodes = parse_nodes(urls());
        made.ttl_max = settings_.ttl_max;
        return made;
    }

private:
    const rolling_settings& settings_;
    std::deque<wall_clock> clocks_;
    std::deque<redis_server> nodes_;
};

/// What `redlock show` says about a resource.
struct shown
{
    std::string state;
    std::string token;
    std::string nodes;  ///< "2 of 3".
};

/// Looks at resources as an operator does.
class operator_view
{
public:
    operator_view(
        const redlock_program& program,
        const rolling_settings& settings,
        const std::vector<std::string>& resources,
        journal& notes
    )
        : program_(program), resources_(resources), notes_(notes)
    {
        arguments_ = {"show", "--ttl-max", std::to_string(settings.ttl_max.count()) + "ms"};
        arguments_.insert(arguments_.end(), resources.begin(), resources.end());
        const std::string count = std::to_string(settings.nodes);
        all_ = count + " of " + count;
    }

    /// Waits until all nodes have what is held. @return Whether they do.
    [[nodiscard]] bool all_nodes_have_all(std::chrono::milliseconds limit)
    {
        const auto have = [this] {
            now_ = look();
            return now_.size() == resources_.size() &&
                   std::ranges::all_of(now_, [this](const shown& each) {
                       return each.state == "held" && each.nodes == all_;
                   });
        };
        if (eventually(have, limit))
            return true;
        for (std::size_t i = 0; i < now_.size(); ++i)
        {
            if (now_[i].nodes != all_)
                notes_.fault("not all nodes", resources_[i] + ": " + now_[i].nodes);
        }
        return false;
    }

    /// Takes note of the resources that have changed hands since the first call.
    void check_tokens()
    {
        if (first_.empty())
            first_ = now_;
        for (std::size_t i = 0; i < now_.size(); ++i)
        {
            if (now_[i].token != first_[i].token)
                notes_.fault("token changed", resources_[i]);
        }
    }

private:
    [[nodiscard]] std::vector<shown> look() const
    {
        const temp_folder folder;
        child_process asks = program_.start(arguments_, folder.path() / "output");
        static_cast<void>(eventually([&] { return asks.has_ended(); }, patience));
        std::istringstream lines(read_file(folder.path() / "output"));
        std::vector<shown> found;
        for (std::string line; std::getline(lines, line);)
        {
            std::vector<std::string> cells;
            std::istringstream in(line);
            for (std::string cell; std::getline(in, cell, '\t');)
                cells.push_back(cell);
            if (cells.size() == 8)
                found.push_back({cells[1], cells[3], cells[7]});
        }
        return found;
    }

    const redlock_program& program_;
    const std::vector<std::string>& resources_;
    journal& notes_;
    std::vector<std::string> arguments_;
    std::string all_;
    std::vector<shown> first_;
    std::vector<shown> now_;
};

/// One run, all of it.
class rolling
{
public:
    explicit rolling(const rolling_settings& settings) : settings_(settings), nodes_(settings) {}

    rolling_report run()
    {
        report_.settings = settings_;
        report_.holds = holders_.resources().size();
        if (view_.all_nodes_have_all(patience))
        {
            view_.check_tokens();
            rolling_waiters waiters(settings_, nodes_.config(), holders_.resources(), notes_);
            // An operator takes no other node away while something is missing.
            for (std::size_t turn = 0; turn < settings_.rounds * nodes_.size(); ++turn)
            {
                if (!roll(turn % nodes_.size()))
                    break;
            }
            waiters.may_be_granted();
            holders_.end();
            waiters.wait_for_all();
        }
        report_.longest_stall = pulse_.longest_stall();
        report_.faults = notes_.faults();
        report_.journal = notes_.text();
        return report_;
    }

private:
    /// Takes a node away. @return Whether all have all again.
    bool roll(std::size_t node)
    {
        notes_.note("node " + std::to_string(node) + " goes");
        nodes_.take_away(node);
        notes_.note("node " + std::to_string(node) + " is back");
        const auto back = std::chrono::steady_clock::now();
        const milliseconds quarantine =
            core::quarantine_for(settings_.ttl_max, client_config().clock_window);
        const bool all = view_.all_nodes_have_all(quarantine + patience);
        report_.returns.push_back(
            std::chrono::round<milliseconds>(std::chrono::steady_clock::now() - back)
        );
        notes_.note(all ? "all nodes have all" : "NOT all nodes have all");
        view_.check_tokens();
        holders_.check_programs();
        if (all && !eventually([this] { return holders_.all_have_all_votes(); }, 2s))
            notes_.fault("votes missing", "a client doesn't know what all nodes have");
        return all;
    }

    const rolling_settings& settings_;
    journal notes_;
    pulse pulse_{notes_};
    rolling_nodes nodes_;
    redlock_program program_{nodes_.urls()};
    rolling_holders holders_{settings_, nodes_.config(), program_, notes_};
    operator_view view_{program_, settings_, holders_.resources(), notes_};
    rolling_report report_;
};

}  // namespace

rolling_report run_rolling(const rolling_settings& settings)
{
    return rolling(settings).run();
}

std::string describe(const rolling_report& report)
{
    const rolling_settings& how = report.settings;
    std::vector<milliseconds> sorted = report.returns;
    std::ranges::sort(sorted);
    std::ostringstream out;
    out << how.nodes << " nodes, " << how.how << ", " << how.rounds << " rounds, " << how.waiters
        << " waiters, clocks " << how.spread.count() << " ms apart: " << report.holds
        << " holds, nodes away " << sorted.size() << " times";
    if (!sorted.empty())
    {
        out << ", have all again after " << sorted[sorted.size() / 2].count() << " ms (median), "
            << sorted.back().count() << " ms (longest)";
    }
    out << "; machine stalled for up to " << report.longest_stall.count() << " ms";
    if (report.clean())
        out << "; 0 lost, 0 tokens changed, 0 granted to others";
    for (const auto& [kind, count] : report.faults)
        out << "; " << count << " " << kind;
    out << '\n';
    if (!report.clean())
        out << report.journal;
    return out.str();
}

}  // namespace redlock::test
