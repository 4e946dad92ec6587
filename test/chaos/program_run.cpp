#include "chaos/program_run.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <unistd.h>

#include "chaos/mode.hpp"
#include "chaos/rolling_holders.hpp"
#include "support/child_process.hpp"
#include "support/eventually.hpp"
#include "support/posix.hpp"
#include "support/redis_server.hpp"

namespace redlock::test {

namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

/// From a signal that ends a wrapper to its end. It may have to wait for its command.
constexpr auto time_to_end = 5s;

/// From a signal to the last moment at which a command that was being started may begin.
constexpr auto time_to_begin = 500ms;

/// The longest time in which nobody is granted anything, after all are well again.
constexpr auto time_to_go_on = 20s;

nanoseconds now()
{
    return steady_clock::now().time_since_epoch();
}

/// From and until when.
struct span
{
    nanoseconds from;
    nanoseconds until = nanoseconds::max();
};

/// A command that has run.
struct job_record
{
    std::string resource;
    std::uint64_t token = 0;
    pid_t pid = 0;
    nanoseconds begin{};
    nanoseconds last{};  ///< Until then it has worked, at least.
    std::size_t writes = 0;
    bool fenced = false;
    std::size_t by = 0;  ///< The wrapper.
};

/// A process of `redlock run` or `redlock lead`, and what was done to it.
struct wrapper
{
    std::string command;
    std::string resource;
    std::filesystem::path output;
    child_process process;
    std::vector<span> frozen{};              ///< By STOP: it can't end its command then.
    std::optional<nanoseconds> told_to_end;  ///< By TERM.
    std::optional<nanoseconds> continues_at;
};

std::vector<job_record> read_jobs(const wrapper& from, std::size_t number)
{
    std::vector<job_record> found;
    std::istringstream lines(read_file(from.output));
    for (std::string line; std::getline(lines, line);)
    {
        std::istringstream words(line);
        std::string what;
        words >> what;
        if (what == "begins")
        {
            job_record& begun = found.emplace_back();
            begun.resource = from.resource;
            begun.by = number;
            nanoseconds::rep time = 0;
            words >> begun.pid >> begun.token >> time;
            begun.begin = begun.last = nanoseconds(time);
        }
        else if ((what == "wrote" || what == "FENCED") && !found.empty())
        {
            nanoseconds::rep time = 0;
            words >> time;
            found.back().last = nanoseconds(time);
            found.back().writes += what == "wrote";
            found.back().fenced = what == "FENCED";
        }
    }
    return found;
}

/// The processes, and who harms them.
class program_stage
{
public:
    program_stage(const program_settings& settings, journal& notes)
        : settings_(settings),
          notes_(notes),
          nodes_(settings.nodes, redis_server_options{.storage = redis_storage::every_second}),
          program_(urls()),
          draw_(settings.seed)
    {
        client_config config;
        config.nodes = parse_nodes(urls());
        config.ttl_max = settings.ttl;
        initialize_nodes(config);
        for (std::uint32_t i = 0; i < settings.runs; ++i)
            start("run", "shared:" + std::to_string(i % 2));
        for (std::uint32_t i = 0; i < settings.leads; ++i)
            start("lead", "led:" + std::to_string(i % 2));
    }

    void harm_for(std::chrono::seconds time)
    {
        const auto end = steady_clock::now() + time;
        while (steady_clock::now() < end)
        {
            ::usleep(static_cast<unsigned>(20'000 + draw_() % 60'000));
            continue_some();
            replace_ended();
            harm_one();
        }
        continue_all();
    }

    /// Whether each kind is granted something again.
    void expect_progress()
    {
        const std::size_t runs = count_jobs("run");
        const std::size_t leads = count_jobs("lead");
        const auto goes_on = [&] {
            replace_ended();
            return count_jobs("run") > runs + 4 && count_jobs("lead") > leads + 4;
        };
        if (!eventually(goes_on, time_to_go_on))
            notes_.fault("stuck", "nobody is granted anything");
    }

    /// Ends all as a deployment does.
    void end()
    {
        for (wrapper& each : all_)
            end(each);
        const auto over = [&] {
            return std::ranges::all_of(all_, [](wrapper& each) {
                return each.process.has_ended();
            });
        };
        if (!eventually(over, time_to_end))
            notes_.fault("hangs", "a wrapper doesn't end on TERM");
    }

    void judge(program_report& told)
    {
        std::vector<job_record> jobs;
        for (std::size_t number = 0; number < all_.size(); ++number)
        {
            const wrapper& by = all_[number];
            for (job_record& each : read_jobs(by, number))
            {
                if (by.told_to_end && each.begin > *by.told_to_end + time_to_begin)
                    notes_.fault("begins after TERM", describe(each));
                jobs.push_back(std::move(each));
            }
        }
        told.jobs = jobs.size();
        std::ranges::sort(jobs, [](const job_record& a, const job_record& b) {
            return std::tie(a.resource, a.token) < std::tie(b.resource, b.token);
        });
        for (std::size_t i = 0; i < jobs.size(); ++i)
        {
            told.writes += jobs[i].writes;
            const bool has_next = i + 1 < jobs.size() && jobs[i + 1].resource == jobs[i].resource;
            if (jobs[i].fenced)
                judge_refused(jobs[i], told);
            if (has_next && jobs[i].last > jobs[i + 1].begin)
                judge_overlap(jobs[i], jobs[i + 1], told);
        }
        told.harm = harm_;
    }

private:
    [[nodiscard]] std::string urls() const
    {
        std::string all;
        for (const std::string& url : nodes_.urls())
            all += (all.empty() ? "" : ",") + url;
        return all;
    }

    void start(const std::string& command, const std::string& resource)
    {
        wrapper& made = all_.emplace_back();
        made.command = command;
        made.resource = resource;
        made.output = folder_.path() / std::to_string(all_.size());
        const std::string ttl = std::to_string(settings_.ttl.count()) + "ms";
        made.process = program_.start(
            {command,
             resource,
             "--ttl",
             ttl,
             "--ttl-max",
             ttl,
             "--",
             REDLOCK_PROGRAM_JOB,
             std::to_string(store_.port())},
            made.output
        );
        at_work_.push_back(all_.size() - 1);
    }

    /// A run that has ended is followed by another one.
    void replace_ended()
    {
        for (std::size_t& number : at_work_)
        {
            wrapper& old = all_[number];
            if (!old.process.has_ended())
                check_end(old);
            else
            {
                const std::size_t place = static_cast<std::size_t>(&number - at_work_.data());
                const std::string command = old.command;
                const std::string resource = old.resource;
                start(command, resource);
                at_work_[place] = at_work_.back();
                at_work_.pop_back();
                return;  // The list has changed. The others' turn comes.
            }
        }
    }

    void check_end(wrapper& of)
    {
        if (!of.told_to_end || of.continues_at || now() < *of.told_to_end + time_to_end)
            return;
        notes_.fault("hangs", of.command + " doesn't end on TERM");
        of.process.kill();
    }

    void harm_one()
    {
        wrapper& victim = all_[at_work_[draw_() % at_work_.size()]];
        if (victim.continues_at || victim.process.pid() == 0)
            return;
        switch (draw_() % 12)
        {
        case 0:
        case 1: ++harm_["TERM"]; return end(victim);
        case 2: ++harm_["KILL"]; return victim.process.kill();
        case 3:
        case 4:
            ++harm_["STOP"];
            ::kill(victim.process.pid(), SIGSTOP);
            victim.frozen.push_back({now()});
            return continue_later(victim);
        case 5:
        case 6:
            ++harm_["TSTP"];
            ::kill(victim.process.pid(), SIGTSTP);
            return continue_later(victim);
        case 7:
            ++harm_["CONT"];
            ::kill(victim.process.pid(), SIGCONT);
            return;
        case 8:
            if (draw_() % 8 == 0)
            {
                ++harm_["node frozen"];
                redis_server& node = nodes_[draw_() % nodes_.size()];
                node.pause();
                std::this_thread::sleep_for(milliseconds(draw_() % 1000));
                node.resume();
            }
            return;
        case 9:
            if (draw_() % 16 == 0)
            {
                ++harm_["node restarted"];
                nodes_[draw_() % nodes_.size()].restart();
            }
            return;
        default: return;
        }
    }

    void end(wrapper& victim)
    {
        if (victim.process.pid() == 0)
            return;
        ::kill(victim.process.pid(), SIGTERM);
        if (!victim.told_to_end)
            victim.told_to_end = now();
    }

    void continue_later(wrapper& victim)
    {
        const auto longest = static_cast<unsigned>(2 * settings_.ttl.count());
        victim.continues_at = now() + milliseconds(draw_() % longest);
    }

    void continue_some()
    {
        for (const std::size_t number : at_work_)
        {
            wrapper& each = all_[number];
            if (each.continues_at && now() >= *each.continues_at)
                continue_now(each);
        }
    }

    void continue_all()
    {
        for (const std::size_t number : at_work_)
        {
            if (all_[number].continues_at)
                continue_now(all_[number]);
        }
    }

    static void continue_now(wrapper& stopped)
    {
        stopped.continues_at.reset();
        if (stopped.process.pid() != 0)
            ::kill(stopped.process.pid(), SIGCONT);
        // It takes a moment until its command is ended.
        if (!stopped.frozen.empty() && stopped.frozen.back().until == nanoseconds::max())
            stopped.frozen.back().until = now() + time_to_begin;
        if (stopped.told_to_end)
            stopped.told_to_end = now();
    }

    [[nodiscard]] std::size_t count_jobs(std::string_view command) const
    {
        std::size_t count = 0;
        for (std::size_t number = 0; number < all_.size(); ++number)
            count += all_[number].command == command ? read_jobs(all_[number], number).size() : 0;
        return count;
    }

    /// Whether the wrapper of a command couldn't end it, at some time between two.
    [[nodiscard]] bool was_frozen(const job_record& of, nanoseconds from, nanoseconds until) const
    {
        return std::ranges::any_of(all_[of.by].frozen, [&](const span& each) {
            return each.from < until && from < each.until;
        });
    }

    void judge_refused(const job_record& refused, program_report& told)
    {
        ++told.refused;
        if (!was_frozen(refused, refused.begin, refused.last))
            notes_.fault("worked on", describe(refused) + " was refused by the store");
    }

    void judge_overlap(const job_record& first, const job_record& second, program_report& told)
    {
        ++told.beside;
        if (!was_frozen(first, first.begin, first.last))
            notes_.fault("two at work", describe(first) + " beside " + describe(second));
    }

    [[nodiscard]] std::string describe(const job_record& one) const
    {
        return all_[one.by].command + " " + one.resource + " with token " +
               std::to_string(one.token) + " from " + std::to_string(one.begin.count()) + " to " +
               std::to_string(one.last.count()) + ", log " +
               all_[one.by].output.filename().string();
    }

    const program_settings& settings_;
    journal& notes_;
    temp_folder folder_;
    redis_servers nodes_;
    redis_server store_;
    redlock_program program_;
    std::minstd_rand draw_;
    std::deque<wrapper> all_;
    std::vector<std::size_t> at_work_;  ///< The last process of each kind.
    std::map<std::string, std::size_t> harm_;
};

}  // namespace

program_report run_programs(const program_settings& settings)
{
    journal notes;
    const pulse beats(notes);
    program_report told;
    told.settings = settings;
    program_stage stage(settings, notes);
    stage.harm_for(std::chrono::seconds(settings.seconds));
    stage.expect_progress();
    stage.end();
    stage.judge(told);
    told.longest_stall = beats.longest_stall();
    told.faults = notes.faults();
    told.journal = notes.text();
    return told;
}

std::string describe(const program_report& report)
{
    std::ostringstream text;
    text << "seed " << report.settings.seed << ", " << report.settings.seconds
         << " s: " << report.jobs << " commands, " << report.writes << " writes, " << report.refused
         << " refused and " << report.beside
         << " commands beside others, of wrappers that stood still; longest stall "
         << report.longest_stall.count() << " ms\n";
    for (const auto& [kind, count] : report.harm)
        text << "  " << kind << ": " << count << '\n';
    for (const auto& [kind, count] : report.faults)
        text << "  FAULT " << kind << ": " << count << '\n';
    if (!report.clean())
        text << report.journal;
    text << (report.clean() ? "PASS\n" : "FAIL\n");
    return text.str();
}

}  // namespace redlock::test
