#ifndef REDLOCK_TEST_SIM_INVARIANTS_HPP
#define REDLOCK_TEST_SIM_INVARIANTS_HPP

#include <redlock/fence_check.hpp>
#include <redlock/holding.hpp>
#include <redlock/lease.hpp>
#include <redlock/options.hpp>

#include "core/token_clock.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/calls.hpp"
#include "sim/endings.hpp"
#include "sim/plan.hpp"
#include "sim/process.hpp"
#include "sim/server.hpp"

namespace redlock::sim {

/// A rule that was broken.
struct violation
{
    std::string rule;  ///< I1 to I22, as in test/README.md.
    std::string words;
    nanoseconds when{0};
};

/// A lease that somebody holds, and believes in for as long as it is valid.
struct claim
{
    const redlock::lease* held = nullptr;
    const process* in = nullptr;
    unsigned client = 0;
    std::string resource{};
    redlock::owner owner = redlock::owner::none;
    fencing_token token{};
    milliseconds grace{0};
    std::shared_ptr<call<error_code>> wait_lost{};  ///< Null: nobody waits.
    bool closing = false;                           ///< Its client gives leases back by itself.
    bool seen_over = false;

    /// It is extended until its holder ends it.
    bool extended = false;
    bool cut_short = false;  ///< It was told so.

    /// Each node that was away since has granted it, or its own acquisition did without that node.
    bool covered = true;
    nanoseconds lacks_since{-1};  ///< Since when some node lacks it that may vote. Negative: none.
};

/** The rules that hold at every moment of a schedule, and what has to be known to check them.

    The names are those of test/README.md.
*/
class invariants
{
public:
    /// The servers behind each node.
    using node_list = std::vector<std::vector<const server*>>;

    invariants(const plan& of, schedule& time, trace& told, node_list nodes);
    invariants(const invariants&) = delete;
    invariants& operator=(const invariants&) = delete;

    using claim_ptr = std::shared_ptr<claim>;

    // What the workload tells.

    /// The highest token of an acquisition that has ended.
    [[nodiscard]] fencing_token highest(const std::string& resource) const;

    /// A lease was handed out.
    /// @param before What `highest` said when it was asked for.
    claim_ptr begin(claim granted, fencing_token before);
    void end(const claim_ptr& of);
    void client_is_closing(unsigned client);
    void set_wait_lost(claim& of, std::shared_ptr<call<error_code>> wait) const
    {
        of.wait_lost = std::move(wait);
    }

    /// A node's clock was set so far that no quorum has it any more.
    void exclude(const server& stepped) { excluded_.push_back(&stepped); }

    /// The fenced store. @return The version read, or nothing for a token that is too low.
    std::optional<std::uint64_t> read_store(const std::string& resource, fencing_token token);
    bool write_store(const std::string& resource, fencing_token token, std::uint64_t based_on);

    /// The same without a token.
    std::uint64_t read_unfenced(const std::string& resource);
    void write_unfenced(const std::string& resource, std::uint64_t based_on);

    /// A key of a server is about to change.
    void on_change(const key_change& change);

    /// A server has run a command.
    void on_run(const command_run& run);

    // The rules that need to be checked after every event.
    void check();

    // The others.
    void i6_no_key_is_left(bool calm);
    void i8_every_call_has_completed_once(const call_book& calls);
    void i9_is_alive(bool acquired, std::string_view how);

    /// A client has waited since the last fault, or since it asked if that was later.
    void i9_waits_in_bounds(nanoseconds waited, nanoseconds allowed);

    /// One of a burst was granted, so long after the end of a stall.
    void i11_goodput_returns(nanoseconds after, nanoseconds stall, nanoseconds least);

    /// @param grants Of each client, while all of them had somebody in line.
    void i12_shares_are_alike(std::span<const std::size_t> grants);

    /// A client has closed, successfully, and all nodes answer.
    /// @param excused Nodes that it lost a connection to, in plain mode.
    void i13_nothing_of_nobody_is_left(
        unsigned client,
        std::span<const server* const> excused = {}
    );

    /// An inspection has ended. The claim was valid before it and after it.
    void i14_a_view_fits(const claim& of, const holding& seen);

    void i15_a_revoked_claim_has_ended(const claim& of);

    /// A revocation has succeeded. @param until What it says, in the world's time.
    void i15_ends_by(const std::string& resource, fencing_token token, nanoseconds until);

    /// A claim was lost. @param until The end of its grace, in the world's time.
    void i16_begin_grace(const std::string& resource, fencing_token token, nanoseconds until);

    /// The holder ends what it may have lost, by a release or with the end of its body.
    void end_grace(const claim& of) { graces_.erase({of.resource, of.token}); }

    /// A quorum has confirmed a release. @param until Of the nodes, since the epoch.
    void i17_keeps_until(
        const std::string& resource,
        fencing_token token,
        std::chrono::microseconds until
    );

    /// A client begins or has ended to free what is kept. A command that is late may do so much
    /// later, but frees nothing that was not there until then.
    void begin_free(const std::string& resource)
    {
        freed_[resource] = fencing_token::from_value(core::token_end - 1);
    }
    void end_free(const std::string& resource) { freed_[resource] = highest(resource); }

    /// From now on nodes are away one after the other, or no longer.
    void i19_begin() { rolls_ = true; }
    void i19_end() { rolls_ = false; }

    /// A holder is asked to stop, or may be.
    void i19_excuse(const std::string& resource, fencing_token token)
    {
        excused_.emplace(resource, token);
    }

    /// Whether all nodes have every extended claim, and have granted it since a time. Each may lack
    /// that for a while.
    [[nodiscard]] bool i19_all_stand(nanoseconds since);

    /// Some node may not vote, so none is expected to take anything again.
    void i19_wait();

    /// Whether the nodes came back to all clients.
    void i19_nodes_return(bool returned);

    /// A crowd was watched. @param fair What a hand-over takes, as processors and ways allow.
    void i20_hand_overs_keep_their_rate(
        std::size_t hand_overs,
        nanoseconds watched,
        nanoseconds fair
    );

    /// @param grants Of clients of a crowd that nothing tells apart.
    void i21_equals_share_alike(std::span<const std::size_t> grants);

    /// @param round In which each client of the crowd has its turn.
    void i22_nobody_is_left_out(unsigned client, nanoseconds waited, nanoseconds round);

    [[nodiscard]] nanoseconds longest_lack() const noexcept { return longest_lack_; }

    [[nodiscard]] const std::vector<violation>& violations() const noexcept { return found_; }
    [[nodiscard]] std::size_t claims() const noexcept { return begun_; }

private:
    struct store
    {
        fence_check fence;
        std::uint64_t version = 0;
    };

    /// What is known of the tokens of a resource.
    struct tokens
    {
        fencing_token highest{};
        unsigned client = 0;
        redlock::owner owner = redlock::owner::none;
    };

    void i1_valid_claims_are_disjoint();
    void i2_a_quorum_holds_the_attempt(claim& of);
    void i3_tokens_increase(const claim& granted, fencing_token before);
    void i4_no_update_is_lost(const store& of, std::uint64_t based_on, std::string_view who);
    void i5_only_its_own_key(const key_change& change);
    void i6_keys_end_with_their_ttl(const key_change& change);
    void i7_a_loss_is_told_in_time(const claim& of);
    void i16_note_loss(const claim& of);
    void i16_a_grace_is_over(const claim& granted);
    void i17_the_time_has_passed(const claim& granted);
    void i18_nothing_comes_after_a_release(const key_change& change);
    void i19_no_extended_claim_is_lost(const claim& of, bool valid);
    [[nodiscard]] bool i19_stands(const claim& of, nanoseconds since) const;
    void i7_a_loss_is_final(claim& of, bool valid);

    [[nodiscard]] bool valid(claim& of) const;
    [[nodiscard]] bool backs(const server& node, const claim& of, nanoseconds until) const;
    [[nodiscard]] bool is_shut(const server& node, nanoseconds until) const;
    void break_rule(const char* rule, std::string words);

    const plan& plan_;
    schedule& time_;
    trace& trace_;
    node_list nodes_;
    endings endings_;
    milliseconds marks_live_;  ///< Those of holds that are over.
    std::vector<const server*> excluded_;
    std::vector<claim_ptr> claims_;
    std::vector<claim*> valid_;  ///< Of one check.
    std::map<std::string, tokens, std::less<>> tokens_;
    std::map<std::string, store, std::less<>> stores_;
    std::map<std::pair<std::string, fencing_token>, nanoseconds> revoked_;  ///< When they end.
    std::map<std::pair<std::string, fencing_token>, nanoseconds> graces_;   ///< When they end.
    std::map<std::string, std::pair<fencing_token, std::chrono::microseconds>>
        kept_;                                                 ///< Until when.
    std::map<std::string, fencing_token, std::less<>> freed_;  ///< Up to this one.
    bool rolls_ = false;
    std::set<std::pair<std::string, fencing_token>> excused_;
    std::map<std::pair<const server*, std::string>, nanoseconds> last_set_;  ///< Of lock keys.
    nanoseconds longest_lack_{0};
    std::size_t begun_ = 0;
    std::vector<violation> found_;
};

}  // namespace redlock::sim

#endif
