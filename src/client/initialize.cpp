#include <redlock/initialize.hpp>

#include "client/validate.hpp"
#include "core/overlap.hpp"
#include "loop/randomness.hpp"
#include "node/redis_link.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/error.hpp>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace redlock::detail {

/** Looks at all nodes and then marks them, each on its own connection.

    Used on the strand only, after it was started. The links keep it alive until they have ended,
    not the other way round, or an ending context would leave both behind.
*/
class initializer : public std::enable_shared_from_this<initializer>
{
public:
    initializer(asio::any_io_executor executor, client_config config, diagnostics* report)
        : ground_(make_ground(std::move(executor))),
          config_(std::move(config)),
          group_(make_link_group(config_)),
          report_(report),
          votes_(config_.nodes.size())
    {
    }

    /// Starts on the strand. Before that, only a cancellation is used there.
    void start(asio::any_completion_handler<void(error_code)> handler)
    {
        handler_ = std::move(handler);
        const std::shared_ptr<const strand_type> strand(shared_from_this(), &ground_.strand);
        if (const auto slot = asio::get_associated_cancellation_slot(handler_); slot.is_connected())
            connect(slot, strand, [weak = weak_from_this()]() {
                if (const auto alive = weak.lock())
                    alive->finish(asio::error::operation_aborted);
            });
        enter(ground_.strand, [self = shared_from_this()]() { self->look(); });
    }

private:
    /// Listens to one link, which keeps it.
    class listener final : public redis_link::owner
    {
    public:
        listener(std::shared_ptr<initializer> of, std::size_t node)
            : of_(std::move(of)), node_(node)
        {
        }

        void on_ready(admission what) override { of_->on_answer(node_, {what.marker, {}}); }
        void on_end(link_end why) override { of_->on_end(node_, why); }
        void on_mark_answered(not_marked why) override { of_->on_answer(node_, why); }

    private:
        std::shared_ptr<initializer> of_;
        std::size_t node_;
    };

    void look()
    {
        if (!handler_)
            return;  // Cancelled.
        if (config_.mode == mode::plain)
            return finish(error::invalid_argument);

        const attempt_id note = random_ids().next();
        group_.seal.assign(note.begin(), note.end());
        open_ = votes_.size();
        for (std::size_t node = 0; node < votes_.size(); ++node)
        {
            const node_config& each = config_.nodes[node];
            votes_[node].node = each.name();
            const auto link =
                make_redis_link(ground_, group_, node, each, std::make_shared<name_lookup>(each));
            links_.push_back(link);
            link->start(std::make_shared<listener>(shared_from_this(), node));
        }
    }

    void on_answer(std::size_t node, const not_marked& why)
    {
        if (!why.error.empty())
            return note(node, vote::refused, reason::error_reply, "was not marked: " + why.error);
        if (!why.marker.empty())
            return note(node, vote::denied, reason::in_use, "was in use before: " + why.marker);
        note(node, vote::granted, reason::none, {});
    }

    void on_end(std::size_t node, const link_end& why)
    {
        votes_[node].code = why.code;
        if (why.refused)
            return note(node, vote::refused, why.refused.why, why.refused.text);
        note(node, vote::unknown, reason::down, {});
    }

    /// Takes one node's answer to what is under way. A node that is lost after its answer counts as
    /// lost.
    void note(std::size_t node, vote said, reason why, std::string text)
    {
        if (!handler_)
            return;
        node_vote& to = votes_[node];
        const bool first = !to.vote;
        to.vote = said;
        to.reason = why;
        to.text = std::move(text);
        if (first && --open_ == 0)
            on_all_answered();
    }

    void on_all_answered()
    {
        if (const error_code ec = verdict(); ec || marking_)
            return finish(ec);

        marking_ = true;
        open_ = votes_.size();
        for (node_vote& each : votes_)
            each.vote.reset();
        for (const auto& each : links_)
        {
            if (const auto link = each.lock())
                link->mark();
        }
    }

    [[nodiscard]] error_code verdict() const
    {
        const auto any = [this](vote said) {
            return std::ranges::count(votes_, said, &node_vote::vote) > 0;
        };
        if (any(vote::denied))
            return error::already_initialized;
        if (any(vote::refused))
            return error::node_rejected;
        return any(vote::unknown) ? error_code(error::quorum_unreachable) : error_code();
    }

    void finish(error_code outcome)
    {
        if (!handler_)
            return;
        if (report_)
            *report_ = {votes_.size(), 1, votes_};
        for (const auto& each : std::exchange(links_, {}))
        {
            if (const auto link = each.lock())
                link->close();
        }
        std::exchange(handler_, nullptr)(outcome);
    }

    ground ground_;
    client_config config_;
    link_group group_;
    diagnostics* report_;
    asio::any_completion_handler<void(error_code)> handler_;  ///< Null: over.
    std::vector<std::weak_ptr<redis_link>> links_;            ///< Their connections keep them.
    std::vector<node_vote> votes_;
    std::size_t open_ = 0;  ///< Nodes that haven't answered what is under way.
    bool marking_ = false;
};

std::shared_ptr<initializer> make_initializer(
    asio::any_io_executor executor,
    client_config config,
    diagnostics* report
)
{
    validate(config);
    for (const node_config& each : config.nodes)
    {
        if (core::may_fail_over(each))
        {
            throw std::invalid_argument(
                "redlock: node '" + each.name() +
                "' can't be initialized: a failover may happen behind it, so it may have lost "
                "locks; it votes after a quarantine"
            );
        }
    }
    return std::make_shared<initializer>(std::move(executor), std::move(config), report);
}

void start_initialize(handler_of<> handler, std::shared_ptr<initializer> what)
{
    what->start(std::move(handler));
}

}  // namespace redlock::detail
