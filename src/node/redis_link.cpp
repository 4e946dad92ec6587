#include "node/redis_link.hpp"

#include "core/one_line.hpp"
#include "node/batch.hpp"
#include "node/commands.hpp"
#include "node/redis_config.hpp"
#include "node/reply_reader.hpp"
#include "node/run_queue_channel.hpp"
#include "node/run_queue_timer.hpp"
#include "node/stream_settings.hpp"
#include "node/tls.hpp"
#include "node/vetting.hpp"
#include "scripts.hpp"

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/redis/connection.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redlock::detail {

namespace redis = boost::redis;

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// A connection that is not vetted by then is given up.
constexpr auto open_timeout = 2s;

/// A connection is looked at this often: an idle one is probed, and one that said nothing since the
/// last look is given up. So a silent node is noticed within little more than twice this time.
constexpr auto probe_interval = 1s;

/// A connection that seems silent has this long to show that it is not: if our own process stood
/// still, the replies are there and unread.
constexpr auto reading_time = 200ms;

/// How long a node remembers that an initialization has looked at it. The others have to be looked
/// at meanwhile.
constexpr milliseconds look_note_life = 10s;

/// Batches that are written and not answered. Boost.Redis walks through all of them at each write,
/// so a silent node must not gather more. Where many are under way at a time, a further one waits a
/// 64th of the way at most.
constexpr std::size_t max_batches_written = 64;

/// Batches kept for reuse. A few are in flight at a time.
constexpr std::size_t max_spare_batches = 8;

/** The link over one connection of Boost.Redis.

    That is a template of its executor, and each step of a read or a write copies one. With a
    type-erased executor a lone acquire-release pair takes a third more instructions.

    @tparam Executor That of the run queue, or `strand_type` if there is none.
*/
template <class Executor>
class redis_link_impl final : public redis_link,
                              public turn_task,
                              public std::enable_shared_from_this<redis_link_impl<Executor>>
{
public:
    redis_link_impl(
        Executor strand,
        std::shared_ptr<turn> end_of_turn,
        std::shared_ptr<command_encoder> encoder,
        link_group group,
        std::size_t index,
        const node_config& config
    )
        : index_(index),
          node_(config),
          group_(std::move(group)),
          encoder_(std::move(encoder)),
          turn_(std::move(end_of_turn)),
          tls_(make_tls_context(config)),
          connection_(
              strand,
              std::move(tls_.context),
              redis::logger(redis::logger::level::disabled)
          ),
          timer_(strand),
          config_(make_redis_config(config, open_timeout)),
          vetting_request_(make_vetting_request(config, group_.guarded.get()))
    {
        probe_request_.push("PING");
        set_server_name(connection_, config);
    }

    void start(link_events events) override
    {
        events_ = std::move(events);
        if (!tls_.failure.empty())
        {
            end_.refused = {reason::rejected, tls_.failure};
            asio::post(timer_.get_executor(), [self = this->shared_from_this()]() {
                self->finish({});
            });
            return;
        }
        connection_.async_run(config_, [self = this->shared_from_this()](error_code ec) {
            self->finish(ec);
        });
        look_after(open_timeout);
        vet();
    }

    void ask(question_ptr asked) override
    {
        asked->mark_sent(index_);
        open_batch().add(std::move(asked));
        ++unanswered_;
    }

    std::size_t unanswered() const noexcept override { return unanswered_; }

    void mark(std::function<void(const not_marked&)> done) override
    {
        send_initialize("mark", [done = std::move(done)](const texts& told) {
            done({told.all.empty() ? std::string() : told.all.front(), told.error});
        });
    }

    void close() noexcept override { connection_.cancel(redis::operation::run); }

private:
    /// A batch, and what its completion needs.
    struct sent_batch : batch
    {
        std::shared_ptr<redis_link_impl> link;  ///< While it is under way.
        steady_clock::time_point written;
    };

    /// One request of the vetting, and what to do with its replies. An error of the connection is
    /// told by the end of the run.
    template <class Next>
    void exchange(redis::request request, Next next)
    {
        vetting_request_ = std::move(request);
        told_ = {};
        const auto adapter = [this](auto event, const redis::resp3::node_view& part, auto&) {
            told_.read(event, part);
        };
        connection_.async_exec(
            vetting_request_,
            redis::any_adapter(redis::any_adapter::impl_t(adapter)),
            [self = this->shared_from_this(),
             next = std::move(next)](error_code ec, std::size_t) {
                if (!self->over_ && !ec)
                    next(self->told_);
            }
        );
    }

    void refuse(reason why, std::string text)
    {
        end_.refused = {why, core::on_one_line(std::move(text))};
        close();
    }

    void give_up(error_code why)
    {
        if (end_.refused.why == reason::none)
            end_.code = why;
        close();
    }

    void vet()
    {
        exchange(std::move(vetting_request_), [this](const texts& told) { on_vetted(told); });
    }

    void on_vetted(const texts& told)
    {
        send_without_delay(connection_, node_);
        if (!told.error.empty())
            return refuse(reason::rejected, without_login(told.error, node_));
        server_info server;
        for (const std::string& text : told.all)
            read_info(server, text);
        const refusal judgement = judge(server, node_);
        if (judgement.why != reason::none)
            return refuse(judgement.why, judgement.text);
        run_id_ = server.run_id;
        if (!recognize(server))
            return;

        if (!group_.guarded)
            return on_admitted({});
        if (!group_.look_note.empty())
            return look_for_marker();
        if (node_.durable && !node_.trust_durable)
            return ask_for_settings();
        admit(node_.durable);
    }

    /// Whether the server is one that may be behind this entry of the list.
    bool recognize(const server_info& server)
    {
        using finding = core::incarnations::finding;

        switch (group_.servers->meet(index_, server.run_id, server.uptime, steady_clock::now()))
        {
        case finding::fine: return true;
        case finding::same_server:
            refuse(
                reason::same_server,
                "it is the same server as entry " +
                    std::to_string(*group_.servers->other_entry(index_, server.run_id) + 1) +
                    " of the list of nodes"
            );
            break;
        case finding::other_server:
            refuse(reason::other_server, "several servers alternate behind this address");
            break;
        }
        return false;
    }

    void ask_for_settings()
    {
        exchange(make_settings_request(), [this](const texts& told) {
            admit(is_durable(told.all));
        });
    }

    void admit(bool durable)
    {
        const guard& guarded = *group_.guarded;
        redis::request request;
        request.push(
            "EVAL", admit_script.text, 2, guarded.marker_key, guarded.quarantine_key,
            guarded.fingerprint, run_id_, guarded.quarantine.count(), durable ? 1 : 0
        );
        exchange(std::move(request), [this](const texts& told) {
            const auto left =
                told.all.empty() ? std::nullopt : read_number(std::string_view(told.all.front()));
            if (!told.error.empty())
                return refuse(reason::rejected, told.error);
            if (!left)
                return refuse(reason::config_mismatch, mismatch(told));
            on_admitted({*left < 0 ? forever : milliseconds(*left), {}});
        });
    }

    std::string mismatch(const texts& told) const
    {
        // The run id behind the last semicolon tells nobody anything.
        const std::string found = told.all.empty() ? "marked '" : told.all.front();
        return "the node is " + found.substr(0, found.rfind(';')) + "', this client has '" +
               group_.guarded->fingerprint +
               "'; give all clients of the database the same settings, or stop them and delete "
               "the key '" +
               group_.guarded->marker_key + "'";
    }

    void look_for_marker()
    {
        send_initialize("look", [this](const texts& told) {
            if (!told.error.empty())
                return refuse(reason::rejected, told.error);
            on_admitted({{}, told.all.empty() ? std::string() : told.all.front()});
        });
    }

    template <class Next>
    void send_initialize(const char* what, Next next)
    {
        redis::request request;
        request.push(
            "EVAL", initialize_script.text, 2, group_.guarded->marker_key,
            group_.guarded->look_key, group_.guarded->fingerprint, run_id_, what,
            group_.look_note, look_note_life.count()
        );
        exchange(std::move(request), std::move(next));
    }

    void on_admitted(admission what)
    {
        heard_ = true;
        look_after(probe_interval);
        if (events_.on_ready)
            events_.on_ready(std::move(what));
    }

    void look_after(std::chrono::milliseconds delay)
    {
        timer_.expires_after(delay);  // Cancels the look that was planned before.
        timer_.async_wait([self = this->shared_from_this()](error_code ec) {
            if (!ec && !self->over_)
                self->look();
        });
    }

    /// Gives a silent connection up, and probes an idle one.
    void look()
    {
        if (!heard_ && !std::exchange(suspected_, true))
            return look_after(reading_time);
        if (!heard_)
            return give_up(asio::error::timed_out);
        suspected_ = false;
        heard_ = false;
        if (unanswered_ == 0)
            probe();
        look_after(probe_interval);
    }

    void probe()
    {
        const auto adapter = [this](auto event, const redis::resp3::node_view&, auto&) {
            heard_ |= event == redis::any_adapter::parse_event::done;
        };
        connection_.async_exec(
            probe_request_,
            redis::any_adapter(redis::any_adapter::impl_t(adapter)),
            [self = this->shared_from_this()](error_code ec, std::size_t) {
                if (!ec)
                    self->note_contact();
            }
        );
    }

    /// The batch of this turn, which will be written at its end.
    batch& open_batch()
    {
        if (!open_batch_)
            open_batch_ = take_batch();
        // Who owes answers gets its questions last: the others are likely to decide.
        if (batches_written_ > 0)
            turn_->defer_last(*this);
        else
            turn_->defer(*this);
        return *open_batch_;
    }

    /// Answers a question that was released before it was written: its command would come after its
    /// release.
    void withdraw(question& asked)
    {
        --unanswered_;
        reply nothing_done;
        nothing_done.vote = vote::refused;
        nothing_done.why = reason::error_reply;
        asked.on_reply(index_, nothing_done);
    }

    /// Writes the commands of this turn.
    void on_turn_end() override
    {
        if (over_)
            return fail_unwritten();
        // One by one, so that none is lost or asked twice if memory is short.
        for (; !to_ask_again_.empty(); to_ask_again_.pop_front())
        {
            const question_ptr& asked = to_ask_again_.front();
            if (asked->wanted())
                open_batch().add_whole(asked, *encoder_);
            else
                withdraw(*asked);
        }
        if (!open_batch_)
            return;
        // Also if it is not written yet: the order of verbs is right within a turn only.
        redis::request& request = open_batch_->put_together(*encoder_, [this](question& unwanted) {
            withdraw(unwanted);
        });
        if (open_batch_->empty() || batches_written_ == max_batches_written)
            return;

        auto sent = std::exchange(open_batch_, nullptr);
        // The batch outlives the adapter: Boost.Redis drops the adapter before it completes.
        const auto adapter = [this, to = sent.get()](
                                 auto event, const redis::resp3::node_view& part, auto&
                             ) { on_parse(*to, event, part); };
        sent->written = steady_clock::now();
        sent->link = this->shared_from_this();
        connection_.async_exec(
            request,
            redis::any_adapter(redis::any_adapter::impl_t(adapter)),
            asio::bind_allocator(
                recycling_allocator<void>(),
                // One pointer, for Boost.Redis moves this a dozen times.
                [sent = std::move(sent)](error_code ec, std::size_t) mutable {
                    const auto link = std::move(sent->link);
                    link->on_batch_done(ec, std::move(sent));
                }
            )
        );
        ++batches_written_;
    }

    /// Called while Boost.Redis parses: takes note, and leaves everything else to the turn's end.
    void on_parse(
        batch& to,
        redis::any_adapter::parse_event event,
        const redis::resp3::node_view& part
    )
    {
        heard_ |= event == redis::any_adapter::parse_event::done;
        to.read(
            event,
            part,
            [this](question_ptr asked, const command& put, const reply_shape& answer) {
                deliver(std::move(asked), put, answer);
            }
        );
    }

    void deliver(question_ptr asked, const command& put, const reply_shape& shape)
    {
        if (is_worth_another(put, shape) && asked->wanted())
        {
            to_ask_again_.push_back(std::move(asked));
            turn_->defer(*this);
            return;
        }
        --unanswered_;
        const reply answer = interpret(asked->what(), asked->stamp(), shape);
        if (answer.why == reason::unmarked)
            unmarked_ = true;
        if (answer.why == reason::quarantined)
            quarantined_for_ = answer.ready_in;
        asked->on_reply(index_, answer);
    }

    /// Does what answers of this batch call for, and what must not happen while they are parsed.
    void act_on_answers(steady_clock::time_point written)
    {
        const auto now = steady_clock::now();
        group_.servers->heard(index_, now);
        if (unmarked_)
        {
            return refuse(
                reason::unmarked,
                "the node has lost its data since it was admitted, and is vetted again"
            );
        }
        const auto quarantine = std::exchange(quarantined_for_, std::nullopt);
        if (quarantine && events_.on_quarantined)
            events_.on_quarantined(*quarantine);
        if (events_.on_answered)
            events_.on_answered(now - written);
    }

    void note_contact() { group_.servers->heard(index_, steady_clock::now()); }

    void on_batch_done(error_code ec, std::unique_ptr<sent_batch> done)
    {
        --batches_written_;
        const auto written = done->written;
        if (ec && !over_)
            give_up(ec);
        fail(*done);
        done->clear();
        if (spare_batches_.size() < max_spare_batches)
            spare_batches_.push_back(std::move(done));
        if (!over_ && !ec)
            act_on_answers(written);
        if (open_batch_)
            turn_->defer(*this);  // There is room for it now.
    }

    /// Fails what has no answer, which is nothing unless the connection broke.
    void fail(batch& unanswered)
    {
        while (const auto asked = unanswered.take_unanswered())
            fail(asked);
    }

    void fail(const question_ptr& asked)
    {
        --unanswered_;
        reply lost;
        lost.why = reason::connection_lost;
        lost.code = end_.code;
        asked->on_reply(index_, lost);
        if (asked->what() == verb::release && events_.on_lost_release)
            events_.on_lost_release(asked);
    }

    void fail_unwritten()
    {
        for (; !to_ask_again_.empty(); to_ask_again_.pop_front())
            fail(to_ask_again_.front());
        if (const auto unwritten = std::exchange(open_batch_, nullptr))
            fail(*unwritten);
    }

    std::unique_ptr<sent_batch> take_batch()
    {
        if (spare_batches_.empty())
            return std::make_unique<sent_batch>();
        auto taken = std::move(spare_batches_.back());
        spare_batches_.pop_back();
        return taken;
    }

    /// The run has ended. What is still queued must not wait for a connection that never comes.
    void finish(error_code ec)
    {
        over_ = true;
        if (!end_.code && end_.refused.why == reason::none)
            end_.code = ec;
        timer_.cancel();
        connection_.cancel(redis::operation::exec);
        if (auto on_end = std::exchange(events_.on_end, nullptr))
            on_end(end_);
        fail_unwritten();
    }

    std::size_t index_;
    node_config node_;
    link_group group_;
    std::shared_ptr<command_encoder> encoder_;
    std::shared_ptr<turn> turn_;
    tls_context tls_;
    redis::basic_connection<Executor> connection_;
    asio::steady_timer timer_;  ///< Of the next look.
    redis::config config_;
    redis::request vetting_request_;
    texts told_;          ///< The replies to it.
    std::string run_id_;  ///< Of the server.
    redis::request probe_request_;
    link_events events_;
    link_end end_;

    /// Of this turn; of earlier ones too, if the node owes too many answers.
    std::unique_ptr<sent_batch> open_batch_;
    std::vector<std::unique_ptr<sent_batch>> spare_batches_;
    std::deque<question_ptr> to_ask_again_;  ///< By themselves, with EVAL.
    std::size_t batches_written_ = 0;  ///< And not answered to the end.
    std::size_t unanswered_ = 0;
    bool heard_ = false;      ///< A reply, since the last look.
    bool suspected_ = false;  ///< Not heard at the last look.
    bool over_ = false;

    // What answers said, until their batch is done.
    bool unmarked_ = false;
    std::optional<milliseconds> quarantined_for_;
};

}  // namespace

link_group make_link_group(const client_config& config)
{
    link_group group;
    if (auto guarded = make_guard(config))
        group.guarded = std::make_shared<guard>(std::move(*guarded));
    group.single_keys = config.mode == mode::plain &&
                        std::ranges::any_of(config.nodes, &node_config::accept_cluster);
    group.servers = std::make_shared<core::incarnations>(config.nodes.size());
    return group;
}

std::shared_ptr<redis_link> make_redis_link(
    const strand_type& strand,
    std::shared_ptr<turn> end_of_turn,
    std::shared_ptr<command_encoder> encoder,
    link_group group,
    std::size_t index,
    const node_config& config
)
{
    const auto make = [&]<class Executor>(Executor executor) -> std::shared_ptr<redis_link> {
        return std::make_shared<redis_link_impl<Executor>>(
            std::move(executor),
            std::move(end_of_turn),
            std::move(encoder),
            std::move(group),
            index,
            config
        );
    };
    if (run_queue* queue = run_queue::of(strand))
        return make(queue->get_executor());
    return make(strand);
}

}  // namespace redlock::detail
