#ifndef REDLOCK_TEST_SIM_SIMULATION_HPP
#define REDLOCK_TEST_SIM_SIMULATION_HPP

#include <redlock/client.hpp>

#include "node/guard.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "sim/calls.hpp"
#include "sim/invariants.hpp"
#include "sim/network.hpp"
#include "sim/plan.hpp"
#include "sim/process.hpp"
#include "sim/processors.hpp"
#include "sim/schedule.hpp"
#include "sim/script_engine.hpp"
#include "sim/server.hpp"
#include "sim/trace.hpp"

namespace redlock::sim {

/// What became of a schedule.
struct outcome
{
    std::uint64_t hash = 0;
    std::size_t events = 0;
    std::size_t claims = 0;
    std::size_t woken = 0;        ///< Rounds of acquisitions that began because a node said so.
    std::size_t old_woken = 0;    ///< Of those, rounds of clients with older scripts.
    std::size_t errors = 0;       ///< Replies of servers, other than those of an impaired one.
    nanoseconds longest_wait{0};  ///< Of those who stood in line.
    nanoseconds longest_lack{0};  ///< Of an extended hold, on a node that voted again.
    std::string figures;          ///< Of a crowd: what its rules are about.
    std::array<std::size_t, fault_count> faults{};
    std::vector<violation> violations;
};

/// A process with a client, and those who work with it.
struct contender
{
    std::unique_ptr<process> in;
    std::optional<redlock::client> locks;
    std::shared_ptr<call<error_code>> run;
    unsigned index = 0;
    std::size_t actors = 0;  ///< That have not ended.
    bool closing = false;
    std::shared_ptr<call<error_code>> close{};  ///< Null: nobody has closed it.
    std::size_t grants = 0;                     ///< Of a resource that all clients want.

    // Of a crowd.
    std::weak_ptr<call_base> asked{};  ///< Its last acquisition.
    nanoseconds waits_since{-1};       ///< Negative: it does not wait.
    nanoseconds longest_wait{0};       ///< That was watched.
    bool is_struck = false;            ///< It was killed or frozen.

    /// Whether new operations make sense.
    [[nodiscard]] bool usable() const noexcept { return locks && in->alive() && !closing; }
};

/** One schedule: servers, a network, clients, those who use them, and what goes wrong.

    Everything is drawn from the seed. After each event the loop runs until it is idle, and then all
    rules are checked.
*/
class simulation
{
public:
    /// @param words Where the trace is told. Null: nowhere.
    /// @param change What a test changes in the plan.
    simulation(
        script_engine& scripts,
        std::uint64_t seed,
        profile of,
        std::ostream* words,
        const std::function<void(plan&)>& change = {}
    );
    simulation(const simulation&) = delete;
    simulation& operator=(const simulation&) = delete;
    ~simulation();

    /// Runs it, once.
    [[nodiscard]] outcome run();

    [[nodiscard]] const plan& drawn() const noexcept { return plan_; }
    [[nodiscard]] schedule& time() noexcept { return time_; }
    [[nodiscard]] server& node(std::size_t index) { return network_->leads_to(index); }
    [[nodiscard]] contender& at(std::size_t index) { return *contenders_[index]; }

private:
    friend class actor;

    // How it begins: simulation.cpp.
    void make_servers();
    [[nodiscard]] std::unique_ptr<server> make_server(std::string name);
    contender& add_contender();
    [[nodiscard]] std::vector<std::size_t> list_of(unsigned client) const;
    void mark_nodes();
    void start_actors(contender& of);
    void limit_reach();

    // How it goes on.
    bool step();
    void run_until(bool (simulation::*done)() const, nanoseconds limit);
    [[nodiscard]] bool actors_ended() const;
    [[nodiscard]] bool probes_ended() const;
    [[nodiscard]] bool clients_ended() const;
    void heal();
    void probe();
    void end_clients();
    void bury_the_dead();
    void count_wakes(const contender& of);
    [[nodiscard]] bool clocks_agree() const;
    void check_what_is_left();

    // Load: load.cpp.
    void tell_load();
    [[nodiscard]] std::size_t workers_of(unsigned client) const;
    [[nodiscard]] nanoseconds stall_end() const noexcept;
    [[nodiscard]] nanoseconds time_for_burst() const noexcept;
    [[nodiscard]] nanoseconds time_for_line(unsigned client) const noexcept;
    void count_grant(contender& of);
    void check_shares();

    // Crowds: crowd.cpp.
    void begin_crowd();
    void tell_crowd();
    void limit_reach_of_crowd();
    void plan_faults_of_crowd();
    void strike(std::size_t client);
    void lose_queue(server& node);
    void count_hand_over(contender& of);
    void end_crowd();
    void check_crowd();
    [[nodiscard]] bool has_ended_crowd() const noexcept;

    // Nodes that are away one after the other: rolling.cpp.
    void begin_rolling();
    void look_at_nodes();
    void end_rolling();
    void send_away(std::size_t node);
    [[nodiscard]] nanoseconds restart(server& node);
    [[nodiscard]] bool all_ready() const;
    [[nodiscard]] bool is_covered() const noexcept;

    // What goes wrong: faults.cpp.
    void plan_next_fault();
    void inflict(fault what);
    void inflict_on_node(fault what, std::size_t node);
    void inflict_on_client(fault what, contender& who);
    void crash(server& node);
    void copy_another(server& node);
    [[nodiscard]] server* replica_of(std::size_t node);
    void fail_over(std::size_t node);
    void go_there_and_back(std::size_t node);
    void hand_over(std::size_t node, server& to);
    void send_errors(server& node);
    void set_clock_back(server& node);
    void set_clock_far_forward(server& node);
    void spoil_queue(server& node);
    void move_majority_forward();
    void delete_a_lock_key();
    void freeze_quorum();
    void destroy_client(contender& who);
    void close_client(contender& who);

    dice dice_;
    plan plan_;
    schedule time_;
    trace trace_;
    script_engine& scripts_;
    std::vector<std::unique_ptr<server>> servers_;   ///< The first masters.
    std::vector<std::unique_ptr<server>> replicas_;  ///< Of each, if it fails over.
    std::optional<invariants> rules_;
    std::optional<processors> processors_;  ///< Of a crowd.
    call_book calls_;
    std::vector<std::unique_ptr<contender>> contenders_;
    std::optional<network> network_;
    std::unique_ptr<asio::io_context> context_;
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> open_;
    std::size_t probes_ = 0;  ///< Under way.

    /// Of `profile::rolling`.
    struct rolling
    {
        std::size_t left = 0;  ///< Absences.
        std::size_t node = 0;  ///< Which is away, or was last.
        bool away = false;
        nanoseconds since{0};  ///< When its absence began.
        nanoseconds over{0};   ///< When it ended.
        nanoseconds next{0};   ///< The next one does not begin before.
    };
    rolling roll_;

    /// Of `profile::crowd`, while it is watched.
    struct watched_crowd
    {
        std::size_t hand_overs = 0;  ///< From one client to another.
        unsigned last = ~0U;         ///< That was granted the resource.
    };
    watched_crowd crowd_;
    bool healed_ = false;
    outcome outcome_;

    // What the assumptions leave.
    nanoseconds clock_back_left_;
    std::vector<bool> far_forward_;
    std::size_t crashed_clients_ = 0;
    session vandal_;
};

}  // namespace redlock::sim

#endif
