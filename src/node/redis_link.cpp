#include "node/redis_link.hpp"

#include "core/one_line.hpp"
#include "core/overlap.hpp"
#include "core/recent_minimum.hpp"
#include "core/silence.hpp"
#include "loop/awaited_value.hpp"
#include "node/guard.hpp"
#include "node/pipeline.hpp"
#include "node/refused_verbs.hpp"
#include "wire/request.hpp"
#include "wire/resp_reader.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/error.hpp>
#include <boost/assert.hpp>

#include <algorithm>
#include <bitset>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <deque>
#include <exception>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace redlock::detail {

namespace {

using namespace std::chrono_literals;

/// A connection is checked this often: an idle one is probed, and one that said nothing since the
/// last check is given up. So a silent node is noticed within little more than twice this time.
constexpr auto probe_interval = 1s;

/// The shortest answer counts for one to two of these. Within that time an idle node is probed, and
/// some of a busy node's many answers are quick. Only if none is, load counts as distance.
constexpr auto distance_epoch = 1min;

/// A connection that seems silent has this long to show that it isn't: if our own process stood
/// still, the replies are there but unread.
constexpr auto reading_time = 200ms;

/// Questions of a lost connection that fail in one handler, a millisecond's work.
constexpr std::size_t most_failed_at_once = 2048;

/// What was written and isn't fully answered: a step of the vetting, a batch or a probe.
struct expected
{
    std::size_t replies;
    time_point written;
    vetting::step next;  ///< Null for a batch.
};

/// What `node_config::ask_credentials` has answered.
struct given_credentials
{
    error_code failure;
    credentials login;
};

/** The link over one connection.

    Writes and expected replies are kept in the same order. A reply belongs to the first one that is
    expected. A push belongs to none, except one that confirms a subscription.

    The connection owns this while it is open, and the alarm while it is set.
*/
class redis_link_impl final : public redis_link,
                              public deferred,
                              private connection::owner,
                              private vetting::link,
                              public std::enable_shared_from_this<redis_link_impl>
{
public:
    redis_link_impl(
        const ground& on,
        const link_group& group,
        std::size_t index,
        const node_config& config
    )
        : index_(index),
          config_(config),
          ground_(on),
          servers_(group.servers),
          next_look_(on.time->make_alarm()),
          vetting_(*this, group, index, config),
          questions_(index, group.encoder)
    {
    }

    redis_link_impl(const redis_link_impl&) = delete;
    redis_link_impl& operator=(const redis_link_impl&) = delete;

    ~redis_link_impl()
    {
        if (login_)
            login_->leave();
    }

    /// Connects by `wire`.
    void use(std::unique_ptr<connection> wire) { wire_ = std::move(wire); }

    /// Connects by a socket. If the files that TLS needs are unusable, the link ends instead.
    /// @param tls Null without TLS.
    /// @param make Makes the connection, with a context.
    template <class Make>
    void use_socket(tls_source* tls, Make make)
    {
        auto context = tls ? tls->latest() : nullptr;
        if (context && !context->failure.empty())
        {
            end_.refused = {reason::rejected, context->failure};
            return;
        }
        wire_ = make(std::move(context));
    }

    void start(std::shared_ptr<redis_link::owner> of) override
    {
        owner_ = std::move(of);
        if (!wire_)
            return enter_later(ground_.strand, [self = shared_from_this()]() {
                self->on_closed({});
            });
        look_after(open_timeout);
        wire_->open({shared_from_this(), static_cast<connection::owner*>(this)});
    }

    void ask(question_ptr asked) override
    {
        BOOST_ASSERT(!over_);
        questions_.add(std::move(asked));
        if (questions_.is_full())
            return on_turn_end();
        // A node that owes answers gets its questions last, because the others likely decide.
        if (questions_.owed())
            ground_.end_of_turn->defer_last(*this);
        else
            ground_.end_of_turn->defer_write(*this);
    }

    core::nanoseconds shortest_round_trip() const noexcept override { return shortest_.value(); }
    std::size_t unanswered() const noexcept override { return questions_.unanswered(); }
    std::size_t unanswered_releases() const noexcept override
    {
        return questions_.unanswered_releases();
    }

    void mark() override { vetting_.mark(); }

    void close() noexcept override
    {
        closing_ = true;
        if (wire_)
            wire_->close();
    }

private:
    // connection::owner

    void on_open() override
    {
        if (config_.ask_credentials)
            ask_credentials();
        else
            vetting_.begin();
    }

    std::size_t on_input(std::string_view input) override
    {
        std::string_view rest = input;
        while (!closing_)
        {
            const auto part = reader_.next(rest);
            if (!part)
                break;
            take(*part);
        }
        if (reader_.error())
            give_up(reader_.error());
        // There may be room now, or a question to ask again.
        if (questions_.has_more())
            ground_.end_of_turn->defer_write(*this);
        return input.size() - rest.size();
    }

    void on_closed(error_code why) override
    {
        if (over_)
            return;
        over_ = closing_ = true;
        vetting_.end();
        if (!end_.code && end_.refused.why == reason::none)
            end_.code = why;
        explain();
        next_look_->cancel();
        const bool elsewhere = wire_ && wire_->may_lead_elsewhere();
        owner_->on_end({end_.code, std::move(end_.refused), std::move(end_.guess), elsewhere});
        fail_questions();
    }

    /// Fails what wasn't answered, and reports which releases were lost. A node that was silent may
    /// owe more answers than one handler has time for.
    void fail_questions()
    {
        const bool more = questions_.fail_some(end_.code, most_failed_at_once);
        for (auto& lost : questions_.take_lost_releases())
            owner_->on_lost_release(std::move(lost));
        if (!more)
            return owner_->on_gone();
        enter_later(ground_.strand, [self = shared_from_this()]() {
            self->ground_.end_of_turn->work([&self]() { self->fail_questions(); });
        });
    }

    /// Explains the end beyond the network's error, if more is known.
    void explain()
    {
        take_last_words();
        const std::string objection = wire_ ? wire_->objection() : "";
        if (!objection.empty())
            end_.guess = ": " + objection;
        else if (login_ && end_.code == asio::error::timed_out)
            end_.guess = "; ask_credentials provided none in time";
        else if (!replied_ && end_.code)
            end_.guess = guess_about_tls(config_, end_.code);
    }

    /// A server that is full or protected says so instead of all other replies, and hangs up.
    void take_last_words()
    {
        if (vetting_.introduced() || told_.error.empty() || end_.refused.why != reason::none)
            return;
        end_.refused.text = core::on_one_line(vetting_.shown(told_.error));
        end_.refused.why = reason::rejected;
        end_.code = {};
    }

    /// The answer may come from any thread, at any time or never. Until then nothing is sent, and
    /// the time limit for connecting keeps running.
    void ask_credentials()
    {
        login_ = std::make_shared<awaited_value<given_credentials>>();
        login_->wait([strand = ground_.strand, link = weak_from_this()]() {
            enter_later(strand, [link]() {
                if (const auto self = link.lock())
                    self->on_credentials();
            });
        });
        try
        {
            config_.ask_credentials([to = login_](error_code failure, credentials login) {
                to->bring({failure, std::move(login)});
            });
        }
        catch (const std::exception& failure)
        {
            refuse({reason::rejected, std::string("ask_credentials failed: ") + failure.what()});
        }
    }

    void on_credentials()
    {
        ground_.end_of_turn->work([this]() { use_credentials(); });
    }

    void use_credentials()
    {
        auto given = login_->take();
        if (closing_ || !given)
            return;
        login_ = nullptr;
        if (given->failure)
            return refuse({reason::rejected, "ask_credentials failed: " + given->failure.message()}
            );
        vetting_.use(std::move(given->login));
        vetting_.begin();
    }

    // vetting::link

    void exchange(const request& what, vetting::step next) override
    {
        expected_.push_back({what.size(), now(), next});
        wire_->write(what.payload());
    }

    void on_waiting() override
    {
        silence_.on_heard();
        look_after(probe_interval);
    }

    void on_marked(milliseconds quarantine) override
    {
        questions_.address_to(vetting_.marker_end());
        owner_->on_quarantined(quarantine);
    }
    void on_mark_answered(not_marked why) override { owner_->on_mark_answered(std::move(why)); }

    void on_admitted(admission what) override
    {
        admitted_ = true;
        questions_.address_to(vetting_.marker_end());
        silence_.on_heard();
        look_after(probe_interval);
        owner_->on_ready(std::move(what));
    }

    void refuse(refusal why) override
    {
        why.text = core::on_one_line(std::move(why.text));
        end_.refused = std::move(why);
        close();
    }

    time_point now() const noexcept override { return ground_.time->now().steady; }

    // deferred

    /// Writes the questions of this turn.
    void on_turn_end() override
    {
        if (over_)
            return;  // They fail.
        const request* const made = questions_.take_batch();
        if (!made)
            return;
        expected_.push_back({made->size(), now(), nullptr});
        wire_->write(made->payload());
    }

    void take(const resp::part& part)
    {
        if (part.pushed)
            return take_push(part);
        if (expected_.empty())
        {
            if (login_)  // A server that hangs up gives the reason once the connection is open.
                told_.read(part);
            return give_up(resp::error::unasked);
        }
        if (expected_.front().next)
            told_.read(part);
        else
            questions_.read(part);
        if (!part.last)
            return;
        replied_ = true;
        if (admitted_)
            silence_.on_heard();
        on_reply();
    }

    /// One more reply has come for what is expected first.
    void on_reply()
    {
        if (--expected_.front().replies == 0)
            on_answered();
    }

    /// Handles what no command asked for. One exception: a push confirms a subscription.
    void take_push(const resp::part& part)
    {
        pushed_.read(part);
        if (!part.last)
            return;
        const texts told = std::exchange(pushed_, {});
        const std::string_view kind = told.all.empty() ? std::string_view() : told.all.front();
        if (kind == "subscribe" && !expected_.empty() && expected_.front().next)
            on_reply();
        if (kind == "message" && told.all.size() == 3)
            take_message(told.all[1], told.all[2]);
        if (kind != "invalidate")
            return;
        for (std::size_t i = 1; i < told.all.size(); ++i)
            owner_->on_news({news::kind::changed, told.all[i]});
    }

    void take_message(std::string_view channel, std::string_view text)
    {
        const bool next = channel.ends_with(next_channel_suffix);
        const bool revoked = channel.ends_with(revoked_channel_suffix);
        if (!next && !revoked)
            return owner_->on_news({news::kind::free, text});
        std::uint64_t number = 0;
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
        const auto size = static_cast<std::size_t>(end - text.data());
        if (problem != std::errc() || size >= text.size() || text[size] != ' ')
            return;
        const auto what = next ? news::kind::next : news::kind::revoked;
        owner_->on_news({what, text.substr(size + 1), number});
    }

    /// All replies to what is expected first are there.
    void on_answered()
    {
        const expected done = expected_.front();
        expected_.pop_front();
        const time_point answered = now();
        const core::nanoseconds took = answered - done.written;
        shortest_.add(took, answered);
        if (admitted_)
            servers_->heard(index_, answered);
        if (done.next)
            return (vetting_.*done.next)(std::exchange(told_, {}));
        on_batch_answered(took);
    }

    void on_batch_answered(core::nanoseconds took)
    {
        const auto found = questions_.take_findings();
        const auto answered = questions_.take_answered();
        if (found)
        {
            if (const refusal why = reason_to_leave(*found))
                return refuse(why);
            if (found->quarantined_for)
                owner_->on_quarantined(*found->quarantined_for);
            for (const auto& [what, words] : found->errors)
                refused_.on_error(what, words, now());
        }
        if (refused_.any())
            note_answered(answered);
        owner_->on_answered(took);
    }

    [[nodiscard]] refusal reason_to_leave(const findings& found) const
    {
        if (found.unmarked)
            return {reason::unmarked, data_replaced};
        if (found.not_a_master)
            return found.not_a_master;
        // It may be the old master: a new connection finds the one there is now.
        return core::may_fail_over(config_) ? found.too_few_replicas : refusal();
    }

    /// Verbs that are no longer refused.
    void note_answered(std::bitset<verb_count> answered)
    {
        for (std::size_t what = 0; what < verb_count; ++what)
        {
            if (answered.test(what))
                refused_.on_answer(static_cast<verb>(what), now());
        }
        if (auto change = refused_.take_change())
            owner_->on_refused(core::on_one_line(std::move(*change)));
    }

    void give_up(error_code why)
    {
        if (!end_.code && end_.refused.why == reason::none)
            end_.code = why;
        close();
    }

    void look_after(core::nanoseconds delay)
    {
        next_look_->set(now() + delay, [self = shared_from_this()]() { self->look(); });
    }

    /// Gives up a silent connection, and probes an idle one.
    void look()
    {
        if (closing_)
            return;
        switch (silence_.look())
        {
        case core::silence::finding::lost: return give_up(asio::error::timed_out);
        case core::silence::finding::suspected: return look_after(reading_time);
        case core::silence::finding::none: break;
        }
        look_after(probe_interval);
        if (unanswered() == 0 || (admitted_ && vetting_.derives_overlap()))
            vetting_.look_again();
    }

    std::size_t index_;
    node_config config_;
    ground ground_;
    std::shared_ptr<core::incarnations> servers_;
    std::unique_ptr<connection> wire_;  ///< Null: the link ends at once.
    std::unique_ptr<alarm> next_look_;
    std::shared_ptr<awaited_value<given_credentials>> login_;  ///< While it is awaited.
    std::shared_ptr<redis_link::owner> owner_;
    link_end end_;

    resp::reader reader_;
    std::deque<expected> expected_;
    vetting vetting_;
    texts told_;  ///< For the current step of the vetting.
    texts pushed_;
    pipeline questions_;
    refused_verbs refused_;
    core::silence silence_;
    core::recent_minimum shortest_{distance_epoch};
    bool replied_ = false;  ///< The server has, at least once.
    bool admitted_ = false;
    bool closing_ = false;
    bool over_ = false;
};

}  // namespace

std::shared_ptr<redis_link> make_redis_link(
    const ground& on,
    const link_group& group,
    std::size_t index,
    const node_config& config,
    link_route by
)
{
    auto link = std::make_shared<redis_link_impl>(on, group, index, config);
    tls_source* const tls = group.tls[index].get();
    if (const auto* const names = std::get_if<std::shared_ptr<name_lookup>>(&by))
        link->use_socket(tls, [&](std::shared_ptr<tls_context> context) {
            return make_connection(on, std::move(context), config, *names);
        });
    else if (const auto* const sentinels = std::get_if<std::shared_ptr<sentinel_group>>(&by))
        link->use_socket(tls, [&](std::shared_ptr<tls_context> context) {
            return make_master_connection(on, std::move(context), config, *sentinels);
        });
    else
        link->use(std::get<std::unique_ptr<connection>>(std::move(by)));
    return link;
}

}  // namespace redlock::detail
