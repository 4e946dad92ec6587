#ifndef REDLOCK_SRC_CLIENT_HOLDS_HPP
#define REDLOCK_SRC_CLIENT_HOLDS_HPP

#include "client/carry_out.hpp"
#include "client/client_loop.hpp"
#include "client/events.hpp"
#include "client/hold.hpp"
#include "client/life.hpp"
#include "client/lines.hpp"
#include "client/rounds.hpp"
#include "client/watchers.hpp"
#include "core/faster_clock.hpp"
#include "loop/deadlines.hpp"
#include "loop/turn.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string_view>
#include <utility>

namespace redlock::detail {

/// Timers stand still while the machine is suspended, so the clock that keeps running is read this
/// often.
inline constexpr core::nanoseconds longest_sleep = std::chrono::milliseconds(500);

/** All holds of a client: extended when due, reported when lost, released at the end.

    One entry in a set for each hold, ordered by when something must be done, and one timer for all.
    That time also passes while the machine is suspended, so a suspension doesn't change the order.
    A lease doesn't need a coroutine or a timer; a coroutine exists while its extension is under
    way. Extensions that are due at about the same time share a turn, so their commands share a
    write.

    A hold is kept alive here until it is over. Used on the strand only.
*/
class holds final : public deadline, private deferred
{
    using in_order_of_age = boost::intrusive::list<upkeep>;

public:
    /// Goes through all holds, the oldest first, in as many turns as its user likes. Meanwhile
    /// holds may come and go.
    class tour : public boost::intrusive::list_base_hook<
                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>>
    {
    public:
        explicit tour(holds& through);

        /// @return Null at the end.
        [[nodiscard]] std::shared_ptr<hold> next();

    private:
        friend class holds;

        holds& through_;
        in_order_of_age::iterator next_;
    };

    holds(
        const client_loop& loop,
        life& of,
        rounds& asking,
        window& extensions,
        lines& waiting,
        watchers& watching,
        events& events
    );

    /// Adds a hold that was just granted, by a round that started at `asked`.
    void add(std::shared_ptr<hold> granted, core::instant asked, core::instant now);

    /// The hold is over. Wakes what waits for that.
    /// @return What kept it, or null. Nothing else may keep it.
    std::shared_ptr<hold> remove(hold& over);

    /// The hold is over, and nobody gave it back. If it had already ended, no loss is reported.
    void lose(hold& held, core::hold_end why);

    /// Its holder is asked to stop: it's no longer extended. Wakes what waits for its loss.
    void revoke(hold& held);
    void revoke(std::string_view resource, fencing_token token);

    /// The last lease of the hold is over. Starts to release its keys.
    /// @return Null if that has been done or can't be done.
    release_round_ptr give_back(hold& held);

    /// Starts to release the keys of what is over.
    release_round_ptr release(const hold& ended);

    /// Extends a hold to `ttl` from now. See extensions.cpp.
    /// @param taken For its round. Empty: it waits for one, until `limit` or the hold
    /// ends.
    [[nodiscard]] task<error_code> extend(
        std::shared_ptr<hold> held,
        milliseconds ttl,
        room taken = {},
        time_point limit = time_point::max()
    );

    /// Another lease asks for automatic extension, or for a longer ttl.
    void extend_by(hold& held, milliseconds ttl);

    /// A lease no longer asks for automatic extension. It continues if others share the hold.
    void extend_no_more(hold& held);

    /// A node has answered an extension of a hold.
    /// @param has_again Whether the key was gone there and has been set again.
    void on_vote(hold& held, std::size_t node, bool granted, bool has_again);

    /// Nodes are ready, perhaps again: has them take again what they may have lost meanwhile, some
    /// holds per turn.
    void on_return(const node_set& nodes);

    /// The last hold of a resource, or null.
    [[nodiscard]] std::shared_ptr<hold> find(const hashed_name& resource) const;

    /// A hold that is due to be extended is admitted.
    void start_extension(const std::shared_ptr<hold>& next, room taken);

    /// Does what is due. Called before anything else that a turn brings: a process that stood still
    /// past a deadline learns that first, not after the replies that have queued up.
    void catch_up();

    [[nodiscard]] std::size_t size() const noexcept { return holds_.size(); }

    /// Forgets all holds, one by one over several turns. Waits for a loss end with
    /// `operation_aborted`.
    void clear();

    /// Destroys the operations that wait for a loss. For the end of the execution context.
    void shut_down() noexcept;

private:
    /// Goes through all holds, because nodes are back.
    struct walk final : deferred
    {
        explicit walk(holds& through) noexcept : holds_(through) {}

        void on_turn_end() override { holds_.go_on(); }

    private:
        holds& holds_;
    };

    struct sooner
    {
        bool operator()(const upkeep& a, const upkeep& b) const noexcept
        {
            return a.look_at < b.look_at;
        }
    };

    struct name_of
    {
        using type = hashed_name;
        const type& operator()(const upkeep& of) const noexcept { return of.name; }
    };

    void on_deadline() override;
    void on_turn_end() override;

    /// When to extend a hold next. Never, if that isn't automatic or is under way.
    [[nodiscard]] core::nanoseconds extension_due(const hold& held) const noexcept;

    // extensions.cpp
    task<error_code> take_again(std::shared_ptr<hold> held, room taken);
    task<result<room>> until_admitted(std::shared_ptr<hold> held, time_point limit);
    task<result<round_ptr>> ask_to_extend(
        std::shared_ptr<hold> held,
        milliseconds ttl,
        room taken,
        bool automatic
    );
    [[nodiscard]] error_code why_not(const hold& held, milliseconds ttl) const;
    [[nodiscard]] milliseconds ttl_to_deadline(const hold& held, core::instant now) const;
    error_code settle(hold& held, const round& asked, milliseconds ttl, core::instant now);
    void tell_of_missing_votes(hold& held);

    void go_on();
    void look();
    void look_at(hold& due, core::instant now);
    void put_in(hold& held, core::instant now);
    void put_again(hold& held, core::instant now);
    void arm(core::instant now);
    void extend_soon(hold& due);
    void tell_of_the_absent(hold& due);
    void set_at_risk(hold& held, std::size_t votes);
    void on_extended(hold& held, core::instant asked, error_code outcome);

    const client_loop& loop_;
    life& life_;
    rounds& rounds_;
    window& extensions_;
    lines& lines_;
    watchers& watchers_;
    events& events_;
    boost::intrusive::multiset<upkeep, boost::intrusive::compare<sooner>> holds_;
    in_order_of_age by_age_;
    boost::intrusive::list<tour, boost::intrusive::constant_time_size<false>> tours_;
    boost::intrusive::set<
        upkeep,
        boost::intrusive::base_hook<named_hook>,
        boost::intrusive::key_of_value<name_of>>
        by_name_;  ///< The last one of each resource.

    walk walk_{*this};
    std::optional<tour> returning_;  ///< How far the walk is.
    node_set returned_;              ///< Of which it tells.
    node_set missed_;                ///< Nodes that a warning has named since their return.
    std::size_t at_risk_ = 0;        ///< Number of holds.

    suspension::list told_;  ///< Operations that waited for a loss and are about to continue.
    std::mt19937_64 jitter_;
    core::faster_clock time_;  ///< Orders the holds.
};

}  // namespace redlock::detail

#endif
