#include "node/sentinels.hpp"

#include "core/one_line.hpp"
#include "node/answer.hpp"
#include "node/vetting/vetting.hpp"
#include "wire/request.hpp"
#include "wire/resp_reader.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

namespace redlock::detail {

namespace {

/// What a Sentinel says about a master.
struct whereabouts
{
    std::string host;
    std::uint16_t port = 0;  ///< 0 if it doesn't know the master.
    std::optional<unsigned> replicas{};
};

/// How often the Sentinels are asked while all is well, because a notice of a change may get lost.
constexpr std::chrono::seconds ask_interval{10};

/// The least time that a Sentinel gets, however many there are. Sentinels that aren't reached
/// before a connection times out are asked for the next one.
constexpr milliseconds least_time{400};

template <class Number>
Number to_number(std::string_view text) noexcept
{
    Number value{};
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/** What is said on a connection to one Sentinel: a question, its answer, and then news.

    The connection keeps this while it is open, and this keeps the listener until it is answered.
*/
class conversation final : public connection::owner,
                           public std::enable_shared_from_this<conversation>
{
public:
    /// The object that asked. Called on the strand.
    class listener
    {
    public:
        virtual void on_told(whereabouts where) = 0;
        virtual void on_failed(error_code code, std::string why) = 0;

        /// The Sentinel says that the group has changed since `on_told`.
        virtual void on_changed() = 0;

    protected:
        ~listener() = default;
    };

    conversation(const ground& on, std::string master, const sentinel& with)
        : master_(std::move(master)), with_(with), limit_(on.time->make_alarm()), ground_(on)
    {
    }

    /// @param told Must live as long as `kept`, or call `leave`.
    /// @param most How long the answer may take.
    void start(listener& told, std::shared_ptr<connection::owner> kept, milliseconds most)
    {
        told_ = &told;
        kept_ = std::move(kept);
        auto context = with_.tls ? with_.tls->latest() : nullptr;
        if (context && !context->failure.empty())
        {
            why_ = context->failure;
            return enter_later(ground_.strand, [self = shared_from_this()]() {
                self->on_closed(asio::error::invalid_argument);
            });
        }
        wire_ = make_connection(ground_, std::move(context), with_.address, with_.names);
        limit_->set(ground_.time->now().steady + most, [self = shared_from_this()]() {
            self->give_up(asio::error::timed_out, {});
        });
        wire_->open(shared_from_this());
    }

    /// Stops calling the listener.
    void leave() noexcept
    {
        told_ = nullptr;
        close();
    }

    /// Ends it. If there was no answer, `on_failed` follows.
    void close() noexcept
    {
        if (wire_)
            wire_->close();
    }

private:
    void on_open() override
    {
        request made;
        const node_config& login = with_.address;
        if (!login.username.empty())
            made.push("AUTH", login.username, login.password);
        else if (!login.password.empty())
            made.push("AUTH", login.password);
        logins_ = made.size();
        made.push("SENTINEL", "GET-MASTER-ADDR-BY-NAME", master_);
        made.push("SENTINEL", "MASTER", master_);
        made.push("SUBSCRIBE", "+switch-master");
        made.push("SUBSCRIBE", "+slave");
        wire_->write(made.payload());
    }

    std::size_t on_input(std::string_view input) override
    {
        std::string_view rest = input;
        while (!given_up_)
        {
            const auto part = reader_.next(rest);
            if (!part)
                break;
            reply_.read(*part);
            if (part->last)
                on_reply(std::exchange(reply_, {}));
        }
        if (reader_.error())
            give_up(reader_.error(), {});
        return input.size() - rest.size();
    }

    void on_closed(error_code why) override
    {
        limit_->cancel();
        const auto kept = std::exchange(kept_, nullptr);
        if (kept && told_)
            told_->on_failed(code_ ? code_ : why, std::move(why_));
    }

    void give_up(error_code code, std::string why)
    {
        if (std::exchange(given_up_, true))
            return;
        code_ = code;
        why_ = std::move(why);
        close();
    }

    /// Takes a reply or a published message: with RESP2 both look alike.
    void on_reply(const texts& reply)
    {
        if (replies_ > logins_ + 1)
            return on_news(reply);
        const std::size_t which = replies_++;
        if (which < logins_)
        {
            if (!reply.error.empty())
                give_up(asio::error::access_denied, shown(reply.error));
        }
        else if (which == logins_)
            on_address(reply);
        else
            on_description(reply);
    }

    [[nodiscard]] std::string shown(const std::string& error) const
    {
        return core::on_one_line(without_login(error, with_.address));
    }

    void on_address(const texts& reply)
    {
        if (!reply.error.empty())
            return give_up(asio::error::access_denied, shown(reply.error));
        if (reply.all.size() != 2)
            return give_up(asio::error::not_found, "it knows no master named '" + master_ + "'");
        where_.host = reply.all[0];
        where_.port = to_number<std::uint16_t>(reply.all[1]);
    }

    /// The reply has names and values. Empty values are left out of it.
    void on_description(const texts& reply)
    {
        const auto name = std::ranges::find(reply.all, "num-slaves");
        if (name != reply.all.end() && name + 1 != reply.all.end())
            where_.replicas = to_number<unsigned>(name[1]);
        else if (!reply.error.empty())
            return give_up(asio::error::access_denied, shown(reply.error));
        limit_->cancel();
        const auto kept = std::exchange(kept_, nullptr);
        if (told_)
            told_->on_told(std::move(where_));
    }

    void on_news(const texts& told)
    {
        if (told.all.size() != 3 || told.all[0] != "message" || !told_)
            return;
        const std::string& what = told.all[2];
        const bool switched = told.all[1] == "+switch-master" && what.starts_with(master_ + " ");
        const bool grown =
            told.all[1] == "+slave" && what.find(" @ " + master_ + " ") != std::string::npos;
        if (switched || grown)
            told_->on_changed();
    }

    std::string master_;
    sentinel with_;
    std::unique_ptr<alarm> limit_;
    ground ground_;
    listener* told_ = nullptr;                 ///< Null: it has left.
    std::shared_ptr<connection::owner> kept_;  ///< Keeps `told_`. Null: it was answered.
    std::unique_ptr<connection> wire_;

    resp::reader reader_;
    texts reply_;
    std::size_t logins_ = 0;   ///< Replies to the login.
    std::size_t replies_ = 0;  ///< Replies that have come.
    whereabouts where_;
    bool given_up_ = false;
    error_code code_;
    std::string why_;
};

/// Asks for the master, and from then on is the connection to it.
class master_connection final : public connection, private conversation::listener
{
public:
    master_connection(
        const ground& on,
        std::shared_ptr<tls_context> tls,
        const node_config& entry,
        std::shared_ptr<sentinel_group> by
    )
        : ground_(on),
          tls_(std::move(tls)),
          config_(entry),
          by_(std::move(by)),
          again_(on.time->make_alarm()),
          next_(by_->first),
          left_(by_->all.size())
    {
    }

    master_connection(const master_connection&) = delete;
    master_connection& operator=(const master_connection&) = delete;

    ~master_connection() override
    {
        if (const auto talk = talk_.lock())
            talk->leave();
    }

    void open(const std::shared_ptr<owner>& of) override
    {
        owner_ = of;
        ask_next();
    }

    void write(std::string_view bytes) override { wire_->write(bytes); }

    [[nodiscard]] std::string objection() const override
    {
        if (!objection_.empty() || !wire_)
            return objection_;
        const std::string certificate = wire_->objection();
        const std::string told = "a Sentinel says that the master is at " + by_->address;
        return certificate.empty() ? told : told + ": " + certificate;
    }

    [[nodiscard]] bool may_lead_elsewhere() const override { return by_->may_lead_elsewhere(); }

    void close() noexcept override
    {
        closed_ = true;
        again_->cancel();
        const auto talk = talk_.lock();
        if (wire_)
            wire_->close();
        if (talk && wire_)
            talk->leave();
        else if (talk)
            talk->close();
    }

private:
    void ask_next()
    {
        if (const auto before = talk_.lock())
            before->leave();
        const auto talk = std::make_shared<conversation>(ground_, by_->master, by_->all[next_]);
        talk_ = talk;
        if (!wire_)
            by_->asked = std::min(by_->asked + 1, by_->all.size());
        // Leave the last part of the time for the connection to the master.
        const milliseconds share = open_timeout / static_cast<int>(by_->all.size() + 1);
        talk->start(*this, owner_.lock(), std::max(share, least_time));
    }

    void ask_again_later()
    {
        again_->set(ground_.time->now().steady + ask_interval, [this, of = owner_]() {
            const auto kept = of.lock();
            if (kept && !closed_)
                ask_next();
        });
    }

    void on_told(whereabouts where) override
    {
        const auto kept = owner_.lock();
        if (closed_ && !wire_)
            return kept->on_closed(asio::error::operation_aborted);
        config_.host = std::move(where.host);
        config_.port = where.port;
        const std::string address = config_.host + ":" + std::to_string(config_.port);
        if (wire_)
        {
            if (closed_)
                return;
            ask_again_later();
            if (by_->address != address || by_->replicas != where.replicas)
                on_changed();
            return;
        }
        by_->told_by = next_;
        by_->first = (next_ + 1) % by_->all.size();
        by_->replicas = where.replicas;
        if (!by_->names || by_->address != address)
            by_->names = std::make_shared<name_lookup>(config_);
        by_->address = address;
        wire_ = make_connection(ground_, tls_, config_, by_->names);
        wire_->open(kept);
        ask_again_later();
    }

    void on_failed(error_code code, std::string why) override
    {
        if (wire_)
        {
            next_ = (next_ + 1) % by_->all.size();
            if (!closed_)
                ask_again_later();
            return;
        }
        const std::string name = by_->all[next_].address.name();
        failures_ += (failures_.empty() ? "" : "; ") + name + ": " +
                     (why.empty() ? code.message() : std::move(why));
        answered_ = answered_ || code == asio::error::not_found;
        next_ = (next_ + 1) % by_->all.size();
        by_->first = next_;
        if (closed_ || --left_ == 0)
            return end(code);
        ask_next();
    }

    void end(error_code code)
    {
        const std::string master = "'" + by_->master + "'";
        objection_ = (answered_ ? "no Sentinel knows a master named " + master
                                : "no Sentinel of " + master + " is reachable") +
                     " (" + failures_ + ")";
        if (const auto told = owner_.lock())
            told->on_closed(closed_ ? error_code(asio::error::operation_aborted) : code);
    }

    void on_changed() override
    {
        if (closed_ || !wire_)
            return;
        objection_ = "a Sentinel says that the group of '" + by_->master + "' has changed";
        wire_->close();
    }

    ground ground_;
    std::shared_ptr<tls_context> tls_;
    node_config config_;
    std::shared_ptr<sentinel_group> by_;
    std::weak_ptr<owner> owner_;
    std::weak_ptr<conversation> talk_;  ///< Its connection keeps it.
    std::unique_ptr<alarm> again_;      ///< Asks the Sentinels again.
    std::size_t next_;                  ///< The Sentinel that is being asked.
    std::size_t left_;                  ///< Sentinels that are being asked or still to be asked.
    std::unique_ptr<connection> wire_;  ///< To the master. Null while it isn't known.
    std::string failures_;
    std::string objection_;
    bool answered_ = false;  ///< A Sentinel has, but doesn't know the master.
    bool closed_ = false;
};

}  // namespace

std::shared_ptr<sentinel_group> make_sentinel_group(const node_config& entry)
{
    if (!entry.sentinel)
        return nullptr;
    std::vector<node_config> addresses;
    for (const auto& [host, port] : entry.sentinel->addresses)
    {
        node_config& each = addresses.emplace_back();
        each.host = host;
        each.port = port;
        each.username = entry.sentinel->username;
        each.password = entry.sentinel->password;
        each.tls = entry.sentinel->tls;
    }
    auto made = std::make_shared<sentinel_group>();
    made->master = entry.sentinel->master;
    const auto sources = make_tls_sources(addresses);
    for (std::size_t index = 0; index < addresses.size(); ++index)
    {
        const node_config& each = addresses[index];
        made->all.push_back({each, sources[index], std::make_shared<name_lookup>(each)});
    }
    return made;
}

std::unique_ptr<connection> make_master_connection(
    const ground& on,
    std::shared_ptr<tls_context> tls,
    const node_config& entry,
    std::shared_ptr<sentinel_group> by
)
{
    return std::make_unique<master_connection>(on, std::move(tls), entry, std::move(by));
}

}  // namespace redlock::detail
